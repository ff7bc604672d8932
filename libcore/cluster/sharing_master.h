// Gradient sharing: one epoch of it.
//
// The master holds the parameters.  Each update that it accepts is applied
// here, gets the next sequence number and goes to every worker in that order,
// so all replicas do the same additions in the same order and stay equal to
// the last bit.  Once every mini-batch is committed the workers say what their
// replicas digest to; one that differs is sent the State.

#ifndef DL_LIBCORE_CLUSTER_SHARING_MASTER_H_
#define DL_LIBCORE_CLUSTER_SHARING_MASTER_H_

#include <map>
#include <set>
#include <vector>

#include "libcore/cluster/phase.h"

namespace dl::cluster {

class SharingEpoch : public Phase {
 public:
  explicit SharingEpoch(RunContext& context);

  void tick() override;
  void take(Member& member, const Message& message) override;
  bool done() const override { return stage_ == Stage::kDone; }
  bool at_boundary() const override { return true; }
  void settle() override;
  Ranges committed() const override { return table_.committed_ranges(); }

 protected:
  LeaseTable& table() override { return table_; }

 private:
  enum class Stage { kTraining, kDraining, kDone };

  void hand_out();
  std::int64_t lease_size(const Member& member) const;

  void take_update(Member& member, const Update& update);
  std::string fault_of(const Update& update) const;
  void spread(Member& origin, const Update& update, float scale);
  void take_done(Member& member, TaskDone done);

  void begin_drain();
  void take_drained(Member& member, Drained drained);
  void end_drain();

  data::Epoch order_;
  LeaseTable table_;
  Stage stage_ = Stage::kTraining;
  double drain_began_ = 0;
  std::uint64_t digest_ = 0;
  std::set<std::uint64_t> awaited_;           // members, while draining
  std::map<std::uint64_t, Drained> drained_;  // by member
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SHARING_MASTER_H_
