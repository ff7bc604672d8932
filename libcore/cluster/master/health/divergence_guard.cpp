#include "libcore/cluster/master/health/divergence_guard.h"

#include <optional>
#include <span>
#include <utility>

#include "libcore/base/failpoint.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/run_dir/divergence.h"
#include "libcore/cluster/run_dir/rollback.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kMostSetbacks = 6;

}  // namespace

bool DivergenceGuard::watch_training(bool ending) {
  if (context_.gone_wrong) {
    const Error error = *std::exchange(context_.gone_wrong, std::nullopt);
    if (context_.phase && go_back(error.what())) return true;
    if (context_.limits.on_divergence == OnDivergence::kIgnore)
      throw Error{error.code(),
                  error.what() + std::string(ResultHandler::kRejectionRemedy)};
    note_divergence(error.what());
    return false;
  }
  LossWatch& watch = context_.state.watch;
  if (context_.phase && !ending) look_at_losses();
  if (watch.asks_for_start())
    if (const std::optional<OwnLoss> start = context_.loss_at_start())
      watch.begun_with(start->loss);
  if (watch.sound()) said_ = false;
  // Nothing may be wrong: it stops nobody, and is tried once.
  if (!watch.wrong() && watch.may_have_died() && context_.phase && !ending) {
    if (go_back(watch.describe())) return true;
    watch.trust();
  }
  if (!watch.wrong() || said_ || !context_.phase || ending) return false;
  if (blame_worker()) return false;
  said_ = true;
  const std::string what = watch.describe();
  if (go_back(what)) return true;
  note_divergence(what);
  return false;
}

// One that lies from its first answer on makes no loss rise.
void DivergenceGuard::look_at_losses() {
  if (!context_.told_losses.are_in_doubt()) return;
  const std::optional<OwnLoss> own = context_.own_loss();
  if (const auto odd = own ? context_.told_losses.denied(*own) : std::nullopt)
    put_out(*odd, true);
  else
    context_.told_losses.stay_in_doubt();
}

bool DivergenceGuard::blame_worker() {
  const RunState& state = context_.state;
  auto odd = context_.told_losses.odd_one(state.watch);
  const bool by_own = !odd;
  if (by_own) {
    const std::optional<OwnLoss> own = context_.own_loss();
    if (own) odd = context_.told_losses.contradicted(state.watch, *own);
  }
  if (odd) put_out(*odd, by_own);
  return odd.has_value();
}

void DivergenceGuard::put_out(const ToldLosses::Odd& odd, bool by_own) {
  RunState& state = context_.state;
  context_.told_losses.forget(odd.member);
  state.replace_losses(odd.loss_sum, odd.examples, odd.others);
  state.watch.start_over(state.version, odd.others);
  const std::string why = "its losses are " + format("%.3g", odd.loss) +
                          " on average, and " +
                          (by_own ? "that of the run's parameters on a sample "
                                    "of the data is "
                                  : "those of others with the same "
                                    "parameters ") +
                          format("%.3g", odd.others);
  context_.events.write("false_losses", {{"worker", odd.member},
                                         {"epoch", state.epoch},
                                         {"loss", odd.loss},
                                         {"others", odd.others}});
  if (Member* member = context_.members.find(odd.member)) {
    member->faulty = true;
    member->unfit = why;
    if (context_.phase) context_.phase->release(*member, why, false);
  } else {
    context_.log(Level::kWarning,
                 "worker " + std::to_string(odd.member) +
                     ", which is gone, told false losses: " + why);
  }
  context_.save_soon = true;  // what was told is in the log
}

bool DivergenceGuard::go_back(const std::string& why) {
  RunState& state = context_.state;
  if (context_.limits.on_divergence != OnDivergence::kReduce ||
      !hooks_.go_back || state.setbacks >= kMostSetbacks)
    return false;
  std::optional<RunState> back;
  try {
    failpoint("master.setback");
    checkpoints_.settle();
    back = hooks_.go_back();
  } catch (const Error& error) {
    context_.log(Level::kWarning,
                 std::string("cannot go back: ") + error.what());
  }
  if (!back) return false;
  write_divergence(why, "reduce");
  const std::uint64_t from = state.version;
  const std::uint64_t sound = state.watch.sound_version();
  take_back(std::move(*back));
  context_.events.write("setback", {{"epoch", state.epoch},
                                    {"committed", state.committed},
                                    {"from", from},
                                    {"sound", sound},
                                    {"version", state.version},
                                    {"factor", state.step_factor}});
  context_.log(Level::kWarning,
               "training went wrong: " + why +
                   "; it goes back to before that, epoch " +
                   std::to_string(state.epoch + 1) + ", and on with " +
                   format("%g", state.step_factor) + " of the steps");
  failpoint("master.setback");
  checkpoints_.save();
  checkpoints_.settle();
  failpoint("master.setback");
  return true;
}

// All work that is under way is void.
void DivergenceGuard::take_back(RunState state) {
  for (Member* member : context_.members.present()) {
    context_.phase->release(*member, "training goes back", false);
    member->in_step = false;
  }
  context_.phase.reset();
  said_ = false;
  const std::uint64_t before = context_.state.version;
  state.elapsed = context_.state.elapsed;
  context_.state = std::move(state);
  context_.diversity.reset();
  context_.caution = {};
  context_.told_losses = {};  // of parameters that are undone
  context_.answers.forgive();
  // Findings about scores that are undone.
  if (context_.failure && context_.failure->code() == Code::kDiverged)
    context_.failure.reset();
  ++context_.averages;  // running statistics are others as well
  if (context_.updates) log_setback(before);
}

// The log is the first to know.  Each number has an entry, so that logs have no
// gaps.
void DivergenceGuard::log_setback(std::uint64_t before) {
  const std::uint64_t last = context_.state.version;
  for (std::uint64_t version = before + 1; version <= last; ++version) {
    context_.state.version = version;
    const std::vector<std::byte> payload = encode_setback(context_.state);
    LogEntry entry;
    entry.kind = EntryKind::kSetback;
    entry.sequence = version;
    entry.epoch = context_.state.epoch;
    entry.count = 1;
    entry.payload = payload;
    context_.updates->append(entry);
  }
}

// One bad score may be chance, or statistics that are not settled yet.
void DivergenceGuard::watch_score() {
  const std::span<const EpochScore> history = context_.state.history;
  const auto lost = [&](std::span<const EpochScore> upto) {
    return lost_score(upto,
                      {context_.settings.metric, context_.evaluation.examples(),
                       context_.loss_of_chance, context_.accuracy_of_chance});
  };
  const std::string now = lost(history);
  if (now.empty()) return;
  if (lost(history.first(history.size() - 1)).empty())
    context_.log(Level::kWarning, "the held-out score fell: " + now);
  else
    note_divergence("the held-out score stays low: " + now);
}

void DivergenceGuard::write_divergence(const std::string& what,
                                       std::string_view action) {
  const RunState& state = context_.state;
  context_.events.write("divergence", {{"epoch", state.epoch},
                                       {"version", state.version},
                                       {"since", state.watch.since()},
                                       {"level", state.watch.level()},
                                       {"best", state.watch.best()},
                                       {"why", what},
                                       {"action", action}});
}

void DivergenceGuard::note_divergence(const std::string& what) {
  const bool ignored = context_.limits.on_divergence == OnDivergence::kIgnore;
  const std::string remedy =
      context_.remedy_of_scale + divergence_remedy(context_.settings.mode);
  write_divergence(what, ignored ? "ignore" : "stop");
  if (ignored)
    return context_.log(Level::kWarning,
                        "training goes wrong: " + what + "; " + remedy +
                            "; it goes on, as --on-divergence ignore says");
  std::uint64_t version =
      better_version(context_.state, context_.settings.metric);
  // No loss rose and there is no score: answers are no longer finite.
  if (version == 0) version = context_.state.watch.sound_version();
  std::string better;
  if (hooks_.where_model) better = hooks_.where_model(version);
  if (!better.empty()) better = "; " + better;
  context_.fail(Error{Code::kDiverged,
                      "training went wrong: " + what + "; " + remedy + better});
}

}  // namespace dl::cluster
