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
    std::vector<std::string> words;  // program, found in PATH, and arguments
    // The whole environment, "NAME=VALUE".
    std::vector<std::string> environment;
    // Beginning of its standard input, which ends when this process does.  At
    // most 4096 bytes.
    std::string input;
    bool heard = false;  // output goes to output(), not to stderr
  };
  // Throws Error: kUnavailable, the program cannot be started.
  explicit ChildProcess(Order order);
  ~ChildProcess();  // does not end the process
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const { return pid_; }
  // Exit status of the process, returned once.
  std::optional<ProcessEnd> take_end();
  // Returns output that was not read yet; much output comes in several calls.
  // wait: longest time to wait for its first byte.
  std::string output(std::chrono::milliseconds wait = {});
  static constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  // Sends the signal to the process and all processes that it has started.
  void send(int signal) const noexcept;
  // Ends its standard input.
  void close_input() noexcept;

 private:
  pid_t pid_;
  int input_ = -1, output_ = -1;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_CHILD_PROCESS_H_
