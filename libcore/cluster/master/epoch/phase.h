// A part of an epoch whose work is leased out: training in one of the modes,
// or evaluation.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_PHASE_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_PHASE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/master/health/losses.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

// Interval between two looks at all members, in seconds for each member.
constexpr double kLookForMember = 20e-6;

class Phase {
 public:
  explicit Phase(RunContext& context) : context_(context) {}
  virtual ~Phase() = default;
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  // Hands out work and handles what is due by time.
  virtual void tick() = 0;

  // Handles a Result, Update, TaskDone, Fault or Digest of a member.
  // Throws Error: kProtocol, the message itself is wrong; kConfig or kData, the
  // run must stop.
  virtual void take(Member& member, const Message& message) = 0;

  // Ends the member's leases.  failed: it died or stood still over them.
  virtual void release(Member& member, const std::string& why, bool failed);
  // Notes that the member which had this number, and whose leases have ended,
  // is back with another number: the same process on a new connection.
  virtual void renumber(std::uint64_t old, Member& member);
  virtual bool working(const Member& member) const;
  // Whether some of that work waits for no other worker, so that the member
  // stands still if it does not move.
  virtual bool can_move(const Member& member) const { return working(member); }
  // Number of mini-batches in the next answer that the member owes and can give
  // without waiting for others; 0 if it owes none, or that is not known.
  virtual std::int64_t owed_by(const Member& member) const;

  // Grants no new work; done() is true once the work under way is finished.
  virtual void wind_up() { winding_up_ = true; }
  virtual bool done() const = 0;

  // Whether context.state may be saved now, together with committed(), once
  // settle() has added to it what members know.
  virtual bool at_boundary() const = 0;
  virtual void settle() {}
  // Whether vectors of the state are being made beside it, which then must stay
  // as it is; settle() ends that.
  virtual bool closing() const { return false; }
  virtual Ranges committed() const = 0;
  // The mini-batches left out so far because of bad shards.
  Ranges passed_over() const { return table().passed_over_ranges(); }
  std::int64_t batches() const { return table().batches(); }

  // Notes that the process was not lost after all: no mini-batch killed it.
  void forgive(std::uint64_t process) { losses_.forgive(process); }

 protected:
  virtual LeaseTable& table() = 0;
  virtual data::Epoch& order() = 0;
  virtual bool is_evaluation() const { return false; }
  // The mini-batch from which on shards that go bad at this mini-batch are left
  // out.
  virtual std::int64_t leaves_out_from(std::int64_t batch) const;
  // Called after mini-batches were condemned.
  virtual void note_condemned() {}
  // Condemns the mini-batches that the run's state passes over.
  void condemn_bad();
  const LeaseTable& table() const { return const_cast<Phase*>(this)->table(); }
  // Sends the task of a lease, or takes the lease back.
  bool send_task(Member& member, const Lease& lease, std::int64_t iteration,
                 const Slot& slot = {});
  // Whether the member may do these mini-batches, as far as others were lost
  // with them.
  bool may_do(const Member& member, std::int64_t first,
              std::int64_t count = 1) const;
  // Ends a lease before its work is done.  why: reason for the "revoke" event.
  void revoke(Member& member, const Lease& lease, const std::string& why,
              bool failed);
  // Whether something may be sent to the member now.
  bool reachable(const Member& member) const {
    return member.can_work() && member.retry <= context_.now;
  }
  // Handles messages that this phase does not expect: refuses the answer to
  // work of an earlier one, and passes over what else may come late. Throws
  // Error: kProtocol, no worker that goes by the protocol sends it.
  void refuse_late(Member& member, const Message& message);
  // Averaging: handles a Digest which says that the member's replica differs.
  void take_difference(Member& member, const Digest& digest);
  // Counts a Fault and gives the work back.  If the record is of no use to the
  // master either, its shard is bad; otherwise the worker is unfit.
  void take_fault(Member& member, const Fault& fault);

  // bad_data.cpp.  The answer for these mini-batches, which no lease holds any
  // more, is no good: their data's fault, if one has a record that is out of
  // all proportion, and otherwise the worker's (ResultHandler::reject()).
  void reject(Member& member, std::int64_t first, std::int64_t count,
              const std::string& why);

  // speculation.cpp.  Leases without a copy whose workers need much longer for
  // them than usual.  usual: seconds for a mini-batch, by others than this
  // member; 0: not known.
  std::vector<Lease> overdue(const std::function<double(const Member&)>& usual);
  // The fastest member that has nothing to do, brought up to date; null if
  // there is none.
  Member* idle_worker();
  // Ends the copy of a lease of which something was committed.  Call before the
  // lease itself ends.
  void end_twin(const Lease& lease);

  RunContext& context_;
  bool winding_up_ = false;
  Losses losses_;

 private:
  // bad_data.cpp
  void take_bad_record(Member& member, const Fault& fault);
  bool set_aside_odd(std::int64_t batch);
  void count_loss(const Member& member, const Lease& lease,
                  const std::string& why);
  void blame_data(const Member& member, std::int64_t batch,
                  const std::string& why);
  void set_aside(std::int64_t batch, std::span<const std::uint32_t> shards,
                 const std::string& why);
  std::string contents_of(std::int64_t batch);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_PHASE_H_
