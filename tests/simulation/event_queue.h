// The events of a simulation, in the order of its time: those of the same
// time in the order in which they were put here.

#ifndef DL_TESTS_SIMULATION_EVENT_QUEUE_H_
#define DL_TESTS_SIMULATION_EVENT_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "libcore/base/clock.h"

namespace simulated {

class EventQueue {
 public:
  double now() const { return now_; }  // seconds since the beginning

  // time: not before now().
  void at(double time, std::function<void()> event) {
    events_.push_back({time, ++number_, std::move(event)});
    std::push_heap(events_.begin(), events_.end(), later);
  }

  // Lets time pass until the next event, and does it.  False: there is none.
  bool next() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end(), later);
    const Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.time;
    event.what();
    return true;
  }

 private:
  struct Event {
    double time;
    std::uint64_t number;
    std::function<void()> what;
  };
  static bool later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }

  double now_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Event> events_;  // a heap, the next one first
};

// Its time, for what looks at a clock.
class QueueClock : public dl::Clock {
 public:
  explicit QueueClock(const EventQueue& queue) : queue_(queue) {}
  double seconds() override { return queue_.now(); }

 private:
  const EventQueue& queue_;
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_EVENT_QUEUE_H_
