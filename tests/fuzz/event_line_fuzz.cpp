// Lines of a history: those that nlohmann's parser takes, with equal values.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcore/base/json.h"
#include "libcore/plot/event_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes,
                                      std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  dl::plot::EventLine line;
  const bool taken = line.parse(text);
  const dl::Json json = dl::Json::parse(text, nullptr, false);
  // A byte order mark, and deep nesting, are for documents alone.
  if (taken && json.is_discarded()) std::abort();
  if (taken && json.is_object())
    for (const auto& [key, value] : json.items())
      if (line.root()[key].json() != value ||
          (value.is_number() &&
           line.root()[key].number() != value.get<double>()))
        std::abort();
  return 0;
}
