// gzip and zstd in front of raw files: unpacked a piece at a time, so that
// memory does not follow from what the input says; or refused with kData.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/io/decompress.h"
#include "libcore/io/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  constexpr std::size_t kEnough = std::size_t{1} << 24;
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> piece(1 << 14);
  try {
    const auto source = dl::io::decompress(dl::io::memory_source(bytes));
    std::size_t all = 0;
    while (const std::size_t n = source->read(piece)) {
      if (n > piece.size()) std::abort();
      if ((all += n) > kEnough) return 0;
    }
    source->close();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) std::abort();
  }
  return 0;
}
