// The losses that each worker tells of its mini-batches: whether one tells
// another story than all others do with the same parameters.
//
// Mini-batches are dealt at random, so the losses of honest workers over the
// same time differ by chance alone.  A training that goes wrong does so for
// all.
//
// Pure bookkeeping.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_HEALTH_TOLD_LOSSES_H_
#define DL_LIBCORE_CLUSTER_HEALTH_TOLD_LOSSES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/cluster/health/loss_watch.h"

namespace dl::cluster {

// The loss of the run's own parameters, on a sample: own_loss.h.
struct OwnLoss {
  double loss = 0, error = 0;  // mean loss, and its standard error
  double deviation = 0;        // standard deviation of a mini-batch's loss
};

class ToldLosses {
 public:
  // Notes an accepted answer at this version: losses summed over so many
  // examples, > 0.
  void add(std::uint64_t member, std::uint64_t version, double loss_sum,
           std::int64_t examples);
  void begin_epoch();
  void forget(std::uint64_t member) { members_.erase(member); }

  // A member whose losses of late are unlike those of all others, which are
  // sound; nothing if there is none, or that cannot be told.
  struct Odd {
    std::uint64_t member = 0;
    double loss = 0, others = 0;  // mean losses
    double loss_sum = 0;          // sum of its losses in the epoch
    std::int64_t examples = 0;
  };
  std::optional<Odd> odd_one(const LossWatch& watch) const;
  // The member whose losses cannot be those of its parameters, if the losses of
  // all members are wrong and the run's own loss is sound.  others: the own
  // loss.
  std::optional<Odd> contradicted(const LossWatch& watch,
                                  const OwnLoss& own) const;

  // Asked every so many answers: whether one member's losses are far above
  // another's with the same parameters, so that the run's own loss is to tell
  // whose are false.
  bool are_in_doubt();
  // The answer to are_in_doubt(): a member whose losses are unlike the run's
  // own loss, while another's are like it.  Needs no history, so it holds from
  // the first answers on.  others: the own loss.
  std::optional<Odd> denied(const OwnLoss& own) const;
  // Notes that the own loss told nothing: the next doubt comes after twice as
  // many answers.
  void stay_in_doubt();

 private:
  static constexpr std::uint64_t kFirstPatience = 64;  // number of answers
  struct Answer {
    // At the answer, and at the one before it, since when its parameters may
    // be: a slow worker's are of long ago.
    std::uint64_t version = 0, begun = 0;
    double loss = 0;
  };
  struct Told {
    std::deque<Answer> recent;
    std::uint64_t last = 0;  // number among all answers
    double loss_sum = 0;     // sum of losses in the epoch
    std::int64_t examples = 0;
  };
  static double newest_mean(const Told& told);
  static std::uint64_t together(const Told& one, const Told& other);
  static bool was_higher_then(const Told& told, const Told& other);
  static bool denies(const Told& told, const Told& other, const OwnLoss& own);
  static std::vector<double> since(const Told& told, std::uint64_t version);
  bool is_of_late(const Told& told) const;
  std::optional<Odd> compare(const LossWatch& watch,
                             std::uint64_t version) const;

  std::map<std::uint64_t, Told> members_;
  std::uint64_t answers_ = 0;
  std::uint64_t next_look_ = 0, next_doubt_ = 0, patience_ = kFirstPatience;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_HEALTH_TOLD_LOSSES_H_
