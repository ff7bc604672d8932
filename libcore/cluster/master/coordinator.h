// The course of a run: gathers workers, takes the epochs through training and
// evaluation, watches members and limits, saves, and ends.
//
// It is driven from outside: handle() for each message, tick() a few times a
// second.  It knows neither sockets nor files nor networks, so a test drives
// it with simulated workers and a clock of its own.

#ifndef DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_
#define DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/master/evaluation_master.h"
#include "libcore/cluster/master/feed_tree.h"
#include "libcore/cluster/master/line_limit.h"
#include "libcore/cluster/master/phase.h"
#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/report/estimate.h"
#include "libcore/cluster/store/early_stopping.h"

namespace dl::cluster {

// What the coordinator has others do.
struct Hooks {
  std::function<Welcome()> welcome;   // worker's number is filled in
  std::function<std::string()> save;  // context.state; returns a name
  std::function<void()> keep_best;    // the model as it is now
  std::function<std::vector<std::byte>(const Fetch&)> record;
  std::vector<HostFigures>* measured = nullptr;  // instead of training
  // Where the run may go on that went wrong; nothing: nowhere.
  std::function<std::optional<RunState>()> go_back = nullptr;
  // Where the model of a version is, or of one before it, as a clause; "":
  // nowhere.
  std::function<std::string(std::uint64_t)> where_model = nullptr;
  // A worker computes with these instructions.
  std::function<void(const std::string&)> computes_with = nullptr;
};

class Coordinator {
 public:
  // Goes on from context.state.
  Coordinator(RunContext& context, Hooks hooks, double now);

  // Throws Error: the run must end; its code and message say how.
  void handle(const RouterSocket::Incoming& incoming, double now);
  void tick(double now);

  // Saves and ends as soon as what was begun is in, at the latest after the
  // time of grace.
  void stop(const std::string& reason, double now);
  // All members are to say Hello again: the tree has another key.
  void join_again();
  // A process of this host that was the worker of that name is no more.
  void lost_process(const std::string& name, std::int64_t pid,
                    const std::string& how, double now);

  bool finished() const { return context_.state.finished; }
  bool stopped() const { return stopped_; }  // saved, to be gone on with
  const std::string& stop_reason() const { return stop_reason_; }

  // Tells all members that the run is over for them.  They answer with Leave:
  // a process that ended before could take the news down with its connections.
  void dismiss(int code, const std::string& reason);
  bool all_left() const;
  // After dismiss(): instead of handle().
  void take_farewell(const RouterSocket::Incoming& incoming);
  // The keys of one use that were used are of no use any more.
  void retire_keys();

  std::int64_t batches_left() const { return phase_ ? phase_->left() : 0; }
  bool evaluating() const { return evaluation_ != nullptr; }

 private:
  static constexpr int kRefusalsTold = 20;  // in a minute

  void send_away(const RouterSocket::Incoming& incoming);
  void admit(const RouterSocket::Incoming& incoming);
  void tell_refusal(const std::string& why);
  void claim_key(const std::string& key, std::uint64_t process);
  void retire_key_of(std::uint64_t process);
  void retire_key(const std::string& key);
  std::string instructions_of(const Member& member) const;
  void note_instructions(const Member& newcomer);
  void probe_namesake(const Member& newcomer);
  void take(Member& member, const Message& message);
  // Throws Error: kProtocol, there is no such record.
  void require_record(bool evaluation, std::uint32_t shard,
                      std::uint32_t record) const;
  void take_fetch(Member& member, const Fetch& fetch);
  void serve(Member& member);
  void serve(Member& member, const Fetch& fetch);
  // failed: it may have been its work.
  void lose(Member& member, const std::string& why, bool gone,
            bool failed = true);

  void put_out(Member& member);
  void watch_members();
  void watch_stragglers();
  bool gathered();
  void settle_bad_data();
  void watch_training();
  void watch_score();
  void write_divergence(const std::string& what, std::string_view action);
  void note_divergence(const std::string& what);
  bool go_back(const std::string& why);
  void take_back(RunState state);
  void watch_for_workers();
  void watch_time();
  void say_waiting(const std::string& what, double left);

  void begin_epoch();
  void advance();
  void end_untrained();
  void end_epoch(const EvaluationRound::Evaluations& evaluations);
  double score(const EvaluationRound::Evaluations& evaluations) const;
  bool epoch_checkpoint_is_due() const;
  void checkpoint_if_due();
  void checkpoint();

  RunContext& context_;
  Stop farewell_;
  Hooks hooks_;
  EarlyStopping early_stopping_;
  FeedTree feed_tree_;
  // Keys of one use, and whose they are, or were: Hello.process.
  std::map<std::string, std::uint64_t> once_;
  std::unique_ptr<Phase> phase_;
  EvaluationRound* evaluation_ = nullptr;  // phase_, if it is one
  Json passed_over_;                       // of the epoch, once it is trained

  double started_, elapsed_before_;
  double alone_since_;  // no worker since
  bool gathered_ = false;
  double said_waiting_ = 0;
  double last_checkpoint_;
  LineLimit refusals_{kRefusalsTold};
  std::uint64_t batches_at_checkpoint_ = 0;
  std::uint64_t logged_at_checkpoint_ = 0;  // bytes of the log
  int failed_checkpoints_ = 0;              // in a row
  std::string stop_reason_;                 // not empty: stopping
  double stop_deadline_ = 0;
  bool time_is_up_ = false;
  bool said_wrong_ = false;  // that training goes wrong
  bool stopped_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_COORDINATOR_H_
