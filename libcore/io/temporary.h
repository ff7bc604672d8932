// Files that must not outlive the process unless it says so.
//
// Every Temporary that exists is in a list which remove_unfinished()
// (io/sink.h) walks from a signal handler.

#ifndef DL_LIBCORE_IO_TEMPORARY_H_
#define DL_LIBCORE_IO_TEMPORARY_H_

#include <string>

namespace dl::io {

// Guards a path; what lies there is unlinked by the destructor.  The file is
// made after this object, so that no signal finds it unguarded.  Thread-safe
// as a class; one object belongs to one thread.
class Temporary {
 public:
  explicit Temporary(std::string path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::string& path() const noexcept { return path_; }

  // Renames the file; it is then no longer guarded.
  // Throws Error: kCantCreate.
  void rename_to(const std::string& final_path);

 private:
  struct Slot;
  friend void remove_unfinished() noexcept;
  static Slot* slots();
  void forget() noexcept;

  std::string path_;
  Slot* slot_;
};

// Makes the names in the folder of `path` durable.  Throws Error: kIo.
void sync_folder_of(const std::string& path);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_TEMPORARY_H_
