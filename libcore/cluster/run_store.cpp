#include "libcore/cluster/run_store.h"

#include <filesystem>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/replay.h"

namespace dl::cluster {

RunStore::RunStore(const MasterOptions& options, const Log& log)
    : options_(options),
      log_(log),
      directory_(options.run.empty() ? options.output + ".run" : options.run,
                 options.fresh),
      policy_(limits_of(options).update_log) {}

RunState RunStore::take_up(const Plan& plan) {
  plan_ = &plan;
  known_ = std::filesystem::exists(directory_.file("run.json"));
  directory_.settle(plan.configuration());
  RunState state;
  if (auto found = directory_.newest(log_)) {
    state = state_of(found->model, directory_.file(found->name));
    checkpoint_ = found->name;
    last_saved_ = state.version;
  } else {
    state.parameters = plan.model.parameters;
    state.statistics = plan.model.statistics;
    state.updater_state = plan.model.updater_state;
  }
  if (plan.settings.mode == Mode::kSharing && !state.fasgd &&
      plan.settings.sharing.staleness_rule.kind ==
          exchange::StalenessRule::Kind::kFasgd)
    state.fasgd.emplace(state.parameters.size());
  identity_ = log_identity(path(), state.parameters.size());
  replayed_ = replay(path(), identity_, state, kLastUpdate, log_);
  if (state.finished && !std::filesystem::exists(options_.output))
    write_model(state);
  return state;
}

std::string RunStore::describe(const RunState& state) const {
  std::string text = "the run in '" + path() + "' at epoch " +
                     std::to_string(state.epoch + 1) + ", from " +
                     (checkpoint_.empty() ? "its start" : checkpoint_);
  if (replayed_ > 0)
    text +=
        " and " + std::to_string(replayed_) +
        (plan_->settings.mode == Mode::kAveraging ? " rounds" : " updates") +
        " of its log";
  return text;
}

UpdateLog* RunStore::begin_log(const std::string& run, const RunState& state) {
  if (policy_ == LogPolicy::kNone) return nullptr;
  if (policy_ == LogPolicy::kKeep && checkpoint_.empty())
    checkpoint_ = directory_.save(checkpoint_of(state), true);
  updates_.emplace(path(), identity_, run, log_);
  updates_->go_on(state.version);
  return &*updates_;
}

std::string RunStore::save(const RunState& state) {
  const bool all = policy_ == LogPolicy::kKeep;
  std::string name = directory_.save(checkpoint_of(state), all);
  if (updates_) {
    updates_->begin(state.version);
    if (!all) updates_->prune(last_saved_);
  }
  last_saved_ = state.version;
  return name;
}

void RunStore::save_best(const RunState& state) const {
  nn::save_model(model_of(state), best());
}

void RunStore::write_model(const RunState& state) const {
  failpoint("master.before_model");
  if (plan_->keep_best && std::filesystem::exists(best()))
    nn::save_model(nn::load_model(best()), options_.output);
  else
    nn::save_model(model_of(state), options_.output);
}

nn::Model RunStore::model_of(const RunState& state) const {
  nn::Model model = plan_->model;
  model.parameters = state.parameters;
  model.statistics = state.statistics;
  model.updater_state.clear();
  model.training = Json();
  model.training_vectors.clear();
  return model;
}

nn::Model RunStore::checkpoint_of(const RunState& state) const {
  nn::Model model = model_of(state);
  model.updater_state = state.updater_state;
  if (!state.velocity.empty())
    model.training_vectors["velocity"] = state.velocity;
  if (!state.residual.empty())
    model.training_vectors["residual"] = state.residual;
  if (state.fasgd) model.training_vectors["fasgd"] = state.fasgd->state();
  model.training = state.to_json();
  return model;
}

}  // namespace dl::cluster
