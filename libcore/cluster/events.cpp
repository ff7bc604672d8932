#include "libcore/cluster/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"

namespace dl::cluster {

namespace {

// A line that a crash cut short is closed, so that ours starts a new one.
void close_torn_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n')
    if (::write(file, "\n", 1) != 1) return;  // write() will report it
}

}  // namespace

EventLog::EventLog(const std::string& path, std::string run,
                   std::uint64_t incarnation, Log log)
    : path_(path),
      run_(std::move(run)),
      incarnation_(incarnation),
      log_(std::move(log)) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw Error{Code::kCantCreate,
                "cannot open '" + path + "': " + std::strerror(errno)};
  close_torn_line(file_);
}

EventLog::~EventLog() { ::close(file_); }

void EventLog::write(std::string_view event, Json fields) {
  fields["event"] = event;
  fields["ts"] = utc_timestamp();
  fields["mono"] = monotonic_seconds();
  fields["run"] = run_;
  fields["incarnation"] = incarnation_;
  const std::string line = dump_json(fields) + "\n";
  const ssize_t written = ::write(file_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size()) || complained_) return;
  complained_ = true;
  log_(Level::kWarning,
       "cannot write '" + path_ +
           "': " + std::strerror(written < 0 ? errno : ENOSPC) +
           "; the history of this run has gaps, training continues");
}

}  // namespace dl::cluster
