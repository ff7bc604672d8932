// A file seen as memory, for large inputs that are looked at where they lie.
//
// One that is replaced by renaming, as this toolkit's writers do, stays as it
// was.  One that is overwritten in place changes under its reader, who calls
// require_unchanged() once it is done; one that is cut ends the process with
// status 74 and a message.  A copy is safe from both.

#ifndef DL_LIBCORE_IO_MAPPING_H_
#define DL_LIBCORE_IO_MAPPING_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace dl::io {

class MappedFile;

// Read-only; unmapped with the last owner.
class Mapping {
 public:
  // Takes the memory over.
  explicit Mapping(std::span<const std::byte> bytes,
                   std::shared_ptr<const MappedFile> file = {});
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

  // Throws Error: kIo, the file was written to since it was mapped.
  void require_unchanged() const;

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const MappedFile> file_;  // or null: memory of no file
};

// Maps what the source spec (io/source.h) names, if that is a regular file with
// something in it; else null, and open_source() finds out why.
std::shared_ptr<const Mapping> map_file(std::string_view spec);

// The same in memory of the process's own: nothing that is done to the file
// changes it.  Throws Error: kIo, it was written to while it was read.
std::shared_ptr<const Mapping> copy_file(std::string_view spec);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_MAPPING_H_
