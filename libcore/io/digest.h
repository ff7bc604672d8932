// XXH3-64, the checksum of every format and message of the toolkit.

#ifndef DL_LIBCORE_IO_DIGEST_H_
#define DL_LIBCORE_IO_DIGEST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace dl::io {

std::uint64_t digest(std::span<const std::byte> bytes);

// The digest of a sequence of pieces: equal to digest() of them joined.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  void add(std::span<const std::byte> bytes);
  // The text and the 0 behind it.
  void add_text(const std::string& text);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_DIGEST_H_
