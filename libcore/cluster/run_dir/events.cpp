// Appending events to events.jsonl, and retrying those that a full disk
// refused.

#include "libcore/cluster/run_dir/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/run_dir/folded_file.h"
#include "libcore/io/own_file.h"

namespace dl::cluster {

namespace {

// Room for some hundred thousand events.
constexpr std::size_t kMostWaiting = std::size_t{64} << 20;

// Whether a crash cut the last line short.
bool ends_in_torn_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

EventLog::EventLog(const std::string& path, std::string run,
                   std::uint64_t incarnation, Log log, Clock& clock,
                   std::int64_t fold_after)
    : path_(path),
      run_(std::move(run)),
      incarnation_(incarnation),
      log_(std::move(log)),
      clock_(clock),
      fold_after_(fold_after),
      next_fold_(fold_after) {
  file_ = io::open_own(path, O_RDWR | O_CREAT | O_APPEND);
  // One that was cut short is closed, so that ours starts a new one.
  if (ends_in_torn_line(file_)) waiting_ = "\n";
  size_ = std::max<std::int64_t>(0, ::lseek(file_, 0, SEEK_END));
}

EventLog::~EventLog() { ::close(file_); }

void EventLog::write(std::string_view event, Json fields) {
  fields["event"] = event;
  fields["ts"] = utc_timestamp();
  fields["mono"] = clock_.seconds();
  fields["run"] = run_;
  fields["incarnation"] = incarnation_;
  const std::string line = dump_json(fields) + "\n";
  if (waiting_.size() + line.size() > kMostWaiting)
    lost_ = true;
  else
    waiting_ += line;
  if (write_waiting()) return fold_if_due();
  const std::string why = std::strerror(errno);
  if (on_trouble_) on_trouble_();
  if (complained_) return;
  complained_ = true;
  log_(Level::kWarning, "cannot write '" + displayed(path_) + "': " + why +
                            "; the history waits, and updates until the next "
                            "checkpoint are not logged; training continues");
}

bool EventLog::write_waiting() {
  if (file_ < 0 && !open_again()) return false;
  while (!waiting_.empty()) {
    const ssize_t written = ::write(file_, waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    waiting_.erase(0, static_cast<std::size_t>(written));
    size_ += written;
  }
  return true;
}

// The fold that has taken the place of the file.
bool EventLog::open_again() try {
  file_ = io::open_own(path_, O_RDWR | O_APPEND);
  return true;
} catch (const Error&) {
  if (errno == 0) errno = EIO;
  return false;
}

void EventLog::fold_if_due() {
  if (fold_ && fold_->ready()) return take_fold();
  if (fold_ || (size_ < next_fold_ && !failpoint("history.fold"))) return;
  try {
    fold_ = std::make_unique<FoldedFile>(path_, size_);
  } catch (const Error& error) {
    next_fold_ = 2 * size_;
    log_(Level::kWarning, "the history grows on: " + std::string(error.what()));
  }
}

void EventLog::take_fold() {
  const auto fold = std::exchange(fold_, nullptr);
  try {
    size_ = fold->replace(file_);
    ::close(std::exchange(file_, -1));  // opened again for the next event
    next_fold_ = std::max(fold_after_, 2 * size_);
  } catch (const Error& error) {
    next_fold_ = 2 * size_;
    log_(Level::kWarning, "the history stays as it is and grows on: " +
                              std::string(error.what()));
  }
}

void EventLog::sync() {
  // EINVAL: a device, which has nothing to bring to a disk.
  if (write_waiting() && !lost_ && (::fdatasync(file_) == 0 || errno == EINVAL))
    return;
  throw Error{Code::kIo, "cannot write '" + displayed(path_) + "': " +
                             (lost_ ? "too many events waited for it"
                                    : std::strerror(errno))};
}

std::string last_event(const std::string& path) {
  constexpr std::streamoff kTail = 4 << 20;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? std::streamoff(in.tellg()) : 0;
  in.seekg(std::max<std::streamoff>(0, size - kTail));
  std::string last;
  for (std::string line; std::getline(in, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (event.is_object() && event.contains("event") &&
        event["event"].is_string())
      last = event["event"].get<std::string>();
  }
  return last;
}

}  // namespace dl::cluster
