// The file behind a mapping: whether it is as it was, and its name for who
// reads where there is nothing any more.

#ifndef DL_LIBCORE_IO_MAPPED_FILE_H_
#define DL_LIBCORE_IO_MAPPED_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "libcore/io/file_stamp.h"

namespace dl::io {

class MappedFile {
 public:
  // Opens a file for reading; it is not ok() if that is no regular file with
  // something in it.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool ok() const { return file_ >= 0 && before_.size > 0; }
  int descriptor() const { return file_; }
  std::size_t size() const { return static_cast<std::size_t>(before_.size); }

  // Throws Error: kIo, it was written to since it was opened.
  void require_unchanged() const;

  // A read in this memory that the file has not (SIGBUS) ends the process with
  // its name.  Thread-safe.
  void watch(std::span<const std::byte> memory);

 private:
  std::string path_;
  int file_;
  FileStamp before_;
  int watched_ = -1;  // its place in the list
};

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_MAPPED_FILE_H_
