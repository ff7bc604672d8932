// Signal handlers that turn stop signals into a readable descriptor.

#include "libcore/cli/stop_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "libcore/base/error.h"
#include "libcore/cli/options.h"

namespace dl::cli {
namespace {

// A signal handler has nothing but globals.
std::atomic<int> received{0};
std::atomic<unsigned> grace_seconds{25};
int write_end = -1;

void on_stop(int signal) {
  if (received.load() != 0) ::_exit(static_cast<int>(Code::kTryAgain));
  received = signal;
  const int error = errno;
  (void)!::write(write_end, "", 1);
  ::alarm(grace_seconds);
  errno = error;
}

void on_alarm(int) {
  constexpr char kText[] = "the grace period is over; leaving at once\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(static_cast<int>(Code::kTryAgain));
}

}  // namespace

std::chrono::milliseconds grace_period() {
  const char* text = std::getenv("DL_GRACE");
  if (text == nullptr || *text == '\0') return std::chrono::seconds(25);
  try {
    return parse_duration(text);
  } catch (Error& e) {
    e.add_context("DL_GRACE");
    throw;
  }
}

int catch_stop_signals() {
  const auto grace =
      std::chrono::duration_cast<std::chrono::seconds>(grace_period());
  grace_seconds =
      static_cast<unsigned>(std::clamp<std::int64_t>(grace.count(), 1, 86400));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error{Code::kIo,
                std::string("cannot make a pipe: ") + std::strerror(errno)};
  write_end = ends[1];

  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = on_stop;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  return ends[0];
}

void begin_grace() { ::alarm(grace_seconds); }

const char* stop_signal_name() {
  switch (received.load()) {
    case 0:
      return "";
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "SIGUSR2";
  }
}

}  // namespace dl::cli
