// A file seen as memory, for large inputs that are looked at where they lie.
//
// The file must not be cut or overwritten in place while it is mapped; one that
// is replaced by renaming, as this toolkit's writers do, stays as it was.

#ifndef DL_LIBCORE_IO_MAPPING_H_
#define DL_LIBCORE_IO_MAPPING_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace dl::io {

// Read-only; unmapped with the last owner.
class Mapping {
 public:
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// Maps what the source spec (io/source.h) names, if that is a regular file with
// something in it; else null, and open_source() finds out why.
std::shared_ptr<const Mapping> map_file(std::string_view spec);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_MAPPING_H_
