// A process that this one has started and looks after.
//
// It has a process group of its own, so that ctrl-C reaches us alone, who see
// to an orderly end; and it is sent SIGTERM should we die.  Linux only.
// Belongs to the thread that made it.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_CHILD_PROCESS_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/process.h"

namespace dl::cluster {

class ChildProcess {
 public:
  struct Order {
    std::vector<std::string> words;        // the first: a program, as in PATH
    std::vector<std::string> environment;  // "NAME=VALUE", all of it
    // Its standard input begins with this, and ends when we do.  At most 4096
    // bytes.
    std::string input;
    bool heard = false;  // what it writes comes to output(), not to stderr
  };
  // Throws Error: kUnavailable, the program cannot be started.
  explicit ChildProcess(Order order);
  ~ChildProcess();  // does not end it
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const { return pid_; }
  // How it has ended, once.
  std::optional<ProcessEnd> take_end();
  // Output that nobody has read yet; the rest of much another time.  wait: for
  // its first byte, at most.
  std::string output(std::chrono::milliseconds wait = {});
  static constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  // To it and what it has started.
  void send(int signal) const noexcept;
  // Its standard input ends.
  void close_input() noexcept;

 private:
  pid_t pid_;
  int input_ = -1, output_ = -1;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_CHILD_PROCESS_H_
