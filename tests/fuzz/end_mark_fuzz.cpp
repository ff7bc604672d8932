// End marks: the bytes are a mark without its magic, length, digest and tail,
// which a fuzzer would never get right, and are added here.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/data/format/end_mark.h"
#include "libcore/io/digest.h"

namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& out, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto body = std::as_bytes(std::span(data, size));
  Bytes frame;
  put(frame, dl::data::kMarkMagic);
  put(frame, static_cast<std::uint32_t>(size + 24));
  frame.insert(frame.end(), body.begin(), body.end());
  put(frame, dl::io::digest(frame));
  put(frame, std::uint64_t{size + 32});
  const auto tail = std::as_bytes(std::span("DLS-END\n", 8));
  frame.insert(frame.end(), tail.begin(), tail.end());
  try {
    std::uint64_t digest = 0;
    const dl::data::EndMark mark = dl::data::decode_mark(frame, digest);
    // A mark that was decoded must survive being written and read again.
    if (!(dl::data::decode_mark(dl::data::encode_mark(mark), digest) == mark))
      std::abort();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) std::abort();
  }
  return 0;
}
