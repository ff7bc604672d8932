// Fork and join over a fixed set of threads.

#ifndef DL_LIBCORE_BASE_PARALLEL_H_
#define DL_LIBCORE_BASE_PARALLEL_H_

#include <functional>
#include <memory>

namespace dl {

// Keeps threads - 1 threads waiting; the caller is the last one.  run() is not
// re-entrant and is called by one thread at a time.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);  // >= 1
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const noexcept;

  // Calls body(0), ..., body(size() - 1), each on its own thread, and returns
  // when all have.  The first exception (by index) is rethrown here.  Does not
  // allocate.
  void run(const std::function<void(int)>& body);

  // Called by every body of a run() at the same point: returns once all have
  // arrived.
  void barrier();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Cores this process may use: its affinity mask, and the CPU limit of its
// cgroup; at least 1.
int available_cores();

}  // namespace dl

#endif  // DL_LIBCORE_BASE_PARALLEL_H_
