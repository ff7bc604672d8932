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
  // Continues from context.state.  waiting_since: begin of the wait for
  // workers.
  Coordinator(RunContext& context, Hooks hooks, double now,
              double waiting_since);

  // Throws Error: the run must end, with this code and message.
  void handle(const RouterSocket::Incoming& incoming, double now);
  void tick(double now);
  // The caller called neither for so long: messages of that time are not read
  // yet.
  void stood_still(double seconds, double now);

  // Saves and ends as soon as the work under way is done, at the latest after
  // the time of grace.
  void stop(const std::string& reason, double now);
  // Has all members say Hello again, as the tree has another key.
  void join_again(const std::string& why);
  // The process of the worker with this name has ended; pid: process id if it
  // was on this host, else 0.
  void lost_process(const std::string& name, std::int64_t pid,
                    const std::string& how, double now);

  bool finished() const { return context_.state.finished; }
  bool stopped() const { return stopped_; }  // saved, to be resumed
  const std::string& stop_reason() const { return stop_reason_; }

  // Makes the keys for one process that were used invalid.
  void retire_keys() { admission_.retire_keys(); }

  bool evaluating() const { return course_.evaluating(); }

 private:
  void take(Member& member, const Message& message);
  void take_ready(Member& member, Ready ready);
  void count_beats(Member& member, int beats) const;
  void take_spreads(Member& member, const Spreads& spreads);
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
  std::string stop_reason_;  // reason while stopping, else ""
  double stop_deadline_ = 0;
  bool stopped_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_
