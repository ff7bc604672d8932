// The threads of a fork-join team.

#include "libcore/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "libcore/base/cgroup.h"
#include "libcore/base/spin_wait.h"

namespace dl {

namespace {

class Barrier {
 public:
  explicit Barrier(int size) : size_(size) {}
  void arrive_and_wait() {
    const int round = round_;
    if (++arrived_ < size_) return wait_for_change(round_, round);
    arrived_ = 0;
    ++round_;
    round_.notify_all();
  }

 private:
  int size_;
  std::atomic<int> arrived_ = 0, round_ = 0;
};

}  // namespace

struct ThreadTeam::State {
  explicit State(int size)
      : errors(static_cast<std::size_t>(size)), start(size), inner(size) {}

  void work(int index) {
    try {
      (*body)(index);
    } catch (...) {
      errors[static_cast<std::size_t>(index)] = std::current_exception();
    }
  }

  std::vector<std::exception_ptr> errors;
  const std::function<void(int)>* body = nullptr;
  bool leaving = false;
  Barrier start;  // before and after each run()
  Barrier inner;  // barrier()
  std::vector<std::thread> threads;
};

ThreadTeam::ThreadTeam(int threads) : state_(std::make_unique<State>(threads)) {
  for (int index = 1; index < threads; ++index)
    state_->threads.emplace_back([state = state_.get(), index] {
      for (;;) {
        state->start.arrive_and_wait();
        if (state->leaving) return;
        state->work(index);
        state->start.arrive_and_wait();
      }
    });
}

ThreadTeam::~ThreadTeam() {
  if (state_->threads.empty()) return;
  state_->leaving = true;
  state_->start.arrive_and_wait();
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadTeam::size() const noexcept {
  return static_cast<int>(state_->errors.size());
}

void ThreadTeam::run(const std::function<void(int)>& body) {
  if (state_->threads.empty()) return body(0);
  state_->body = &body;
  state_->start.arrive_and_wait();
  state_->work(0);
  state_->start.arrive_and_wait();
  for (std::exception_ptr& error : state_->errors)
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
}

void ThreadTeam::barrier() { state_->inner.arrive_and_wait(); }

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const auto limit = cgroup_cores())
    cores = std::min(cores, static_cast<int>(std::ceil(*limit)));
  return cores < 1 ? 1 : cores;
}

}  // namespace dl
