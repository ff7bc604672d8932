// Comparison of a command with the run that it resumes.

#include "libcore/cluster/run_config/continuation.h"

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/cluster/run_dir/early_stopping.h"
#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

void keep_defaults(const Json& before, const MasterOptions& options,
                   Settings& settings, bool& keep_best) {
  const Json::json_pointer workers("/settings/averaging/workers");
  if (options.averaging.workers == 0 && before.contains(workers))
    settings.averaging.workers =
        JsonView(before.at(workers), Code::kData, workers.to_string())
            .integer(0, kMostCounted);
  const Json::json_pointer alone("/settings/averaging/alone");
  if (settings.mode == Mode::kAveraging &&
      before.value(alone, Json()) == Json(true))
    settings.averaging.alone = true;
  const Json::json_pointer combine("/settings/sharing/combine"),
      threshold("/settings/sharing/threshold"),
      in_flight("/settings/sharing/in_flight");
  const auto view = [&](const Json::json_pointer& key) {
    return JsonView(before.at(key), Code::kData, key.to_string());
  };
  if (options.lr_warmup < 0) {
    const Json::json_pointer warmup("/settings/lr_warmup");
    settings.lr_warmup =
        before.contains(warmup) ? view(warmup).integer(0, kMostCounted) : 0;
  }
  const SharingOptions usual;
  if (options.sharing.combine == usual.combine && before.contains(combine))
    settings.sharing.combine = enum_of(view(combine), kCombineNames);
  if (options.sharing.threshold == usual.threshold &&
      before.contains(threshold))
    settings.sharing.threshold =
        exchange::ThresholdRule::from_json(view(threshold));
  if (options.sharing.in_flight == 0 && before.contains(in_flight))
    settings.sharing.in_flight = view(in_flight).integer(1, 1024);
  if (options.keep.empty() && before.contains("keep") &&
      before.at("keep") == "best")
    keep_best = true;
}

void decide_whether_finished(RunState& state, const Settings& settings,
                             double max_time, const std::string& folder) {
  const std::int64_t begun = state.epoch + (state.committed.empty() ? 0 : 1);
  if (begun > settings.epochs)
    throw Error{Code::kConfig,
                "'" + displayed(folder) + "' holds a run that is at epoch " +
                    std::to_string(begun) + ", more than --epochs " +
                    std::to_string(settings.epochs) +
                    "; --fresh starts over, --run takes another folder"};
  const bool time_is_over = state.finished && state.reason == kTimeIsOver &&
                            max_time > 0 && state.elapsed >= max_time;
  state.reason.clear();
  if (state.epoch < settings.epochs) {
    if (!state.early_stopping.is_null())
      state.reason =
          early_stopping_of(settings, state).verdict(settings.metric);
    if (state.reason.empty() && time_is_over) state.reason = kTimeIsOver;
  }
  state.finished = state.epoch >= settings.epochs || !state.reason.empty();
}

}  // namespace dl::cluster
