// The hub of a master: takes messages and the passing of time to the parts that
// they concern, and stops the run when it is asked to.
//
// It is driven from outside: handle() for each message, tick() a few times a
// second.  It knows neither sockets nor files nor networks, so a test drives
// it with simulated workers and a clock of its own.

#ifndef DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_
#define DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/master/checkpointer.h"
#include "libcore/cluster/master/epoch/epochs.h"
#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/master/hooks.h"
#include "libcore/cluster/master/link/feed_tree.h"
#include "libcore/cluster/master/link/record_server.h"
#include "libcore/cluster/master/members/admission.h"
#include "libcore/cluster/master/members/member_watch.h"
#include "libcore/cluster/master/members/worker_wait.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class Coordinator {
 public:
  // Goes on from context.state.  waiting_since: for workers.
  Coordinator(RunContext& context, Hooks hooks, double now,
              double waiting_since);

  // Throws Error: the run must end; its code and message say how.
  void handle(const RouterSocket::Incoming& incoming, double now);
  void tick(double now);
  // The caller did neither for so long: what came meanwhile is not read yet.
  void stood_still(double seconds, double now);

  // Saves and ends as soon as what was begun is in, at the latest after the
  // time of grace.
  void stop(const std::string& reason, double now);
  // All members are to say Hello again: the tree has another key.
  void join_again(const std::string& why);
  // The process that was the worker of that name is no more; pid: of this host,
  // or 0.
  void lost_process(const std::string& name, std::int64_t pid,
                    const std::string& how, double now);

  bool finished() const { return context_.state.finished; }
  bool stopped() const { return stopped_; }  // saved, to be gone on with
  const std::string& stop_reason() const { return stop_reason_; }

  // The keys of one use that were used are of no use any more.
  void retire_keys() { admission_.retire_keys(); }

  bool evaluating() const { return course_.evaluating(); }

 private:
  void take(Member& member, const Message& message);
  void take_ready(Member& member, Ready ready);
  void take_beat(Member& member, const Beat& beat);
  void take_leave(Member& member, const Leave& leave);
  void note_return(const Member& member, const char* how);

  bool stopping() const { return !stop_reason_.empty(); }
  void settle_bad_data();
  void tick_stopping();

  RunContext& context_;
  const Hooks hooks_;
  MemberWatch watch_;
  Admission admission_;
  RecordServer records_;
  FeedTree feed_tree_;
  WorkerWait wait_;
  Checkpointer checkpoints_;
  Epochs course_;

  const double started_, elapsed_before_;
  std::string stop_reason_;  // not empty: stopping
  double stop_deadline_ = 0;
  bool stopped_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_
