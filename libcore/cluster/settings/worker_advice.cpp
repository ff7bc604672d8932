// Advice on the number of workers before training begins.

#include "libcore/cluster/settings/worker_advice.h"

#include <algorithm>

#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

// With more workers than that, stale updates that are all added up have
// destroyed models: dl-exchange(7).
constexpr std::int64_t kMostForSum = 8;
// From so many on, averages learn less from an epoch than one worker does.
constexpr std::int64_t kManyReplicas = 8;

bool adds_up_stale(const Settings& settings) {
  const SharingSettings& sharing = settings.sharing;
  return settings.mode == Mode::kSharing && !sharing.staleness &&
         sharing.combine == Combine::kSum &&
         sharing.staleness_rule.kind == exchange::StalenessRule::Kind::kNone;
}

std::string averaging_advice(const AveragingSettings& how, std::int64_t workers,
                             std::int64_t batches) {
  const std::int64_t replicas = how.workers > 0 ? how.workers : workers;
  const std::int64_t slots = (batches + how.frequency - 1) / how.frequency;
  if (slots >= replicas)
    return replicas < kManyReplicas
               ? ""
               : counted(replicas, "worker") +
                     " whose parameters are averaged learn less from an epoch "
                     "than one: take more epochs, fewer workers, or --mode "
                     "sharing, see dl-exchange(7)";
  const std::int64_t fits = std::max<std::int64_t>(1, batches / replicas);
  return "an epoch of " + counted(batches, "mini-batch") + " keeps " +
         std::to_string(slots) + " of " + counted(replicas, "worker") +
         " busy, as each takes " + std::to_string(how.frequency) +
         " in a round; --frequency " + std::to_string(fits) +
         " or less has work for " +
         (batches < replicas ? "as many as there can be" : "all");
}

}  // namespace

std::string together(const Settings& settings, std::int64_t workers) {
  if (workers < 2) return "";
  const SharingSettings& sharing = settings.sharing;
  const bool sync = settings.mode == Mode::kSync;
  const std::int64_t slots = sync && settings.averaging.workers > 0
                                 ? settings.averaging.workers
                                 : workers;
  std::string text = counted(workers, "worker") + " train " +
                     counted(slots * settings.batch, "example") + " at a time";
  if (settings.mode == Mode::kAveraging) return text;
  if (sync || sharing.staleness == 0) return text + ", as one mini-batch";
  if (sharing.staleness)
    return text + ", none from parameters that are more than " +
           counted(*sharing.staleness, "round") + " old";
  const std::int64_t most = workers * sharing.in_flight - 1;
  return text + "; an update is some " + std::to_string(workers - 1) +
         (most > workers - 1 ? " to " + std::to_string(most) : "") +
         (most > 1 ? " updates" : " update") + " old when it is applied";
}

std::string worker_advice(const Settings& settings, std::int64_t workers,
                          std::int64_t batches) {
  if (workers < 2 || batches < 1) return "";
  if (settings.mode == Mode::kAveraging)
    return averaging_advice(settings.averaging, workers, batches);
  if (batches < workers)
    return "an epoch has " + counted(batches, "mini-batch") + " for " +
           counted(workers, "worker") + "; take fewer, or a smaller --batch";
  if (!adds_up_stale(settings) || workers <= kMostForSum) return "";
  return together(settings, workers) +
         ", and all are added up: this many often undo what was learnt; "
         "--combine diversity (the default), --staleness 0, or averaging with "
         "an outer optimizer (--mode averaging --outer nesterov) hold, see "
         "dl-exchange(7)";
}

}  // namespace dl::cluster
