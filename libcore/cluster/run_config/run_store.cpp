// Starting, resuming and saving a run in its directory.

#include "libcore/cluster/run_config/run_store.h"

#include <algorithm>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/run_config/continuation.h"
#include "libcore/cluster/run_dir/run_json.h"
#include "libcore/io/hex.h"
#include "libcore/io/temporary_name.h"

namespace dl::cluster {

namespace {

// Whether the epoch that ended last was the best so far.
bool is_best(const RunState& state) {
  return !state.history.empty() && state.early_stopping.is_object() &&
         state.early_stopping.value("best_epoch", Json()) ==
             Json(state.history.back().epoch);
}

std::string file_name_of(const Saved& saved) {
  return std::filesystem::path(saved.path).filename().string();
}

bool is_of_network(const nn::Model& model, const RunConfig& plan) {
  return nn::to_json(model.config) == nn::to_json(plan.model.config);
}

// But for how the file tells it, which other versions do otherwise.
bool is_same(const nn::Model& a, const nn::Model& b) {
  return a.parameters == b.parameters && a.statistics == b.statistics &&
         nn::to_json(a.config) == nn::to_json(b.config) &&
         a.normalizers.inputs == b.normalizers.inputs &&
         a.normalizers.outputs == b.normalizers.outputs;
}

}  // namespace

RunStore::RunStore(const MasterOptions& options, const Log& log)
    : options_(options),
      log_(log),
      directory_(run_folder(options)),
      policy_(limits_of(options).update_log) {}

void RunStore::start_over(const RunConfig& plan) {
  std::vector<std::string> keep;
  for (const MasterData* data : {plan.training.get(), plan.evaluation.get()})
    if (data)
      for (const ShardInfo& shard : data->shards()) keep.push_back(shard.path);
  directory_.clear(keep);
}

RunState RunStore::take_up(RunConfig& plan) {
  plan_ = &plan;
  const Json before = directory_.configuration();
  known_ = !before.is_null();
  if (known_) {
    keep_defaults(before, options_, plan.settings, plan.keep_best);
    instructions_ = instructions_in(before);
    plan.recognise_data(before);
    if (wants_otherwise(before, plan.configuration()) && !has_learnt(path())) {
      start_over(plan);
      known_ = false;
      instructions_.clear();
    }
  }
  directory_.settle(plan.configuration());
  for (MasterData* data : {plan.training.get(), plan.evaluation.get()})
    if (data) data->keep();
  RunState state;
  if (auto found = directory_.newest(log_)) {
    state = state_of(found->model, directory_.file(found->name));
    plan.complete(state);
    checkpoint_ = found->name;
    last_saved_ = state.version;
    saved_ = saved_checkpoints(path(), silent());
  } else {
    const auto logs = update_logs(path());
    if (!logs.empty() && logs.front().base > 0)
      throw Error{Code::kData,
                  "no checkpoint is left in '" + displayed(path()) +
                      "', and its update log begins after update " +
                      std::to_string(logs.front().base) +
                      "; bring them back, or --fresh starts over"};
    if (known_ && logs.empty())
      log_(Level::kWarning, "no checkpoint and no update log is in '" +
                                displayed(path()) +
                                "': the run begins at its start");
    state = plan.start();
  }
  plan.forget_start();
  identity_ = log_identity(path(), state.parameters.size());
  const auto at_epoch_end = [&](const RunState& then) {
    if (plan.keep_best && is_best(then)) keep_best(then);
  };
  const std::int64_t setbacks = state.setbacks;
  if (policy_ != LogPolicy::kNone || !update_logs(path()).empty())
    replayed_ =
        replay(path(), identity_, state, kLastUpdate, log_, at_epoch_end);
  lacks_setback_ = state.setbacks > setbacks;
  if (known_) go_on_from(before, state);
  if (state.finished) write_missing_model(state);
  return state;
}

void RunStore::go_on_from(const Json& before, RunState& state) {
  const Json now = plan_->configuration();
  const bool changed = wants_otherwise(before, now);
  if (!changed && !state.finished && loses_best(state)) {
    log_(Level::kWarning,
         "'" + displayed(best()) +
             "' is missing or not the run's: the epochs so far do not count "
             "for the best one");
    state.early_stopping = Json();
  }
  if (changed && (judges_otherwise(before, now) || loses_best(state))) {
    if (plan_->keep_best || plan_->settings.patience > 0)
      log_(Level::kInfo,
           "what epochs are judged by is not what it was: those so far do not "
           "count for the best one");
    state.early_stopping = Json();
    best_.reset();
    std::filesystem::remove(best());
  }
  decide_whether_finished(state, plan_->settings, limits_of(options_).max_time,
                          path());
  if (!changed) return;
  // Until run.json says so, the next start finds the same difference.
  if (!checkpoint_.empty() || replayed_ > 0)
    checkpoint_ = save(state, false)->end();
  write_configuration();
  if (state.finished) write_model(state);
}

void RunStore::note_instructions(const std::string& instructions) {
  const auto at = std::ranges::lower_bound(instructions_, instructions);
  if (at != instructions_.end() && *at == instructions) return;
  instructions_.insert(at, instructions);
  write_configuration();
}

void RunStore::write_configuration() const {
  Json configuration = plan_->configuration();
  configuration["log"] = io::hex(identity_.directory);
  if (!instructions_.empty()) configuration["instructions"] = instructions_;
  directory_.rewrite(configuration);
}

// Nothing: it is missing, damaged or of another network.
std::optional<nn::Model> RunStore::saved_best() const {
  if (!std::filesystem::exists(best())) return std::nullopt;
  try {
    nn::Model model = nn::load_model(best());
    if (is_of_network(model, *plan_)) return model;
  } catch (const Error&) {  // as if it were not there
  }
  return std::nullopt;
}

// The model of the best epoch is wanted and there was one, but it is gone or
// damaged.
bool RunStore::loses_best(const RunState& state) const {
  return plan_->keep_best && state.early_stopping.is_object() &&
         !state.early_stopping.value("best_epoch", Json()).is_null() &&
         !best_ && !saved_best();
}

// As after a start that ended between the last checkpoint and the model, or
// when another file has taken its place.
void RunStore::write_missing_model(const RunState& state) const {
  const std::string& output = options_.output;
  namespace fs = std::filesystem;
  io::remove_abandoned(output);
  std::string why;
  if (fs::is_regular_file(output)) {
    why = "was not what this run has learnt";
    try {
      const nn::Model there = nn::load_model(output);
      if (loses_best(state) ? is_of_network(there, *plan_)
                            : is_same(there, final_model(state)))
        return;
    } catch (const Error&) {
      why = "was no model";
    }
  }
  write_model(state);
  if (why.empty())
    log_(Level::kInfo, "'" + displayed(output) + "' is written from the run");
  else
    log_(Level::kWarning, "'" + displayed(output) + "' " + why +
                              "; it is written again from the run");
}

std::string RunStore::describe(const RunState& state) const {
  std::string text = "the run in '" + displayed(path()) + "' at epoch " +
                     std::to_string(state.epoch + 1) + ", from " +
                     (checkpoint_.empty() ? "its start" : checkpoint_);
  if (replayed_ > 0)
    text += " and " + std::to_string(replayed_) +
            (in_rounds(plan_->settings.mode) ? " rounds" : " updates") +
            " of its log";
  if (state.step_factor < 1)
    text += ", with " + format("%g", state.step_factor) + " of the steps";
  return text;
}

std::optional<Saved> RunStore::newest_saved(std::uint64_t version) const {
  std::optional<Saved> newest;
  for (const Saved& saved : saved_)
    if (saved.version <= version && std::filesystem::exists(saved.path))
      newest = saved;
  return newest;
}

std::optional<RunState> RunStore::go_back(const RunState& now) const {
  const std::uint64_t sound = now.watch.sound_version();
  std::optional<RunState> state;
  if (const auto saved = newest_saved(sound)) {
    nn::Model model = nn::load_model(saved->path);
    state = state_of(model, saved->path);
    plan_->complete(*state);
  } else {
    const auto logs = update_logs(path());
    if (sound > 0 && (logs.empty() || logs.front().base > 0))
      return std::nullopt;
    state = plan_->start();
  }
  // As far as the logs go: pruned ones leave the checkpoint itself.
  if (state->version < sound)
    replay(path(), identity_, *state, sound, silent());
  // A state after a setback, at the point where training went wrong.
  if (state->setbacks < now.setbacks) return std::nullopt;
  // A number of its own; two rounds that are open have the next.
  const bool rounds = in_rounds(plan_->settings.mode);
  state->version = now.version + (rounds ? kMostOpenRounds : 1);
  state->watch.start_again(state->version, now.watch);
  state->step_factor = kSmaller * now.step_factor;
  state->setbacks = now.setbacks + 1;
  state->elapsed = now.elapsed;
  // The model of the best epoch is kept even if the run goes back behind it.
  if (now.early_stopping.is_object() &&
      now.early_stopping.value("best_epoch", std::int64_t{-1}) >= state->epoch)
    state->early_stopping = now.early_stopping;
  return state;
}

std::string RunStore::where_model(std::uint64_t version) const {
  std::string text;
  if (plan_->keep_best && std::filesystem::exists(best()))
    text = "'" + displayed(best()) + "' is the model of the best epoch";
  const auto saved = newest_saved(version);
  if (!saved || version == 0) return text;
  std::uint64_t step = saved->version;
  for (const auto& [first, last] : replayable_steps(path(), silent()))
    if (first <= version && version <= last) step = version;
  return text + (text.empty() ? "" : ", and ") + "'dl-master --replay " +
         path() + " --step " + std::to_string(step) +
         " -o MODEL' writes the model from before";
}

UpdateLog* RunStore::begin_log(const std::string& run, const RunState& state) {
  // A state that the run can always go back to and be replayed from.
  if (checkpoint_.empty() || lacks_setback_) {
    checkpoint_ = directory_.save(checkpoint_of(state), true);
    saved_.push_back(
        {directory_.file(checkpoint_), state.version, state.parameters.size()});
  }
  if (policy_ == LogPolicy::kNone) return nullptr;
  updates_.emplace(path(), identity_, run, log_);
  updates_->go_on(state.version);
  return &*updates_;
}

std::unique_ptr<Saving> RunStore::save(const RunState& state, bool aside) {
  if (state.finished) failpoint("master.before_last_save");
  const bool all = policy_ == LogPolicy::kKeep;
  // Keeps the state to go back to if training goes wrong, and the log from
  // there on: where it goes back to must not depend on when checkpoints were
  // due.
  const auto sound = newest_saved(state.watch.sound_version());
  const auto model = std::make_shared<const nn::Model>(checkpoint_of(state));
  const auto write = [this, model, best = best_, all,
                      kept = sound ? file_name_of(*sound) : ""] {
    if (best) nn::save_model(*best, this->best());
    return directory_.save(*model, all, kept);
  };
  // A run too short to be judged goes back nowhere.
  const bool judged = state.watch.sound_version() > 0 || !state.watch.sound();
  const std::uint64_t before = sound ? sound->version : 0;
  const std::uint64_t wanted =
      judged ? std::min(last_saved_, before) : last_saved_;
  const auto go_on = [this, version = state.version] {
    if (updates_) updates_->begin(version);
  };
  const auto keep = [this, best = best_, aside, go_on, all, wanted,
                     version = state.version,
                     count = state.parameters.size()](const std::string& name) {
    if (best_ == best) best_.reset();
    if (!aside) go_on();
    if (updates_ && !all) updates_->prune(wanted);
    last_saved_ = version;
    saved_.push_back({directory_.file(name), version, count});
  };
  auto saving = std::make_unique<Saving>(aside, write, keep);
  // Until the checkpoint is there, this log goes on from the one before it.
  if (aside) go_on();
  return saving;
}

void RunStore::keep_best(const RunState& state) {
  best_ = std::make_shared<const nn::Model>(model_of(state));
}

nn::Model RunStore::final_model(const RunState& state) const {
  // A best one that the log told of is not in its file yet.
  if (plan_->keep_best && best_) return *best_;
  std::optional<nn::Model> kept;
  if (plan_->keep_best) kept = saved_best();
  return kept ? *std::move(kept) : model_of(state);
}

void RunStore::write_model(const RunState& state) const {
  failpoint("master.before_model");
  if (loses_best(state))
    log_(Level::kWarning,
         "'" + displayed(best()) +
             "' is missing or not the run's: the model is that of the last "
             "epoch, not of the best one");
  nn::save_model(final_model(state), options_.output);
}

void RunStore::tidy(const RunState& state) {
  if (policy_ == LogPolicy::kKeep || saved_.empty()) return;
  const auto sound = newest_saved(state.watch.sound_version());
  directory_.keep_only(
      {file_name_of(saved_.back()), sound ? file_name_of(*sound) : ""});
  if (updates_) updates_->prune(last_saved_);
}

nn::Model RunStore::model_of(const RunState& state) const {
  nn::Model model = plan_->model;
  model.provenance.back().instructions = instructions_;
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
  model.training["log"] = io::hex(identity_.directory);
  return model;
}

}  // namespace dl::cluster
