// The heads of coded messages: numbers of fixed size, and of seven bits a byte.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_HEADS_H_
#define DL_LIBCORE_EXCHANGE_CODEC_HEADS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace dl::exchange {

static_assert(std::endian::native == std::endian::little);

[[noreturn]] inline void damaged(const std::string& what) {
  throw Error{Code::kProtocol, "damaged update: " + what};
}

template <typename T>
void append(std::vector<std::byte>& out, const T& value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

// Seven bits a byte, the lowest first; the top bit says that more follow.
inline void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<std::byte>(value | 128));
  out.push_back(static_cast<std::byte>(value));
}

// Throws kProtocol where the bytes end too early.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto byte = get<std::uint8_t>();
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) {
        if (byte == 0 && shift > 0) damaged("a number that is too long");
        return value;
      }
    }
    damaged("a number that is too long");
  }
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (bytes > rest_.size()) damaged("cut short");
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_HEADS_H_
