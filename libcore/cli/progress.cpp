// Drawing of the progress line.

#include "libcore/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <mutex>

#include "libcore/base/clock.h"
#include "libcore/base/json.h"
#include "libcore/cli/common.h"

namespace dl::cli {
namespace {

// A line that the terminal breaks is not overwritten by the next one.  The last
// column stays free: some break there already.
std::string fitted(const std::string& line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return line;  // no terminal
  return line.substr(0, size.ws_col - 1U);
}

}  // namespace

struct Progress::State {
  std::mutex mutex;
  bool wanted = progress_wanted();
  bool shown = false;
  double next = monotonic_seconds() + 1;  // the first after a second

  void draw(const std::string& line) {
    if (progress_as_json()) {
      const std::string object =
          line.starts_with('{') ? line : dump_json({{"text", line}});
      if (!line.empty()) write_line("{\"progress\":" + object + "}");
      return;
    }
    std::string text = "\r\033[K" + fitted(line);
    [[maybe_unused]] ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    shown = !line.empty();
    set_progress_shown(shown);
  }
};

Progress::Progress() : state_(std::make_unique<State>()) {}

Progress::~Progress() {
  if (state_->shown) state_->draw("");
}

void Progress::update(const std::function<std::string()>& line) {
  if (!state_->wanted) return;
  std::lock_guard lock(state_->mutex);
  double now = monotonic_seconds();
  if (now < state_->next) return;
  state_->next = now + (progress_as_json() ? 0.5 : 1.0 / 6);
  state_->draw(line());
}

}  // namespace dl::cli
