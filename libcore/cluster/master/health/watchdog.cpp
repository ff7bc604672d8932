#include "libcore/cluster/master/health/watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

constexpr int kLooks = 50;  // in the time of the limit

bool is_of_storage(long call) {
  static const std::set<long> kCalls = {
      SYS_read,     SYS_pread64,   SYS_write,     SYS_pwrite64,  SYS_writev,
      SYS_fsync,    SYS_fdatasync, SYS_ftruncate, SYS_fallocate, SYS_openat,
      SYS_close,    SYS_lseek,     SYS_unlinkat,  SYS_flock,     SYS_msync,
#ifdef SYS_rename
      SYS_rename,   SYS_unlink,    SYS_open,      SYS_stat,
#endif
      SYS_renameat2};
  return kCalls.contains(call);
}

}  // namespace

Watchdog::Watchdog(double limit, Log log, std::function<void()> end)
    : limit_(limit),
      log_(std::move(log)),
      end_(std::move(end)),
      watched_(static_cast<pid_t>(::syscall(SYS_gettid))) {
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::turn(std::string_view what, std::string_view detail) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  detail_ = detail;
  moved_ = true;
}

// Whether the thread waits in a call that a file system answers, or cannot be
// woken, as it is while a page of a file is read.
bool Watchdog::in_storage() const {
  const std::string task = "/proc/self/task/" + std::to_string(watched_);
  long call = -1;
  if (std::ifstream in(task + "/syscall"); in >> call && is_of_storage(call))
    return true;
  std::ifstream in(task + "/stat");
  std::string stat;
  std::getline(in, stat);
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat.size() &&
         stat[name_end + 2] == 'D';
}

void Watchdog::watch() {
  const double pause = limit_ / kLooks;
  double still = 0, warn_at = limit_ / 5, looked = monotonic_seconds();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::duration<double>(pause),
                            [&] { return stop_; })) {
    // Time during which the process itself is stopped does not count.
    const double now = monotonic_seconds();
    still += std::min(now - std::exchange(looked, now), 2 * pause);
    if (std::exchange(moved_, false)) {
      still = 0;
      warn_at = limit_ / 5;
    }
    if (still < warn_at) continue;
    const std::string what = std::string(what_) + std::string(detail_);
    const bool storage = in_storage();
    lock.unlock();
    const std::string sentence = "the master has stood still for " +
                                 format("%.1f s", still) + ", " + what;
    if (still < limit_ || storage) {
      log_(Level::kWarning,
           sentence + (storage ? "; it waits for its storage" : ""));
      warn_at = still < limit_ ? limit_ : 2 * still;
    } else {
      log_(Level::kWarning, sentence +
                                "; it ends, run it again: what was "
                                "saved or logged is not lost");
      end_();
      warn_at = 2 * still;
    }
    lock.lock();
  }
}

void end_at_once() {
  for (;;) {
    ::kill(::getpid(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace dl::cluster
