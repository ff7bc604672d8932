// Stamp of a file, by which writes to it while it is open are noticed.

#ifndef DL_LIBCORE_IO_FILE_STAMP_H_
#define DL_LIBCORE_IO_FILE_STAMP_H_

#include <sys/stat.h>

#include <cstdint>

namespace dl::io {

// Its size and the time of the last write.
struct FileStamp {
  std::int64_t size = -1, seconds = 0, nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

inline FileStamp stamp_of(const struct stat& info) {
  return {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

// The stamp of an open file; one of size -1 if the system does not tell.
inline FileStamp stamp_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 ? stamp_of(info) : FileStamp{};
}

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_FILE_STAMP_H_
