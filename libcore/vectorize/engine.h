// Work in order: blocks of an input are cut one after the other, worked on side
// by side, and given out in the order in which they were cut.
//
// The output is the same for any number of threads.  Memory is bounded: no
// more than kAhead blocks a thread are cut and not yet given out, and fewer
// where they, or what they hold, are large.

#ifndef DL_LIBCORE_VECTORIZE_ENGINE_H_
#define DL_LIBCORE_VECTORIZE_ENGINE_H_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace dl::vectorize {

template <typename Block, typename Result>
class Engine {
 public:
  static constexpr std::size_t kAhead = 2;
  static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

  // Fills the next block; false at the end.  Called by one thread at a time.
  using Cut = std::function<bool(Block& block)>;
  // thread: 0..threads-1.
  using Work = std::function<Result(Block& block, int thread)>;
  // The bytes that a block holds, where blocks differ: none is cut while others
  // hold kMostBytes together.
  using Held = std::function<std::size_t(const Block& block)>;

  // With one thread, next() does all the work itself.  bytes: of the largest
  // block, or of its result, whichever is more; 0: little.
  Engine(int threads, Cut cut, Work work, std::size_t bytes = 0, Held held = {})
      : cut_(std::move(cut)),
        work_(std::move(work)),
        held_by_(std::move(held)),
        most_(std::clamp<std::size_t>(
            kMostBytes / std::max<std::size_t>(bytes, 1), 2,
            kAhead * static_cast<std::size_t>(threads))) {
    if (threads < 2) return;
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, i] { run(i); });
  }

  ~Engine() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      most_ = SIZE_MAX;  // nobody waits for room
      held_ = 0;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The next result; none at the end.  Errors of cut and work come in the place
  // of their block, and end the input.
  std::optional<Result> next() {
    if (threads_.empty()) {
      Block block;
      ended_ = ended_ || !cut_(block);
      if (ended_) return std::nullopt;
      return work_(block, 0);
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return (!slots_.empty() && slots_.front().done) ||
             (slots_.empty() && ended_ && !cutting_);
    });
    if (slots_.empty()) return std::nullopt;
    Slot slot = std::move(slots_.front());
    slots_.pop_front();
    ++first_;
    changed_.notify_all();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.result);
  }

 private:
  struct Slot {
    bool done = false;
    std::optional<Result> result;
    std::exception_ptr error;
  };

  void run(int thread) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] {
        return ended_ ||
               (!cutting_ && slots_.size() < most_ && held_ < kMostBytes);
      });
      if (ended_) return;
      cutting_ = true;
      lock.unlock();
      Block block;
      Slot made;
      bool any = false;
      std::size_t held = 0;
      try {
        any = cut_(block);
        if (any && held_by_) held = held_by_(block);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      cutting_ = false;
      held_ += held;
      if (!any) ended_ = true;
      if (any || made.error) slots_.emplace_back();
      const std::size_t number = first_ + slots_.size() - 1;
      changed_.notify_all();
      if (any) {
        lock.unlock();
        try {
          made.result = work_(block, thread);
        } catch (...) {
          made.error = std::current_exception();
        }
        block = {};
        lock.lock();
        held_ -= std::min(held, held_);
      } else if (!made.error) {
        return;
      }
      made.done = true;
      if (made.error) ended_ = true;
      slots_[number - first_] = std::move(made);
      changed_.notify_all();
    }
  }

  Cut cut_;
  Work work_;
  Held held_by_;
  std::size_t most_;      // slots
  std::size_t held_ = 0;  // bytes of the blocks that are worked on
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // of the blocks that were cut and not given out
  std::size_t first_ = 0;   // the number of the first of them
  bool cutting_ = false, ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ENGINE_H_
