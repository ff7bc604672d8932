#include "libcore/base/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "libcore/base/error.h"

namespace dl {

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
    throw Error{Code::kUnavailable,
                std::string("cannot make a pipe: ") + std::strerror(errno) +
                    (errno == EMFILE ? "; raise the limit, ulimit -n" : "")};
}

Pipe::~Pipe() {
  for (const int end : ends_)
    if (end >= 0) ::close(end);
}

void Pipe::close_writer() { ::close(take_writer()); }

pid_t fork_process(int at_our_end) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    throw Error{Code::kUnavailable,
                std::string("cannot make a process: ") + std::strerror(errno)};
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, at_our_end);
  // It may have ended in between.
  if (::getppid() != parent) ::_exit(static_cast<int>(Code::kTryAgain));
  return 0;
}

int wait_for_process(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

ProcessEnd process_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return {128 + signal, "was killed by signal " + std::to_string(signal) +
                              (signal == SIGKILL ? " (out of memory?)" : "")};
  }
  const int status = WEXITSTATUS(wait_status);
  return {status, "exited with status " + std::to_string(status)};
}

}  // namespace dl
