// A history's fold (history_fold.h), made beside the program and put in the
// place of the file.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_FOLDED_FILE_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_FOLDED_FILE_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "libcore/io/sink.h"

namespace dl::cluster {

class FoldedFile {
 public:
  // Begins to fold the first `size` bytes of the file, which end with a line.
  // Throws Error: kCantCreate.
  FoldedFile(const std::string& path, std::int64_t size);
  ~FoldedFile();  // what was not put in place is removed
  FoldedFile(const FoldedFile&) = delete;
  FoldedFile& operator=(const FoldedFile&) = delete;

  // Whether replace() has nothing to wait for.
  bool ready() const { return ready_; }

  // Adds what was appended to the file since, and renames: a reader sees the
  // one or the other.  file: descriptor of the present file.  Returns the size.
  // Throws Error: kData, the history breaks a rule ("line 12: ..."); kIo,
  // kCantCreate.  The file is as it was then.
  std::int64_t replace(int file);

 private:
  void make();
  void add(std::string_view bytes);

  std::string path_;
  std::int64_t from_size_, size_ = 0;
  io::SinkGroup group_;
  std::unique_ptr<io::Sink> sink_;
  std::exception_ptr failed_;
  std::atomic<bool> ready_ = false, stop_ = false;
  std::thread maker_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_FOLDED_FILE_H_
