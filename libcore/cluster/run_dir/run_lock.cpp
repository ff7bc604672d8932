// The lock file of a run directory.

#include "libcore/cluster/run_dir/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/host_name.h"
#include "libcore/io/own_file.h"

namespace dl::cluster {

namespace {

constexpr int kLockTries = 40;
constexpr std::chrono::milliseconds kLockPause{50};
constexpr std::size_t kMostText = 320;  // of two numbers and a name

struct Holder {
  std::uint64_t pid = 0, incarnation = 0;
  std::string host;

  std::string describe() const {
    return "process " + (pid > 0 ? std::to_string(pid) : "(unknown)") +
           (host.empty() ? "" : " on " + host);
  }
};

// Nothing where the text is not a lock's.
std::optional<Holder> holder_in(const std::string& text) {
  std::istringstream words(text);
  Holder holder;
  if (!(words >> holder.pid >> holder.incarnation)) return std::nullopt;
  words >> holder.host;
  return holder;
}

std::string read_text(int file) {
  std::string text(kMostText, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

// Zero, or why it cannot be had.  The system takes a moment to end a process
// that was killed.
int try_lock(int file) {
  for (int tries = 0; tries < kLockTries; ++tries) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK) return errno;
    std::this_thread::sleep_for(kLockPause);
  }
  return EWOULDBLOCK;
}

bool replace_text(int file, const std::string& text) {
  const auto size = static_cast<ssize_t>(text.size());
  const ssize_t written = ::pwrite(file, text.data(), text.size(), 0);
  if (written >= 0 && written < size) errno = ENOSPC;
  return written == size && ::ftruncate(file, size) == 0;
}

// Never empty in between: the count must not be lost, and a disk may be full.
bool write_holder(int file, const Holder& holder, const std::string& before) {
  if (replace_text(file, std::to_string(holder.pid) + " " +
                             std::to_string(holder.incarnation) + " " +
                             holder.host + "\n"))
    return true;
  const int why = errno;
  (void)!replace_text(file, before);
  errno = why;
  return false;
}

// The rest of a lock whose write was cut short.
bool is_begun(const std::string& text) {
  return text.find_first_not_of("0123456789 ") == std::string::npos;
}

}  // namespace

// Made in full before it can fail: then the destructor closes the file.
RunLock::RunLock(const std::string& folder) : RunLock() {
  const std::string name = folder + "/" + kLockName;
  file_ = io::open_own(name, O_RDWR | O_CREAT);
  const int why = try_lock(file_);
  const std::string text = read_text(file_);
  const Holder before = holder_in(text).value_or(Holder());
  if (why == EWOULDBLOCK)
    throw Error{Code::kUnavailable, "the run directory '" + displayed(folder) +
                                        "' is in use by " + before.describe()};
  if (why != 0)
    throw Error{Code::kUnavailable,
                "cannot lock '" + displayed(name) + "': " + std::strerror(why) +
                    "; give a --run on storage that can lock files"};
  incarnation_ = before.incarnation + 1;
  if (!write_holder(
          file_,
          {static_cast<std::uint64_t>(::getpid()), incarnation_, host_name()},
          text))
    throw Error{Code::kIo, "cannot write '" + displayed(name) +
                               "': " + std::strerror(errno)};
}

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

bool may_be_lock(const std::filesystem::directory_entry& entry) {
  if (entry.is_symlink() || !entry.is_regular_file()) return false;
  std::ifstream file(entry.path());
  std::string text(kMostText, '\0');
  file.read(text.data(), kMostText);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return is_begun(text) || holder_in(text);
}

}  // namespace dl::cluster
