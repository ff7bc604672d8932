// Parameter averaging, and mode sync: one epoch as a sequence of rounds.
//
// A round has as many slots as replicas; slot s has the `frequency`
// mini-batches after those of slot s - 1, and gives the difference between
// where it ended and where it began.  The round ends when every slot is in: the
// average G of the differences, weighted by examples and summed in the order of
// the slots, is coded and goes to every worker, and all take the outer
// optimizer's step from what was coded, the master too.
//
// In sync a slot has one mini-batch and gives its gradient; with their average
// the network's updater takes one step, everywhere the same one.
//
// The result of a slot depends on the state at the round's start and on its
// mini-batches alone, so any worker may do it, and doing it again gives the
// same bits; but with lossy differences, updater state that is kept, or rounds
// that overlap, it depends on the slot's history as well, and slots then stay
// with their workers.
//
// In sync all workers that listen average pieces of the gradients among
// themselves (tree/all_reduce.h), tell the master, and do not wait for its
// word: the next round is open by then.
//
// Else, in a tree of workers (feed_tree.h) rounds of many slots are summed on
// the way: some workers reduce the Results of 8 slots, or of 8 such groups, and
// the master gets the last 8 sums at most.  It sums as they do, so this changes
// no bit.  Whenever that does not work, Results come here in that round.
//
// Where a replica may be alone (AveragingSettings::alone), a round of one slot
// lasts a second or more, so that its end costs little, but ends where somebody
// waits for it (Cut).  Its Result has the parameters themselves,
// its worker goes on from what it has, and others get the State.
//
// Results of large networks stay with their workers (Limits::pull_from) until
// each slot has one; then the master pulls them, a piece of all slots at a time
// (pulled_sums.h), and averages as they come.
//
// Rounds that overlap: round r + 1 begins when round r - 1 ends, while round r
// is under way (slot_keeper.h says from what).  Two are open at most.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_AVERAGING_MASTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_AVERAGING_MASTER_H_

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/master/epoch/averaging/pulled_sums.h"
#include "libcore/cluster/master/epoch/averaging/round_end.h"
#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/tree/pieces.h"
#include "libcore/cluster/tree/reduce_plan.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

class AveragingEpoch : public Phase {
 public:
  // Continues from context.state.committed, which ends with a whole round.
  explicit AveragingEpoch(RunContext& context);

  void tick() override;
  void take(Member& member, const Message& message) override;
  // Drops the history of the member's slots, which may have gone on.
  void release(Member& member, const std::string& why, bool failed) override;
  // Work whose Result another worker has does not count.
  bool working(const Member& member) const override;
  // In sync a round begins when the one before is over, which may take long on
  // a slow line.
  bool can_move(const Member& member) const override;
  bool done() const override;
  // The state is always that of the last round which is over.
  bool at_boundary() const override { return unsaved_ && !ending_; }
  bool closing() const override { return ending_ != nullptr; }
  void settle() override;
  Ranges committed() const override;

 protected:
  LeaseTable& table() override { return table_; }
  data::Epoch& order() override { return order_; }
  std::int64_t leaves_out_from(std::int64_t batch) const override;

 private:
  struct OpenRound {
    OpenRound(std::size_t slots, const RunState& state);

    std::uint64_t version = 0;        // version that the round makes
    std::int64_t first = 0, end = 0;  // mini-batches of the round
    std::int64_t of_slot = 0;   // mini-batches of a slot; the last has the rest
    double opened = 0;          // time when the round was opened
    bool whole = false;         // whether its slot gives parameters
    std::uint64_t maker = 0;    // member that gave these parameters
    std::uint64_t cut = 0;      // lease that was sent Cut
    std::int64_t replicas = 0;  // number of slots of a whole round
    std::int64_t iteration = 0;  // updater steps of a replica before the round
    exchange::Average deltas, statistics, updater_state;
    std::vector<std::int64_t> examples;  // number of examples by slot
    std::vector<double> loss_sums;
    std::size_t missing;                // number of slots that are missing
    std::set<std::size_t> passed_over;  // slots that have only bad data

    // Sums of the round that workers make, or the parties that average it; if
    // there are neither, all Results come to the master.
    std::vector<ReduceGroup> groups;
    std::uint64_t parties = 0;
    std::vector<std::uint64_t> reducers;  // members; parties in their order
    std::vector<Piece> pieces;            // pieces of the parties' average
    // Pieces of it that have come, by first element, and their elements.
    std::map<std::int64_t, std::vector<float>> come;
    std::size_t values_come = 0;

    std::optional<PulledSums> pull;  // Results that wait for the master
    std::vector<double> pulled_at;   // time when a slot was last asked, or sent

    // The average of pulled Results: parameters, statistics, updater state.
    std::vector<float> mean;
    bool is_averaged = false;  // whether mean is complete, or all has come
    // Members that were ever told to sum something of the round.
    std::set<std::uint64_t> appointed;
    double all_elsewhere =
        0;  // since when all that is missing is; 0: it is not

    std::size_t slots() const { return examples.size(); }
    bool by_parties() const { return parties != 0 && is_averaged; }
    bool is_elsewhere() const { return !groups.empty() || parties != 0; }
    std::int64_t all_examples() const;
    double loss_sum() const;
  };

  bool may_open() const;
  std::int64_t alone_batches(std::int64_t first) const;
  std::int64_t slots_of_round(std::int64_t first, std::int64_t of_slot,
                              std::int64_t replicas) const;
  void cut_short();
  void take_cut(OpenRound& round, Lease& lease, std::int64_t count);
  void open_round();
  void pass_over_slots();
  void pass_over(OpenRound& round, std::size_t slot);
  std::int64_t batches_of(const OpenRound& round, std::size_t slot) const;
  std::int64_t examples_of(const Lease& lease) const;
  void assign_slots(bool rebalance);
  void hand_out();
  void speculate();
  std::vector<Member*> idle_workers() const;
  Member* worker_for(std::size_t slot, const OpenRound& round,
                     std::vector<Member*>& idle);
  Member* owner_for(std::size_t slot, const OpenRound& round);
  void give_away(std::size_t slot, std::int64_t first, std::int64_t count);
  bool follows(const Member& member, const OpenRound& round) const;
  Member* take_from_next(std::int64_t first, std::int64_t count);
  Slot slot_for(const OpenRound& round, std::size_t slot,
                const Member& member) const;
  OpenRound* round_of(const Lease& lease);
  std::int64_t first_of(const OpenRound& round, std::size_t slot) const {
    return round.first + static_cast<std::int64_t>(slot) * round.of_slot;
  }
  std::size_t slot_of(const OpenRound& round, const Lease& lease) const {
    return static_cast<std::size_t>((lease.first - round.first) /
                                    round.of_slot);
  }

  // averaging_reduce.cpp
  void plan_reduction(OpenRound& round);
  std::string reducer_of(const OpenRound& round, std::size_t slot) const;
  void take_reduced(const Member& member, Reduced reduced);
  std::string fault_of(const Reduced& reduced, const OpenRound& round,
                       std::vector<float>& delta) const;
  std::string fault_of(std::span<const SlotCount> counts, std::int64_t first,
                       const OpenRound& round) const;
  void go_direct(OpenRound& round, const std::string& why);
  void reduction_failed(OpenRound& round, const std::string& why);
  double last_flow(const OpenRound& round) const;
  void watch_reduction();
  // Whether the Result came in a sum already, and now comes by itself, as all
  // were asked for.
  bool is_in(const Result& result) const;

  // averaging_exchange.cpp
  std::vector<Member*> parties();
  bool tell_parties(const std::vector<Member*>& workers);
  bool plan_exchange(OpenRound& round);
  bool goes_ahead() const;
  bool tells(const Member& member, const Mean& mean,
             const OpenRound& round) const;
  void take_mean(const Member& member, Mean mean);
  std::string fault_of(const Mean& mean, const OpenRound& round) const;

  // averaging_pull.cpp
  bool is_pulled(const OpenRound& round) const;
  std::size_t result_elements() const;
  void begin_pull(OpenRound& round);
  void offer(OpenRound& round, Member& member, const Lease& lease,
             const Result& result);
  void take_slice(Member& member, Slice slice);
  std::string fault_of(const Slice& slice) const;
  void pull(OpenRound& round);
  void finish_pull(OpenRound& round);
  void finish_pulls();
  double moved_at(const OpenRound& round, std::size_t slot,
                  const Member& member) const;
  void watch_pulls();
  void forget_lost_offers();

  // averaging_round.cpp
  void end_rounds();
  bool end_round();
  RoundAverage average_of(OpenRound& round) const;
  std::vector<float> average_of_deltas(OpenRound& round) const;
  std::vector<float> average_of_statistics(const OpenRound& round) const;
  std::vector<float> average_of_updater_state(const OpenRound& round) const;
  RoundOptimizer optimizer(const OpenRound& round) const;
  bool end_step(const OpenRound& round);
  void begin_entry(const OpenRound& round);
  void close(const OpenRound& round);
  void send(const OpenRound& round, Round message);

  void take_result(Member& member, Result result);
  std::string doubt_of(const OpenRound& round, const Member& member,
                       const Result& result, std::span<const float> delta);
  bool is_broken(std::span<const std::byte> coded) const;
  // broken: as is_broken() says.
  void reject_result(Member& member, const Lease& lease, const std::string& why,
                     bool broken = false);
  // Results that are accepted must not make the state overflow, or sums on the
  // way.
  void look_at(const Reach& reach);
  // Decodes an answer; returns why it cannot be used, or "".
  std::string fault_of(const Result& result, const Lease& lease,
                       std::vector<float>& delta) const;
  // Checks the vectors that a slot or a group of slots gave; returns "" if they
  // fit.  weight: factor that they are multiplied by, 1 for a single slot.
  // whole: whether they are the slot's parameters.
  std::string fault_of(std::span<const std::byte> coded,
                       const std::vector<float>& statistics,
                       const std::vector<float>& updater_state, double weight,
                       std::vector<float>& delta, bool whole = false) const;
  // Notes that the slot of the lease is done.
  void settle(OpenRound& round, const Lease& lease, std::int64_t examples,
              double loss_sum, std::size_t bytes);
  void settle(OpenRound& round, const std::vector<SlotCount>& counts);
  void revoke_next(Member& member, const Lease& lease);

  const AveragingSettings& how() const { return context_.settings.averaging; }
  // Whether gradients are averaged, for one step of the network's updater.
  bool is_sync() const { return context_.settings.mode == Mode::kSync; }
  bool averages_updater() const {
    return !is_sync() && how().updater_state == UpdaterState::kAverage;
  }
  std::int64_t slot_batches() const { return how().frequency; }
  std::int64_t steps(const OpenRound& round) const {
    return std::min(round.of_slot, round.end - round.first);
  }

  data::Epoch order_;
  LeaseTable table_;
  std::deque<OpenRound> rounds_;
  std::unique_ptr<RoundEnd> ending_;  // end of the first round, while it lasts
  std::int64_t done_ = 0;             // mini-batches of finished rounds
  bool unsaved_ = false;  // whether a round ended since the last checkpoint
  // When tick() has something to do: a round or a lease has ended, a slot waits
  // for somebody, or it is time.
  bool changed_ = true, slots_wait_ = false;
  double next_look_ = 0;
  // Greatest magnitudes of a difference, and of any other value of a replica.
  double most_delta_ = 0, most_value_ = 0;
  // Leases whose Result is at another worker.
  std::set<std::uint64_t> elsewhere_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_AVERAGING_MASTER_H_
