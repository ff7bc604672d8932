// What the parts of a master share: settings, members, the run's state, its
// history, and the way to send.

#ifndef DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_
#define DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/master/averaging/slot_owners.h"
#include "libcore/cluster/master/lease.h"
#include "libcore/cluster/master/line_limit.h"
#include "libcore/cluster/master/master_link.h"
#include "libcore/cluster/master/membership.h"
#include "libcore/cluster/master/sharing/caution.h"
#include "libcore/cluster/master/sharing/update_check.h"
#include "libcore/cluster/report/report.h"
#include "libcore/cluster/settings/limits.h"
#include "libcore/cluster/settings/settings.h"
#include "libcore/cluster/store/events.h"
#include "libcore/cluster/store/run_state.h"
#include "libcore/cluster/store/update_log.h"
#include "libcore/cluster/tree/feed.h"
#include "libcore/data/epoch.h"
#include "libcore/eval/outputs.h"
#include "libcore/exchange/gradient_diversity.h"
#include "libcore/nn/config.h"

namespace dl::cluster {

class RunContext {
 public:
  RunContext(Settings settings, Limits limits, std::string run,
             std::uint64_t incarnation, EventLog& events, MasterLink& link,
             Log log);

  const Settings settings;
  const Limits limits;
  const std::string run;  // id of this master's start
  const std::uint64_t incarnation;
  EventLog& events;
  MasterLink& link;
  const Log log;

  UpdateLog* updates = nullptr;  // null: not logged

  data::Catalogue training, evaluation;
  std::vector<std::string> training_files, evaluation_files;  // their names
  RunState state;
  std::optional<double> loss_of_chance;             // divergence.h
  std::optional<nn::UpdaterConfig> shared_updater;  // if gradients are shared
  Membership members;
  FeedSource feed;
  SlotOwners slots;                                      // averaging
  UpdateCheck update_check;                              // sharing
  std::optional<exchange::GradientDiversity> diversity;  // ... if it counts
  Caution caution;                                       // beside it
  Report report;
  // Looks at a record of the run's data as workers do.  Throws Error: kData,
  // "'x.dls', record 17: ...", it is of no use; kNoInput, kIo, kProtocol.
  std::function<void(const Fetch&)> examine;
  std::optional<Error> failure;     // see fail()
  std::optional<Error> gone_wrong;  // see reject(); without a remedy
  bool save_soon = false;           // a checkpoint is due now
  int reduce_failures = 0;  // averaging: sums by workers that failed in a row
  double now = 0;           // monotonic, as of the message in hand
  std::uint64_t next_lease = 1;
  std::uint64_t checks = 0;    // sharing: comparisons of replicas so far
  std::uint64_t averages = 0;  // ... and Statistics told
  std::vector<std::uint64_t> sharing_owners;  // sharing_rounds.h
  // Averaging: what parameters digest to after the last rounds, by version.
  // Two are open, and one is told of later by who waits with it.
  static constexpr std::size_t kRoundDigests = 8;
  std::map<std::uint64_t, std::uint64_t> round_digests;
  std::size_t updater_elements = 0;  // sharing: of a worker's updater
  eval::Subjects subjects;           // of evaluations

  // False: it did not go out; the member is left alone for a moment.
  // feed: as Envelope's.
  bool send(Member& member, const Message& message, std::uint64_t feed = 0);

  // The message follows the state's last step: adds it to the feed and sends it
  // to all members that are in step and that nobody else feeds.  Those whom it
  // does not reach are out of step; they are returned.
  std::vector<Member*> tell_all(const Message& message);
  // for_origin: what that member gets in its place, in a star.
  std::vector<Member*> tell_all(const Message& message, std::uint64_t origin,
                                const Message& for_origin);
  // Sends what the member missed of the feed in (after, upto], or makes it out
  // of step.
  void refill(Member& member, std::uint64_t after, std::uint64_t upto);
  // The member is fed by the master itself from now on.
  void unseat(Member& member);

  // Sends State unless the member has the current one; or, to a replica that
  // comes back, the updates that it missed, if they are known and fewer bytes.
  // False: not possible now.
  bool bring_up_to_date(Member& member);

  // Takes in Beat.exchange, and writes an event of it when one is due.
  void note_exchange(const Member& member, const Json& exchange);
  void write_exchange(std::uint64_t worker, bool all);

  // Grants of every kind of work go out through here: sends the task or takes
  // the lease back.
  bool hand_out(Member& member, LeaseTable& table, const Lease& lease,
                TaskKind kind, std::int64_t iteration, const Slot& slot = {});

  // A lease ends before its work is done.  why: "revoke" events say so.
  void revoke(Member& member, LeaseTable& table, const Lease& lease,
              const std::string& why, bool failed);

  // Work that came too late is refused.  Throws Error: kProtocol, there never
  // was such a lease.
  void refuse(Member& member, std::uint64_t lease, std::uint64_t fence,
              std::int64_t batch = -1);

  // Throw Error: kProtocol, the lease was given to nobody; the member was asked
  // for no other Digest.
  void require_given(std::uint64_t lease) const;
  void count_digest(Member& member) const;
  // A replica is not what it should be: counts it, and takes the member out of
  // step.  what: "update 7".
  void note_difference(Member& member, const std::string& what,
                       std::uint64_t digest, std::uint64_t want);

  // A loss, an update or a replica that is not finite, or not what it should
  // be; batch -1: a message as such.  Others get the work first then, and after
  // kMostRejections in a row, or as many wrong messages, the member is faulty.
  // Where it is not them but the parameters, gone_wrong says so.
  // Throws Error: `code`, three workers were rejected for this mini-batch
  // alone, or nobody else is there.
  void reject(Member& member, std::int64_t batch, const std::string& why,
              Code code = Code::kConfig);
  // As if none had ever been rejected.
  void forgive();
  // Counts and records that the member gave a mini-batch back.
  void note_fault(const Member& member, std::int64_t batch,
                  const std::string& why);
  // The run ends with this error, once its state is saved.
  void fail(Error error);
  // A good answer: counts and records the commit.  more: of its event.
  void accept(Member& member, const Lease& lease, std::int64_t first,
              std::int64_t count, std::int64_t examples, double loss_sum,
              std::size_t bytes, const Json& more = Json::object());

  static constexpr const char* kRejectionRemedy =
      "; lower the learning rate or look at the data";
  static constexpr int kMostRejections = 8;
  static constexpr int kRejectionsTold = 10;     // in a minute
  static constexpr std::size_t kMostDoubts = 3;  // workers, for a mini-batch
  static constexpr std::size_t kMostLosses = 3;  // likewise

 private:
  bool nobody_can_train(std::int64_t batch, Code code);
  bool catch_up(Member& member);

  bool anybody_but(const Member& member);

  std::uint64_t sequence_ = 0;
  // Of this epoch: of which parties the answer for a mini-batch was rejected.
  std::int64_t doubts_epoch_ = 0;
  std::map<std::int64_t, std::set<std::uint64_t>> doubts_;
  LineLimit rejections_told_{kRejectionsTold};
};

bool all_finite(const std::vector<float>& values);
// Whether a loss, summed over so many examples, is one that can be added up.
bool sound_loss(double loss_sum, std::int64_t examples);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_
