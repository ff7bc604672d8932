#include "libcore/cluster/master/launch/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"

namespace dl::cluster {

namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Between fork and exec only calls that are safe after a fork of a process
// with threads.  output: or -1.
[[noreturn]] void become(char* const* words, char* const* environment,
                         int input, int output, int report) {
  ::setpgid(0, 0);
  ::dup2(input, STDIN_FILENO);
  if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE})
    ::signal(signal, SIG_DFL);
  ::execvpe(words[0], words, environment);
  const int why = errno;
  [[maybe_unused]] const auto n = ::write(report, &why, sizeof why);
  ::_exit(69);
}

}  // namespace

ChildProcess::ChildProcess(Order order) {
  const std::vector<char*> words = pointers(order.words);
  const std::vector<char*> environment = pointers(order.environment);
  Pipe input, output, report;
  require(order.input.size() <= 4096, "a pipe takes it without waiting");
  require(::write(input.writer(), order.input.data(), order.input.size()) ==
              static_cast<ssize_t>(order.input.size()),
          "a new pipe is empty");
  pid_ = fork_process(SIGTERM);
  if (pid_ == 0)
    become(words.data(), environment.data(), input.reader(),
           order.heard ? output.writer() : -1, report.writer());
  report.close_writer();
  int why = 0;
  if (::read(report.reader(), &why, sizeof why) == sizeof why) {
    wait_for_process(pid_);
    throw Error{Code::kUnavailable,
                "cannot start '" + order.words[0] + "': " + std::strerror(why)};
  }
  input_ = input.take_writer();
  if (!order.heard) return;
  output_ = output.take_reader();
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
  // Whoever writes much waits less; not all may have that.
  ::fcntl(output_, F_SETPIPE_SZ, static_cast<int>(kAtOnce));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)) {}

ChildProcess::~ChildProcess() {
  close_input();
  if (output_ >= 0) ::close(output_);
}

std::optional<ProcessEnd> ChildProcess::take_end() {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_)
    return std::nullopt;
  pid_ = -1;
  return process_end(status);
}

std::string ChildProcess::output(std::chrono::milliseconds wait) {
  std::string text;
  std::array<char, 65536> bytes{};
  pollfd ready{output_, POLLIN, 0};
  if (wait.count() > 0) ::poll(&ready, 1, static_cast<int>(wait.count()));
  while (output_ >= 0 && text.size() < kAtOnce) {
    const ssize_t size = ::read(output_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return text;
}

void ChildProcess::send(int signal) const noexcept {
  if (pid_ > 0) ::kill(-pid_, signal);
}

void ChildProcess::close_input() noexcept {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

}  // namespace dl::cluster
