// Tar archives: records in bounded memory, or refused with kData.

#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/io/memory.h"
#include "libcore/vectorize/source/record_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace dl::vectorize;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)is_tar(bytes);
  try {
    const auto source = open_tar(dl::io::memory_source(bytes), {});
    std::size_t all = 0;
    for (Record record; source->next(record);) {
      if (!record.file.empty()) std::abort();  // nothing on the disk is meant
      if (record.problem.empty()) all += record.at("bytes").size();
    }
    if (all > size) std::abort();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) std::abort();
  }
  return 0;
}
