// State that the parts of a master share: settings, members, the run's state
// and its history, what is sent and what becomes of answers.

#ifndef DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_
#define DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/health/caution.h"
#include "libcore/cluster/health/told_losses.h"
#include "libcore/cluster/master/epoch/averaging/result_audit.h"
#include "libcore/cluster/master/epoch/averaging/slot_owners.h"
#include "libcore/cluster/master/health/update_check.h"
#include "libcore/cluster/master/link/master_link.h"
#include "libcore/cluster/master/link/message_sender.h"
#include "libcore/cluster/master/link/result_handler.h"
#include "libcore/cluster/master/members/membership.h"
#include "libcore/cluster/report/report.h"
#include "libcore/cluster/run_dir/events.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log.h"
#include "libcore/cluster/settings/limits.h"
#include "libcore/cluster/settings/settings.h"
#include "libcore/cluster/tree/feed.h"
#include "libcore/data/epoch.h"
#include "libcore/eval/outputs.h"
#include "libcore/exchange/rules/gradient_diversity.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

class Phase;

struct RunContext {
  RunContext(Settings settings, Limits limits, std::string run,
             std::uint64_t incarnation, EventLog& events, MasterLink& link,
             Log log);
  ~RunContext();

  const Settings settings;
  const Limits limits;
  const std::string run;  // id of this start of the master
  const std::uint64_t incarnation;
  EventLog& events;
  MasterLink& link;
  const Log log;

  UpdateLog* updates = nullptr;  // null if updates are not logged

  data::Catalogue training, evaluation;
  // Names of the shards.
  std::vector<std::string> training_files, evaluation_files;
  RunState state;
  std::optional<double> loss_of_chance;  // nn/data/baseline_loss.h
  double accuracy_of_chance = 0;         // baseline of the metric
  std::string remedy_of_scale;           // final_warnings.h
  // Set if gradients are shared.
  std::optional<nn::UpdaterConfig> shared_updater;
  Membership members;
  FeedSource feed;
  SlotOwners slots;          // owners of slots, in averaging
  UpdateCheck update_check;  // checks of Updates, in sharing
  // Diversity, if it counts.
  std::optional<exchange::GradientDiversity> diversity;
  Caution caution;  // caution beside diversity
  ToldLosses told_losses;
  ResultAudit audit;  // audit of Results, in averaging
  Report report;
  // Looks at a record of the run's data as workers do.  Throws Error: kData,
  // "'x.dls', record 17: ...", the record is of no use; kNoInput, kIo,
  // kProtocol.
  std::function<void(const Fetch&)> examine;
  // Whether examples of the training data are out of all proportion to others:
  // "'x.dls', record 17, ..."; "": none.  Throws as examine.
  std::function<std::string(const data::ExampleRun&)> odd_values =
      [](const data::ExampleRun&) { return std::string(); };
  // The loss of the present parameters, or nothing if it is not known.
  std::function<std::optional<OwnLoss>()> own_loss =
      []() -> std::optional<OwnLoss> { return std::nullopt; };
  // The loss of these parameters and statistics, on fewer mini-batches.
  std::function<std::optional<OwnLoss>(std::span<const float>,
                                       std::span<const float>)>
      loss_of = [](std::span<const float>,
                   std::span<const float>) -> std::optional<OwnLoss> {
    return std::nullopt;
  };
  // The same of the parameters that the run began with.
  std::function<std::optional<OwnLoss>()> loss_at_start =
      []() -> std::optional<OwnLoss> { return std::nullopt; };
  // Takes Spreads of workers; empty: they are not asked for.
  std::function<void(const Spreads&)> take_spreads;
  std::optional<Error> failure;     // see fail()
  std::optional<Error> gone_wrong;  // see result_handler.h; names no remedy
  bool save_soon = false;           // a checkpoint is due now
  // Averaging: seconds of a mini-batch of the only replica.
  double alone_seconds = 0;
  // Averaging: number of sums by workers that failed in a row, and the time for
  // which the master therefore makes all sums.
  struct {
    int failures = 0;
    double pause = 0, not_before = 0;
  } reduction;
  double now = 0;  // monotonic time of the message in hand
  std::uint64_t next_lease = 1;
  std::int64_t absent = 0;  // number of limits.min_workers that will not come
  // Sync: the members that average among themselves, as they were told last.
  struct {
    std::uint64_t id = 0, reporter = 0;
    std::vector<std::uint64_t> members;
  } parties;
  std::size_t counted = 0;   // sharing: latest number of Membership::counted()
  std::uint64_t checks = 0;  // sharing: number of comparisons of replicas
  std::uint64_t averages = 0;  // sharing: number of Statistics sent
  // Owners of slots, sharing_rounds.h.
  std::vector<std::uint64_t> sharing_owners;
  // Averaging: digests of the parameters after the last rounds, by version. Two
  // rounds are open, and a worker may report one later.
  static constexpr std::size_t kRoundDigests = 8;
  std::map<std::uint64_t, std::uint64_t> round_digests;
  // Sharing: elements of a worker's updater state.
  std::size_t updater_elements = 0;
  eval::Subjects subjects;  // subjects of evaluations

  MessageSender outgoing{*this};
  ResultHandler answers{*this};
  std::unique_ptr<Phase> phase;  // present phase; null if there is none

  // Adds Beat.exchange up, and writes an "exchange" event when one is due.
  void note_exchange(const Member& member, const Json& exchange);
  void write_exchange(std::uint64_t worker, bool all);

  // Ends the run with this error once its state is saved.
  void fail(Error error);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_RUN_CONTEXT_H_
