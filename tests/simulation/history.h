// The run's parameters after each of the latest updates: replicas of one
// process look them up rather than each add up all updates.

#ifndef DL_TESTS_SIMULATION_HISTORY_H_
#define DL_TESTS_SIMULATION_HISTORY_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cluster/worker/learner.h"

namespace simulated {

class History {
 public:
  // The history as one worker sees it. Outlived by the history.
  class View : public dl::cluster::ParameterHistory {
   public:
    explicit View(History& history) : history_(history) {
      history_.views_.push_back(this);
    }
    ~View() override { std::erase(history_.views_, this); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    std::span<const float> at(std::uint64_t sequence) override {
      seen_ = sequence;
      return history_.at(sequence);
    }

   private:
    friend class History;
    History& history_;
    std::uint64_t seen_ = 0;  // the last one; it never looks back
  };

  std::uint64_t newest() const { return first_ + kept_.size() - 1; }

  // After the update that follows the newest one, or the first that anybody
  // will look up.  Throws dl::Error: kUnavailable, too much is to be kept.
  void add(std::uint64_t sequence, std::span<const float> parameters) {
    forget();
    if (kept_.empty()) first_ = sequence;
    dl::require(sequence == first_ + kept_.size(), "an update left out");
    if (kept_.size() * parameters.size_bytes() > kMostBytes)
      throw dl::Error{dl::Code::kUnavailable,
                      "a worker is too far behind for what is kept of updates; "
                      "--apply keeps none"};
    std::vector<float> values = std::exchange(spare_, {});
    values.assign(parameters.begin(), parameters.end());
    kept_.push_back(std::move(values));
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 30;

  // Forgets entries that nobody looks up any more.
  void forget() {
    std::uint64_t seen = UINT64_MAX;
    for (const View* view : views_) seen = std::min(seen, view->seen_);
    for (; !kept_.empty() && first_ < seen; ++first_) {
      spare_ = std::move(kept_.front());
      kept_.pop_front();
    }
  }
  std::span<const float> at(std::uint64_t sequence) const {
    dl::require(sequence >= first_ && sequence - first_ < kept_.size(),
                "an update that is not kept");
    return kept_[sequence - first_];
  }

  std::vector<View*> views_;
  std::deque<std::vector<float>> kept_;  // from update first_ on
  std::vector<float> spare_;
  std::uint64_t first_ = 1;
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_HISTORY_H_
