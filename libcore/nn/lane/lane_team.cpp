// Running the lanes, their barrier and their sums.

#include "libcore/nn/lane/lane_team.h"

#include <chrono>
#include <thread>
#include <utility>

#include "libcore/base/spin_wait.h"

namespace dl::nn {

using tensor::View;

LaneTeam::LaneTeam(int lanes, std::unique_ptr<device::LaneSum> sum)
    : team_(lanes),
      sum_(std::move(sum)),
      work_([this](int lane) { work(lane); }),
      slots_(static_cast<std::size_t>(lanes)),
      errors_(static_cast<std::size_t>(lanes)) {}

void LaneTeam::run(const std::function<void(int)>& task) {
  task_ = &task;
  arrived_ = 0;
  failed_ = false;
  team_.run(work_);
  if (!failed_) return;
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    const std::exception_ptr taken = std::exchange(error, nullptr);
    if (!first) first = taken;
  }
  std::rethrow_exception(first);
}

void LaneTeam::work(int lane) {
  try {
    (*task_)(lane);
    // A device that has failed tells who waits for it, and the others' sums
    // wait for it in vain until it is known here.
    if (sum_) sum_->finish(lane);
  } catch (const Released&) {
  } catch (...) {
    // Others of lanes apart fail because the first one did.
    if (apart() && failed_.exchange(true)) return;
    errors_[static_cast<std::size_t>(lane)] = std::current_exception();
    failed_ = true;
    if (sum_) give_up();
    ++round_;
    round_.notify_all();
  }
}

// Not while a lane asks for a sum, which would use what is no more; but that
// takes no time, unless it is held up by who does not come.
void LaneTeam::give_up() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kMost{1};
  const Clock::time_point end = Clock::now() + kMost;
  while (asking_ > 0 && Clock::now() < end) std::this_thread::yield();
  sum_->give_up();
}

void LaneTeam::barrier(int lane) {
  if (size() == 1) return;
  const int round = round_;
  if (failed_) throw Released{};
  if (++arrived_ == size()) {
    arrived_ = 0;
    ++round_;
    round_.notify_all();
  } else if (apart()) {
    wait_apart(lane, round);
  } else {
    wait_for_change(round_, round);
  }
  if (failed_) throw Released{};
}

// The one that is waited for may itself wait for a sum, and that for this
// lane's device, which tells nobody but its lane that it has failed.
void LaneTeam::wait_apart(int lane, int round) {
  constexpr int kLooks = 1000;
  constexpr std::chrono::microseconds kPause{50};
  for (int look = 1; round_ == round; ++look)
    if (look < kLooks) {
      pause_in_loop();
    } else {
      sum_->check(lane);
      std::this_thread::sleep_for(kPause);
    }
}

// Once a device has begun a sum it waits for all others, and a call that takes
// or gives memory on one may wait for what all do.  So lanes apart ask for a
// sum together: none is then still before it, with such calls to make, and none
// is there in vain where another one has failed.
template <class F>
void LaneTeam::among_all(int lane, const F& ask) {
  struct Asking {
    explicit Asking(std::atomic<int>& n) : count(n) { ++count; }
    ~Asking() { --count; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    std::atomic<int>& count;
  };
  barrier(lane);
  {
    const Asking asking(asking_);
    if (failed_) throw Released{};
    ask();
  }
  barrier(lane);
}

void LaneTeam::all_reduce(int lane, device::Device& device, View mine,
                          View scratch) {
  if (size() == 1) return;
  if (apart()) return among_all(lane, [&] { sum_->all_reduce(lane, mine); });
  slots_[static_cast<std::size_t>(lane)] = mine;
  barrier(lane);
  device.copy(scratch, slots_[0]);
  for (std::size_t i = 1; i < slots_.size(); ++i)
    device.add(scratch, 1, slots_[i]);
  barrier(lane);
  device.copy(mine, scratch);
}

void LaneTeam::reduce(int lane, View mine) {
  among_all(lane, [&] { sum_->reduce(lane, mine); });
}

void LaneTeam::broadcast(int lane, View mine) {
  among_all(lane, [&] { sum_->broadcast(lane, mine); });
}

}  // namespace dl::nn
