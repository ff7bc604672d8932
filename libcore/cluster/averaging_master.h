// Parameter averaging: one epoch as a sequence of rounds.
//
// A round has as many slots as replicas; slot s has the `frequency`
// mini-batches after those of slot s - 1.  What a slot gives depends on the
// state at the round's start and on its mini-batches alone, so any worker may
// do it, and doing it again gives the same bits.  The round ends when every
// slot is in; the average, weighted by examples and summed in the order of the
// slots, is the next state.

#ifndef DL_LIBCORE_CLUSTER_AVERAGING_MASTER_H_
#define DL_LIBCORE_CLUSTER_AVERAGING_MASTER_H_

#include <optional>
#include <vector>

#include "libcore/cluster/phase.h"
#include "libcore/exchange/average.h"

namespace dl::cluster {

class AveragingEpoch : public Phase {
 public:
  // Goes on from context.state.committed, which ends with a whole round.
  explicit AveragingEpoch(RunContext& context);

  void tick() override;
  void take(Member& member, const Message& message) override;
  bool done() const override;
  bool at_boundary() const override { return !round_; }
  Ranges committed() const override;
  std::int64_t left() const override;

 protected:
  LeaseTable& table() override { return table_; }

 private:
  // What is in of a round.
  struct Round {
    std::int64_t first = 0, end = 0;  // its mini-batches
    exchange::Average parameters, statistics, updater_state;
    std::vector<std::int64_t> examples;  // by slot
    std::vector<double> loss_sums;
    std::size_t missing = 0;  // slots
  };

  bool start_round();
  void take_result(Member& member, Result result);
  // Why a replica cannot be used; "" if it can.
  std::string fault_of(const Result& result, const Lease& lease) const;
  void end_round();
  bool averages_updater() const {
    return context_.settings.averaging.updater_state == UpdaterState::kAverage;
  }
  std::int64_t slot_batches() const {
    return context_.settings.averaging.frequency;
  }

  data::Epoch order_;
  LeaseTable table_;
  std::optional<Round> round_;
  std::int64_t done_ = 0;  // mini-batches of the rounds that are over
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_AVERAGING_MASTER_H_
