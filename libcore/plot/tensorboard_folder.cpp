#include "libcore/plot/tensorboard_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/io/own_file.h"
#include "libcore/io/sink.h"
#include "libcore/plot/report_page.h"
#include "libcore/plot/run_charts.h"
#include "libcore/plot/tensorboard.h"

namespace dl::plot {
namespace {

// Points of a second that a reader can tell apart; a long run would fill the
// disk with its mini-batches.
constexpr std::size_t kMostPoints = 100;

std::string make_folder(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed)
    throw Error{Code::kCantCreate,
                "cannot create " + in_quotes(path) + ": " + failed.message()};
  return path;
}

// An event file that grows.
class GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {
    ::unlink(path_.c_str());  // a reader of the old one keeps it
    fd_ = io::open_own(path_, O_WRONLY | O_CREAT | O_APPEND);
  }
  ~GrowingFile() { ::close(fd_); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void add(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        throw Error{Code::kIo, "cannot write " + in_quotes(path_) + ": " +
                                   std::strerror(errno)};
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

 private:
  std::string path_;
  int fd_;
};

struct Followed {
  Run& run;
  RunEvents events;
  GrowingFile file;
};

// Waits; returns whether the process is to end.
bool is_told_to_end(const sigset_t& signals) {
  const timespec second{1, 0};
  return ::sigtimedwait(&signals, nullptr, &second) > 0;
}

}  // namespace

void write_tensorboard(const std::vector<Run>& runs, const std::string& folder,
                       const Log& log) {
  const auto names = names_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RunEvents events(runs[i], SIZE_MAX, log);
    std::string all = events.more(runs[i]);
    all += events.end(runs[i]);
    io::write_whole(make_folder(folder, names[i]) + "/" +
                        event_file_name(runs[i].history().begin),
                    all);
  }
}

void write_tensorboard(const std::vector<std::string>& paths, Subject subject,
                       const std::string& folder, const Log& log) {
  std::set<std::string> used;
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem().string();
    std::string name = stem;
    for (int n = 2; !used.insert(name).second; ++n)
      name = stem + " (" + std::to_string(n) + ")";
    const std::string events = subject == Subject::kModel
                                   ? model_events(path, log)
                                   : report_events(read_report(path));
    // A report and its model have one name, and each a file.
    io::write_whole(make_folder(folder, name) + "/" + event_file_name(0) +
                        (subject == Subject::kModel ? "-model" : "-report"),
                    events);
  }
}

void follow_tensorboard(std::vector<Run>& runs, const std::string& folder,
                        const std::function<void()>& begun, const Log& log) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::vector<std::unique_ptr<Followed>> all;
  const auto names = names_of(runs);
  all.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    all.push_back(std::unique_ptr<Followed>(
        new Followed{runs[i], RunEvents(runs[i], kMostPoints, log),
                     GrowingFile(make_folder(folder, names[i]) + "/" +
                                 event_file_name(runs[i].history().begin))}));
  for (bool first = true, told = false;; first = false) {
    bool are_over = true;
    for (const auto& one : all) {
      if (!first) one->run.read();
      one->file.add(one->events.more(one->run));
      are_over &= !one->run.history().report.is_null();
    }
    if (first) begun();
    if (told || are_over) break;
    told = is_told_to_end(signals);
  }
  for (const auto& one : all) one->file.add(one->events.end(one->run));
}

}  // namespace dl::plot
