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
  double loss = 0, error = 0;  // the mean, and its standard error
  double deviation = 0;        // the standard deviation of a mini-batch's
};

class ToldLosses {
 public:
  // An answer was accepted, as of this version: losses summed over so many
  // examples, > 0.
  void add(std::uint64_t member, std::uint64_t version, double loss_sum,
           std::int64_t examples);
  void begin_epoch();
  void forget(std::uint64_t member) { members_.erase(member); }

  // A member whose losses of late are nothing like those of all others, which
  // are sound; nothing: there is none, or nobody can tell.
  struct Odd {
    std::uint64_t member = 0;
    double loss = 0, others = 0;  // means
    double loss_sum = 0;          // of the epoch
    std::int64_t examples = 0;
  };
  std::optional<Odd> odd_one(const LossWatch& watch) const;
  // The same where the losses of all are wrong, and the run's own is sound:
  // whose losses cannot be those of its parameters.  others: the own one.
  std::optional<Odd> contradicted(const LossWatch& watch,
                                  const OwnLoss& own) const;

  // Every so many answers: one member's losses are far above another's with the
  // same parameters, and the run's own loss is to tell whose are false.
  bool are_in_doubt();
  // The answer to that: a member whose losses are nothing like the run's own,
  // while somebody else's are.  Needs no history, so it holds from the first
  // answers on.  others: the own one.
  std::optional<Odd> denied(const OwnLoss& own) const;
  // It told nothing: the next doubt is in twice as many answers.
  void stay_in_doubt();

 private:
  static constexpr std::uint64_t kFirstPatience = 64;  // answers
  struct Told {
    std::deque<std::pair<std::uint64_t, double>> recent;  // version, loss
    std::uint64_t last = 0;                               // of all answers
    double loss_sum = 0;                                  // of the epoch
    std::int64_t examples = 0;
  };
  static double newest_mean(const Told& told);
  static std::uint64_t together(const Told& one, const Told& other);
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
