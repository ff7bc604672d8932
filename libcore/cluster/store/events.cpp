#include "libcore/cluster/store/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/io/own_file.h"

namespace dl::cluster {

namespace {

// Whether a crash cut the last line short.
bool ends_in_torn_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

EventLog::EventLog(const std::string& path, std::string run,
                   std::uint64_t incarnation, Log log, Clock& clock)
    : path_(path),
      run_(std::move(run)),
      incarnation_(incarnation),
      log_(std::move(log)),
      clock_(clock) {
  file_ = io::open_own(path, O_RDWR | O_CREAT | O_APPEND);
  torn_ = ends_in_torn_line(file_);
}

EventLog::~EventLog() { ::close(file_); }

void EventLog::write(std::string_view event, Json fields) {
  fields["event"] = event;
  fields["ts"] = utc_timestamp();
  fields["mono"] = clock_.seconds();
  fields["run"] = run_;
  fields["incarnation"] = incarnation_;
  // One that was cut short is closed, so that ours starts a new one.
  const std::string line = (torn_ ? "\n" : "") + dump_json(fields) + "\n";
  const ssize_t written = ::write(file_, line.data(), line.size());
  if (written > 0) torn_ = line[static_cast<std::size_t>(written) - 1] != '\n';
  if (written == static_cast<ssize_t>(line.size()) || complained_) return;
  complained_ = true;
  log_(Level::kWarning,
       "cannot write '" + path_ +
           "': " + (written < 0 ? std::strerror(errno) : "it may not grow") +
           "; the history of this run has gaps, training continues");
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
