// A DataSet stream of any bytes: read to its end, or refused with kData.

#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/base/error.h"
#include "libcore/data/format/stream.h"
#include "libcore/io/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    dl::data::StreamReader in(dl::io::memory_source(bytes),
                              dl::data::Form::kStored, 1 << 22);
    for (dl::data::DataSet set; in.read(set);) {
    }
    in.close();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) __builtin_trap();
  }
  return 0;
}
