// Gradient sharing: one epoch of it.
//
// The master holds the parameters.  Each update that it accepts is applied
// here, gets the next sequence number and goes to every worker in that order,
// so all replicas do the same additions in the same order and stay equal to
// the last bit.  Once every mini-batch is committed, and in between if that is
// asked for, the workers say what their replicas digest to; one that differs is
// sent the State.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_MASTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_MASTER_H_

#include <optional>
#include <set>

#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/master/epoch/sharing/agreement.h"
#include "libcore/cluster/master/epoch/sharing/sharing_rounds.h"

namespace dl::cluster {

class SharingEpoch : public Phase {
 public:
  explicit SharingEpoch(RunContext& context);

  void tick() override;
  void take(Member& member, const Message& message) override;
  bool done() const override { return stage_ == Stage::kDone; }
  bool at_boundary() const override { return true; }
  void settle() override;
  void wind_up() override;
  std::int64_t owed_by(const Member& member) const override;
  void renumber(std::uint64_t old, Member& member) override;
  Ranges committed() const override { return table_.committed_ranges(); }

 protected:
  LeaseTable& table() override { return table_; }
  data::Epoch& order() override { return order_; }
  // A synchronous round may have waited for the condemned mini-batch alone.
  void note_condemned() override {
    if (rounds_ && rounds_->synchronous()) apply_round();
  }

 private:
  enum class Stage { kTraining, kDraining, kDone };

  bool bound_moves();
  void bring_up_to_date();
  void set_statistics(std::vector<float> mean);
  void hand_out(bool all);
  void fill(Member& member);
  void hand_out_freely();
  void hand_out_rounds();
  void speculate();
  bool has_room(const Member& member) const;
  Member* who_does(std::int64_t batch, const std::vector<Member*>& workers);
  std::optional<Lease> next_for(const Member& member, std::int64_t most,
                                std::int64_t end = INT64_MAX);
  std::int64_t leases_to_do(const Member& member) const;
  bool grant(Member& member, const std::optional<Lease>& lease);
  std::int64_t iteration_of(std::int64_t batch) const;
  std::int64_t steps() const { return iteration_of(table_.committed()); }
  std::int64_t lease_size(const Member& member) const;
  double seconds_left(const std::vector<Member*>& workers) const;

  // An update's way: take_update() checks it, apply() makes it part of the run
  // and its log, spread() tells everybody.
  void take_update(Member& member, Update update);
  std::string fault_of(const Update& update, float scale);
  void apply_or_reject(Member& origin, const Update& update,
                       std::uint64_t newest);
  double worth_of(const Update& update, std::uint64_t others) const;
  exchange::GradientDiversity* measured_diversity();
  void compare_round(const std::vector<SharingRounds::Held>& round);
  void apply(Member& origin, const Update& update, float scale,
             std::uint64_t staleness);
  void apply_round();
  double share_of(std::uint64_t staleness) const;
  double scale_of(std::uint64_t staleness) const;
  LogEntry entry_of(const Member& origin, const Update& update, float scale,
                    std::uint64_t staleness) const;
  void spread(const Member& origin, const Update& update, float scale);
  void take_done(Member& member, TaskDone done);

  void begin_check();
  Check check_message() const;
  bool ask_again(Member& member);
  void take_digest(Member& member, Digest answer);
  void follow_check();
  void miss(const std::set<std::uint64_t>& silent);
  void end_check();

  data::Epoch order_;
  LeaseTable table_;
  Stage stage_ = Stage::kTraining;
  double next_look_ = 0;           // time of the next look at all members
  std::set<std::uint64_t> spoke_;  // members heard since the last tick()
  // As of the last look: number of members that could work, number of members
  // that share the rest of the epoch, and time when they end it; 0: not known.
  std::size_t workers_ = 0, share_ = 1;
  double ends_ = 0;
  // Number of others in the present synchronous round.
  std::uint64_t beside_ = 0;
  std::optional<SharingRounds> rounds_;  // set if staleness is bounded
  std::int64_t limit_ = 0;  // end of the mini-batches that may be begun
  StalenessSummary staleness_;
  std::optional<Agreement> check_;  // comparison under way
  std::uint64_t updater_of_ = 0;    // member whose updater state it wants
  std::int64_t unchecked_ = 0;  // mini-batches committed since the last Check
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_MASTER_H_
