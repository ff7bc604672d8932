#include "libcore/cluster/master/local_workers.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/process_end.h"

namespace dl::cluster {

namespace {

// dl-worker beside this program, else wherever PATH has it.
std::string find_program() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size > 0 && size < static_cast<ssize_t>(sizeof path)) {
    std::string beside(path, static_cast<std::size_t>(size));
    beside.resize(beside.rfind('/') + 1);
    beside += "dl-worker";
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  return "dl-worker";
}

// Between fork and exec only calls that are safe after a fork of a process
// with threads.
[[noreturn]] void become(const char* program, char* const* arguments,
                         char* const* environment, pid_t parent, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(75);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE})
    ::signal(signal, SIG_DFL);
  ::execvpe(program, arguments, environment);
  const int why = errno;
  [[maybe_unused]] const auto n = ::write(report, &why, sizeof why);
  ::_exit(69);
}

// Without the defaults of dl-worker's options, which are for workers that the
// user starts; with what tells --device auto which GPU is meant.
std::vector<char*> environment_of_worker(std::string& rank) {
  std::vector<char*> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("DL_WORKER_") &&
        !variable.starts_with("DL_LOCAL_RANK="))
      result.push_back(*entry);
  }
  result.push_back(rank.data());
  result.push_back(nullptr);
  return result;
}

// Returns the child.
pid_t spawn(std::vector<std::string> words, int number) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string rank = "DL_LOCAL_RANK=" + std::to_string(number);
  const std::vector<char*> environment = environment_of_worker(rank);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    throw Error{Code::kUnavailable,
                std::string("cannot make a pipe: ") + std::strerror(errno)};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0)
    become(arguments[0], arguments.data(), environment.data(), parent, pipe[1]);
  const int fork_error = errno;
  ::close(pipe[1]);
  int why = 0;
  const bool failed =
      child < 0 || ::read(pipe[0], &why, sizeof why) == sizeof why;
  ::close(pipe[0]);
  if (!failed) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  throw Error{Code::kUnavailable,
              "cannot start '" + words[0] +
                  "': " + std::strerror(child < 0 ? fork_error : why)};
}

}  // namespace

LocalWorkers::LocalWorkers(Command command) : command_(std::move(command)) {}

LocalWorkers::~LocalWorkers() { finish(2); }

void LocalWorkers::start(int count) {
  for (int i = 0; i < count; ++i) {
    const int number = started_++;
    const std::string name = "local-" + std::to_string(number + 1);
    const pid_t pid =
        spawn({find_program(), "--master", command_.endpoint, "--name", name,
               "--device", command_.device, "--precision", command_.precision,
               "--threads", std::to_string(command_.threads), "--quiet"},
              number);
    processes_.push_back({pid, name});
  }
}

std::vector<LocalWorkers::Ended> LocalWorkers::reap() {
  std::vector<Ended> result;
  for (auto it = processes_.begin(); it != processes_.end();) {
    int status = 0;
    if (::waitpid(it->pid, &status, WNOHANG) != it->pid) {
      ++it;
      continue;
    }
    result.push_back({process_end(status), it->pid, it->name});
    it = processes_.erase(it);
  }
  return result;
}

void LocalWorkers::wait_for_all(double seconds) noexcept {
  const double end = monotonic_seconds() + seconds;
  while (true) {
    try {
      reap();
    } catch (...) {  // out of memory: the kernel reaps them with us
      return;
    }
    if (processes_.empty() || monotonic_seconds() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void LocalWorkers::finish(double seconds) noexcept {
  wait_for_all(seconds);
  for (const Process& process : processes_) ::kill(process.pid, SIGTERM);
  wait_for_all(3);
  for (const Process& process : processes_) ::kill(process.pid, SIGKILL);
  wait_for_all(2);
}

}  // namespace dl::cluster
