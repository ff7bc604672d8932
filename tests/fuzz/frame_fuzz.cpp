// zstd frames, end marks and packed raw files of any bytes.

#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/base/error.h"
#include "libcore/data/format/end_mark.h"
#include "libcore/io/decompress.h"
#include "libcore/io/memory.h"
#include "libcore/io/zstd.h"

namespace {

template <typename F>
void try_it(F&& f) {
  try {
    f();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  constexpr std::uint64_t kLimit = 1 << 20;
  const auto bytes = std::as_bytes(std::span(data, size));
  try_it([&] {
    dl::io::FrameReader reader(dl::io::memory_source(bytes), kLimit);
    for (dl::io::Frame frame; reader.next(frame);)
      if (frame.content.size() > kLimit) __builtin_trap();
  });
  try_it([&] { dl::io::decompress_frame(bytes, kLimit); });
  try_it([&] {
    std::uint64_t digest = 0;
    const dl::data::EndMark mark = dl::data::decode_mark(bytes, digest);
    if (dl::data::encode_mark(mark).size() != bytes.size()) __builtin_trap();
  });
  try_it([&] {
    const auto in = dl::io::decompress(dl::io::memory_source(bytes));
    dl::io::read_all(*in, kLimit);
  });
  return 0;
}
