// How far the updates of many workers are taken to say the same, whatever
// exchange/rules/gradient_diversity.h measures.
//
// What is measured holds for the way so far.  In the beginning there is none,
// and where the loss has just risen, updates that were computed before it may
// all lead further up.  There they count as one of them; from then on less and
// less so, by the factor e in kRounds rounds of all workers, and in twice as
// many each time that the loss has risen.
//
// Losses are added up to blocks of a quarter of a round.  A block has risen
// that stands kStandsOut standard deviations above the lowest of the two rounds
// before it, and gives back kGivenBack of the way from the first one.  Two
// such blocks running are no chance: a few losses are now and then far off.
//
// Depends on nothing but what add() was told.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_HEALTH_CAUTION_H_
#define DL_LIBCORE_CLUSTER_HEALTH_CAUTION_H_

#include <cstdint>
#include <deque>
#include <optional>

namespace dl::cluster {

class Caution {
 public:
  // An update was applied: the mean loss of its examples, finite, and how many
  // updates before it it had not seen.
  void add(double loss, std::uint64_t staleness);

  // The least correlation to assume, 0..1.
  double correlation() const { return correlation_; }

 private:
  static constexpr double kRounds = 2;

  void close_block();
  void rise();

  double correlation_ = 1;
  double rounds_ = kRounds;  // rounds in which it falls by the factor e
  // Sums of the open block.
  double sum_ = 0, squares_ = 0;
  std::int64_t count_ = 0;
  // Closed blocks: the means of the last, the first of all, and the variance of
  // a loss within them.
  std::deque<double> means_;
  std::optional<double> first_;
  bool stood_out_ = false;  // whether the last block stood out
  double variance_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_HEALTH_CAUTION_H_
