// The lock file of a prefix of shards.

#include "libcore/data/sharding/prefix_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "libcore/base/error.h"

namespace dl::data {
namespace {

// Whether the file that is open still has its name.
bool is_there(int file, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

PrefixLock::PrefixLock(const std::string& prefix) {
  const std::filesystem::path name(prefix);
  const std::string path =
      (name.parent_path() / ("." + name.filename().string() + ".lock"))
          .string();
  for (;;) {
    file_ =
        ::open(path.c_str(),
               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file_ < 0) return;
    const bool locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (locked && is_there(file_, path)) {
      path_.emplace(path);
      return;
    }
    const int why = errno;
    ::close(file_);
    file_ = -1;
    if (locked) continue;  // its holder has just removed it
    if (why != EWOULDBLOCK) return;
    throw Error{Code::kCantCreate,
                "another process is writing shards '" + prefix +
                    "-...' now; wait for it, or write others with --output"};
  }
}

PrefixLock::~PrefixLock() {
  path_.reset();  // while nobody else can have it
  if (file_ >= 0) ::close(file_);
}

}  // namespace dl::data
