// The end of a process of ours, and how it ended, as waitpid(2) says it.

#ifndef DL_LIBCORE_BASE_PROCESS_END_H_
#define DL_LIBCORE_BASE_PROCESS_END_H_

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace dl {

// Waits for it, and returns waitpid(2)'s status.
inline int wait_for_process(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

struct ProcessEnd {
  int status = 0;   // exit status; 128 + number for a signal
  std::string how;  // "exited with status 65", "was killed by signal 9"
};

inline ProcessEnd process_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return {128 + signal, "was killed by signal " + std::to_string(signal) +
                              (signal == SIGKILL ? " (out of memory?)" : "")};
  }
  const int status = WEXITSTATUS(wait_status);
  return {status, "exited with status " + std::to_string(status)};
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_PROCESS_END_H_
