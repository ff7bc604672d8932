// Processes of ours: a pipe to one, a copy of this one, its end.

#ifndef DL_LIBCORE_BASE_PROCESS_H_
#define DL_LIBCORE_BASE_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>

namespace dl {

// A pipe.  It closes the ends that were not taken; programs that are started
// inherit neither.
class Pipe {
 public:
  Pipe();  // throws Error{kUnavailable}, e.g. if too many files are open
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  int take_reader() { return std::exchange(ends_[0], -1); }
  int take_writer() { return std::exchange(ends_[1], -1); }
  void close_writer();

 private:
  std::array<int, 2> ends_{};
};

// Makes a copy of this process; 0 in the copy, which gets `at_our_end` when
// this one ends.  The copy of a process with threads may make only calls that
// are safe in a signal's handler before it becomes another program.
// Throws Error{kUnavailable}.
pid_t fork_process(int at_our_end);

// Waits for a child, and returns waitpid(2)'s status.
int wait_for_process(pid_t child);

struct ProcessEnd {
  int status = 0;   // exit status; 128 + number for a signal
  std::string how;  // "exited with status 65", "was killed by signal 9"
};

ProcessEnd process_end(int wait_status);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_PROCESS_H_
