#include "libcore/cluster/master/master_run.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/readable.h"
#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/master/epoch/estimate_round.h"
#include "libcore/cluster/master/health/final_warnings.h"
#include "libcore/cluster/master/health/own_loss.h"
#include "libcore/cluster/master/health/watchdog.h"
#include "libcore/cluster/master/launch/launched_workers.h"
#include "libcore/cluster/master/launch/plot_processes.h"
#include "libcore/cluster/master/launch/worker_threads.h"
#include "libcore/cluster/master/link/master_socket.h"
#include "libcore/cluster/master/members/shutdown.h"
#include "libcore/cluster/master/progress_line.h"
#include "libcore/cluster/report/parameter_summary.h"
#include "libcore/cluster/run_config/choose_mode.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_config/run_store.h"
#include "libcore/cluster/settings/worker_advice.h"
#include "libcore/eval/model.h"
#include "libcore/io/hex.h"
#include "libcore/io/temporary_folder.h"

namespace dl::cluster {

namespace {

using std::chrono::milliseconds;

constexpr int kMessagesAtOnce = 64;  // before limits are looked at again
// Seconds of a turn of the loop, of which a few milliseconds are usual.
constexpr double kLongTurn = 0.5;
// A master that says nothing for so many times --lost-after is lost itself.
constexpr int kSilence = 10;
// For their Leave, after Stop, also of those that are connecting again.
constexpr double kFarewellSeconds = 5;
constexpr double kWorkersLeave = 10;  // seconds for workers to end

// One start of a master over its run directory.
class Master {
 public:
  Master(const MasterOptions& options, const Log& log)
      : options_(options), log_(log), store_(options, log) {}

  Outcome run();

 private:
  Report begun() const;
  Outcome finished();
  void tell_waiting();
  Sizes sizes() const;
  void begin_history();
  void tell_alone() const;
  std::vector<RouterSocket::Incoming> start_workers();
  void choose(std::span<const RouterSocket::Incoming> first);
  std::int64_t measure(std::span<const RouterSocket::Incoming> first);
  void start();
  void advise() const;
  void work(std::span<const RouterSocket::Incoming> first);
  void loop();
  void give_up(const Error& error);
  void dismiss();
  void see_off(int code, const std::string& reason,
               const Shutdown::Goes& goes = Shutdown::everybody);
  void receive();
  void renew_tree_key();
  MasterData& data_of(const Fetch& fetch);
  Hooks hooks();
  Outcome outcome();
  Outcome trained();
  Outcome estimated() const;

  const MasterOptions& options_;
  const Log& log_;
  RunStore store_;
  RunConfig plan_;
  RunState state_;  // as the store had it, until the context has it

  std::string run_ = io::random_digits();
  std::string tree_key_;  // Welcome::tree_key
  bool some_have_old_key_ = false;
  MasterSocket socket_{options_, store_.path(), run_, log_};
  std::optional<SocketLink> link_;
  std::optional<EventLog> events_;
  std::optional<RunContext> context_;
  std::optional<Coordinator> coordinator_;
  std::optional<LaunchedWorkers> crew_;
  std::optional<PlotProcesses> plots_;
  std::optional<ParameterSummary> summary_;
  bool stopping_ = false;
  // With --estimate, or before a run whose mode is to be chosen.
  bool measuring_ = options_.estimate;
  Estimate measured_;
  double began_ = monotonic_seconds();
  std::optional<double> waiting_since_;  // for workers
  ProgressLine progress_;
  std::optional<Watchdog> watchdog_;  // while there is a loop
};

Outcome Master::run() {
  plan_ = make_run_config(options_, store_.path(), log_);
  std::vector<RouterSocket::Incoming> first;
  // A start that fails leaves an earlier run as it is, and no new one.
  const bool anew = options_.fresh || !store_.holds_run();
  if (anew) {
    socket_.open(sizes());
    first = start_workers();
    if (options_.measure) choose(std::exchange(first, {}));
    if (options_.fresh) store_.start_over(plan_);
  }
  if (options_.measure && !anew) plan_.settle();
  state_ = store_.take_up(plan_);
  if (state_.finished) {
    Outcome outcome = finished();
    tell_waiting();
    return outcome;
  }
  if (!anew) socket_.open(sizes());
  begin_history();
  if (store_.known())
    log_(Level::kInfo, "going on with " + store_.describe(state_));
  if (!anew) first = start_workers();
  start();
  try {
    work(first);
  } catch (const Error& error) {
    give_up(error);
    throw;
  }
  dismiss();
  return options_.estimate ? estimated() : trained();
}

// The sizes of all messages that the run may send and receive.
Sizes Master::sizes() const {
  Sizes sizes = plan_.sizes();
  sizes.shards = plan_.training->shards().size();
  if (options_.estimate || options_.measure) sizes.load = kLongestLoad;
  if (plan_.evaluation) sizes.evaluations = kMaxBody;
  return sizes;
}

// The report of the run before it goes on.
Report Master::begun() const {
  Report report;
  report.directory = store_.path();
  report.checkpoint = store_.checkpoint();
  report.seconds_before = state_.elapsed;
  report.epochs = plan_.settings.epochs;
  report.expected_per_epoch = plan_.training->examples();
  report.parameters = plan_.parameters;
  report.metric = plan_.settings.metric;
  report.keeps_best = plan_.keep_best;
  report.epochs_given = options_.epochs_given;
  return report;
}

// The outcome of a run with nothing left to do.
Outcome Master::finished() {
  Report report = begun();
  report.model = options_.output;
  if (options_.stage.empty())
    log_(Level::kInfo,
         "the run in '" + store_.path() + "' is finished" +
             (state_.reason.empty()
                  ? " after epoch " + std::to_string(state_.epoch) +
                        "; more --epochs go on with it"
                  : ": " + state_.reason +
                        "; with another --patience, --target or "
                        "--max-time it goes on") +
             ", --fresh starts over");
  const Json json = report.to_json(state_);
  // A start that ended just before it could tell.
  if (!options_.estimate && last_event(store_.events()) != "report") {
    begin_history();
    events_->write("report", json);
  }
  Outcome result{"", json};
  if (!options_.estimate)
    judge(options_, plan_, std::bind_front(&RunStore::where_model, &store_),
          state_, result);
  return result;
}

void Master::begin_history() {
  events_.emplace(store_.events(), run_, store_.incarnation(), log_);
  Json event{{"checkpoint", store_.checkpoint()},
             {"epoch", state_.epoch},
             {"committed", state_.committed},
             {"version", state_.version},
             {"replayed", store_.replayed()},
             {"batches", plan_.batches_per_epoch()},
             {"examples", plan_.training->examples()},
             {"epochs", plan_.settings.epochs},
             {"mode", plan_.settings.to_json()["mode"]},
             {"pid", ::getpid()}};
  if (!plan_.stage.empty()) event["stage"] = plan_.stage;
  events_->write(store_.known() ? "resume" : "start", event);
  if (!state_.finished) plots_.emplace(options_, store_.path(), log_);
}

// The workers of this host as --mode auto has them.
void Master::tell_alone() const {
  const std::string workers = std::to_string(options_.merged);
  if (options_.merged == 1)
    log_(Level::kInfo,
         "auto: one worker trains by itself, exactly; nothing is exchanged");
  if (options_.merged < 2) return;
  const int threads = threads_of_worker(options_, plan_);
  log_(Level::kInfo,
       "auto: " + workers + " local workers are one process with " +
           std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
           ", which trains exactly as one worker; --mode "
           "sharing, averaging or sync starts " +
           workers + " processes");
}

// Starts the workers that are wanted; returns when one of them has spoken, with
// what it said: it has its device then.
std::vector<RouterSocket::Incoming> Master::start_workers() {
  link_.emplace(socket_.socket());
  if (started_workers(options_) == 0) return {};
  tell_alone();
  crew_.emplace(options_, socket_.socket(), socket_.endpoint_for_others(),
                threads_of_worker(options_, plan_), log_);
  waiting_since_ = monotonic_seconds();
  if (auto first = crew_->first_word(*link_, limits_of(options_).wait))
    return {*first};
  return {};
}

// Chooses the mode of --mode auto before anything of the run exists.
void Master::choose(std::span<const RouterSocket::Incoming> first) {
  measured_ = estimate_of(plan_, limits_of(options_), options_.local > 0);
  measured_.quick = true;
  const std::int64_t least = limits_of(options_).min_workers;
  const bool asks = measured_.no_sync.empty() || least < 2;
  const std::int64_t there = asks ? measure(first) : 0;
  const Estimate::Choice choice =
      measured_.choose(std::max<std::int64_t>({2, there, least}));
  log_(Level::kInfo, "auto: " + choice.why);
  measured_.alone ? plan_.settle_alone()
                  : plan_.settle(choice.mode, started_workers(options_));
}

std::int64_t Master::measure(std::span<const RouterSocket::Incoming> first) {
  const io::TemporaryFolder folder;
  measuring_ = true;
  events_.emplace((folder.path() / "events.jsonl").string(), run_,
                  store_.incarnation(), log_);
  state_ = plan_.start();
  start();
  try {
    work(first);
    if (!coordinator_->finished())
      throw Error{Code::kTryAgain, "stopped: " + coordinator_->stop_reason() +
                                       "; nothing was trained yet"};
  } catch (const Error& error) {
    give_up(error);
    throw;
  }
  const auto there = std::ssize(context_->members.workers());
  coordinator_->join_again("has chosen its mode");
  coordinator_.reset();
  context_.reset();
  events_.reset();
  progress_ = ProgressLine();
  measuring_ = false;
  return there;
}

void Master::start() {
  context_.emplace(plan_.settings, plan_.limits(options_), run_,
                   store_.incarnation(), *events_, *link_, log_);
  if (!measuring_ || options_.estimate)
    context_->updates = store_.begin_log(run_, state_);
  // A run must not go on from a state that the history does not tell.
  events_->on_trouble([this] {
    if (context_ && context_->updates) context_->updates->take_back_last();
  });
  context_->training = plan_.training->catalogue();
  for (const ShardInfo& shard : plan_.training->shards())
    context_->training_files.push_back(shard.path);
  if (plan_.evaluation) {
    context_->evaluation = plan_.evaluation->catalogue();
    for (const ShardInfo& shard : plan_.evaluation->shards())
      context_->evaluation_files.push_back(shard.path);
  }
  context_->report = begun();
  context_->state = std::move(state_);
  context_->state.elapsed += monotonic_seconds() - began_;
  for (const BadShard& bad : context_->state.bad_shards)
    log_(Level::kWarning, "'" + context_->training_files.at(bad.shard) +
                              "' was bad in epoch " +
                              std::to_string(bad.epoch + 1) +
                              " and stays out; --fresh takes it back");
  context_->loss_of_chance = plan_.loss_of_chance;
  context_->accuracy_of_chance = plan_.accuracy_of_chance;
  context_->remedy_of_scale = remedy_of_scale(plan_);
  context_->shared_updater = plan_.shared_updater;
  // A worker that shares gradients has no updater of its own.
  if (!plan_.shared_updater)
    context_->updater_elements = static_cast<std::size_t>(plan_.updater_state);
  context_->subjects = eval::subjects_of(plan_.model.config, plan_.model.data);
  context_->examine = [this](const Fetch& fetch) {
    data_of(fetch).examine(
        fetch.shard, fetch.record,
        check_for(plan_.model.config, plan_.model.normalizers.inputs));
  };
  context_->odd_values = [this](const data::ExampleRun& piece) {
    return plan_.training->odd_values(piece);
  };
  // Mini-batches of one class have other losses than a sample of the data.
  if (plan_.stage.empty() && !plan_.is_in_class_order)
    measure_losses(plan_, *context_);
  if (!socket_.socket().public_key().empty() &&
      context_->limits.topology != Topology::kStar)
    tree_key_ = make_key_pair().secret_key;
  if (options_.summary > 0 && !measuring_) {
    summary_.emplace(plan_.model.config, plan_.batches_per_epoch(),
                     plan_.settings.batch, options_.summary);
    context_->take_spreads = [this](const Spreads& s) { summary_->take(s); };
  }
  const double now = monotonic_seconds();
  coordinator_.emplace(*context_, hooks(), now, waiting_since_.value_or(now));
  if (!measuring_) advise();
  socket_.announce();
}

// Tells the user what to know about training this network.
void Master::advise() const {
  const std::string advice = plan_.advice();
  if (!advice.empty() && options_.local != 1) log_(Level::kInfo, advice);
  const std::string workers = worker_advice(
      plan_.settings, context_->limits.min_workers, plan_.batches_per_epoch());
  if (!workers.empty()) log_(Level::kWarning, workers);
  const std::string fact =
      together(plan_.settings, context_->limits.min_workers);
  if (workers.empty() && !fact.empty()) log_(Level::kInfo, fact);
}

// Workers that were started with a master that has nothing left to do: it stays
// a little for them.
void Master::tell_waiting() {
  const bool expects_workers =
      !options_.master_file.empty() || tcp_address(options_.bind);
  if (!expects_workers || !plan_.stage.empty() || options_.estimate) return;
  try {
    if (!socket_.is_open()) socket_.open(sizes());
    socket_.announce();
    socket_.turn_away(kFarewellSeconds);
    socket_.announce_end();
  } catch (const Error& error) {
    log_(Level::kWarning, std::string("workers that wait for this master are "
                                      "not told: ") +
                              error.what());
  }
}

// Until the run is finished, or stopped.
void Master::work(std::span<const RouterSocket::Incoming> first) {
  for (const RouterSocket::Incoming& incoming : first)
    coordinator_->handle(incoming, monotonic_seconds());
  loop();
  if (coordinator_->finished() && !measuring_)
    store_.write_model(context_->state);
}

void Master::loop() {
  watchdog_.emplace(kSilence * context_->limits.lost_after, log_, end_at_once);
  double turned = monotonic_seconds();
  while (!coordinator_->finished() && !coordinator_->stopped()) {
    if (!stopping_ && readable(options_.stop)) {
      stopping_ = true;
      const std::string name = options_.stop_name();
      log_(Level::kInfo,
           name + (measuring_ ? ": the measurement ends"
                              : ": taking in what is under way, then saving"));
      coordinator_->stop(name, monotonic_seconds());
    }
    receive();
    watchdog_->turn("looking after workers and work");
    failpoint("master.spin");
    if (crew_ && !stopping_) crew_->look_after(&*coordinator_, &*context_);
    if (crew_ && stopping_) crew_->let_go(*coordinator_);
    renew_tree_key();
    if (socket_.socket().renew_server_key()) {
      log_(Level::kInfo, "server.key is another one; workers join again");
      socket_.announce();
    }
    const double now = monotonic_seconds();
    const double turn = now - std::exchange(turned, now);
    if (turn > kLongTurn) coordinator_->stood_still(turn, now);
    coordinator_->tick(now);
    progress_.observe(*context_);
    if (options_.progress)
      options_.progress(
          [&] { return progress_.line(*context_, *coordinator_, options_); });
  }
  watchdog_.reset();
}

// The owner of a key that was removed may know the one of the tree; while there
// is no tree it is of no use, and the others need not join again for a new one.
void Master::renew_tree_key() {
  if (link_->take_removed_key() && !tree_key_.empty()) {
    tree_key_ = make_key_pair().secret_key;
    some_have_old_key_ = true;
  }
  if (context_->feed.keeps() && std::exchange(some_have_old_key_, false))
    coordinator_->join_again("");
}

// Tells the workers, and stays until they have heard it.
void Master::see_off(int code, const std::string& reason,
                     const Shutdown::Goes& goes) {
  Shutdown farewell(*context_, code, reason, goes);
  const double end = monotonic_seconds() + kFarewellSeconds;
  const auto is_over = [&](double now) {
    return now >= end && (now >= end + kLongestTransfer ||
                          !farewell.flowed_since(now - kFarewellSeconds));
  };
  while (!farewell.all_left() && !is_over(monotonic_seconds())) {
    if (const auto incoming = link_->receive(kPause, {}))
      farewell.take(*incoming);
    farewell.tick(monotonic_seconds());
    if (!crew_) continue;
    for (const StartedWorkers::Ended& ended : crew_->reap())
      if (ended.status > 128)  // the Leave of others may be under way
        farewell.lost_process(ended.name, ended.pid, "it " + ended.how);
  }
  farewell.end();
  coordinator_->retire_keys();
}

// After what ended the run for all.
void Master::give_up(const Error& error) {
  watchdog_.reset();
  const bool diverged = error.code() == Code::kDiverged;
  see_off(static_cast<int>(error.code()),
          diverged ? "training went wrong" : error.what());
  events_->write("stop", {{"why", error.what()},
                          {"code", static_cast<int>(error.code())}});
  if (crew_) crew_->finish(kWorkersLeave);
  context_->report.seconds = monotonic_seconds() - began_;
  if (diverged) log_(Level::kInfo, outcome().text);
}

// Lets workers go.  Those that this master has not started wait for the next
// stage, as for one that comes back.
void Master::dismiss() {
  context_->report.seconds = monotonic_seconds() - began_;
  const bool finished = coordinator_->finished();
  if (!finished)
    see_off(75, coordinator_->stop_reason());
  else if (plan_.stage.empty())
    see_off(0, "the run is finished");
  else if (crew_)
    see_off(0, "this stage is finished",
            [this](const std::string& name) { return crew_->has(name); });
  if (crew_) crew_->finish(kWorkersLeave);
  if (finished && plan_.stage.empty()) socket_.announce_end();
}

void Master::receive() {
  const std::span<const int> wake = stopping_ || options_.stop < 0
                                        ? std::span<const int>()
                                        : std::span(&options_.stop, 1);
  milliseconds wait = kPause;
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    watchdog_->turn("waiting for messages");
    const auto incoming = link_->receive(wait, wake);
    if (!incoming) return;
    watchdog_->turn("taking in ", name_of(incoming->received.message.type));
    coordinator_->handle(*incoming, monotonic_seconds());
    if (summary_) summary_->write_if_due(context_->state, *events_);
    wait = milliseconds(0);
  }
}

MasterData& Master::data_of(const Fetch& fetch) {
  if (fetch.evaluation && !plan_.evaluation)
    throw Error{Code::kProtocol, "there is no held-out data"};
  return fetch.evaluation ? *plan_.evaluation : *plan_.training;
}

Hooks Master::hooks() {
  Hooks hooks;
  hooks.welcome = [this] {
    Welcome welcome = plan_.welcome();
    welcome.heartbeat_ms = options_.heartbeat.count();
    welcome.silence_ms =
        std::lround(1000 * kSilence * plan_.limits(options_).lost_after);
    welcome.tree_key = tree_key_;
    welcome.summary = measuring_ ? 0 : options_.summary;
    return welcome;
  };
  hooks.save = [this](bool aside) {
    if (watchdog_) watchdog_->turn("writing a checkpoint");
    return store_.save(context_->state, aside);
  };
  if (plan_.keep_best)
    hooks.keep_best = [this] { store_.keep_best(context_->state); };
  hooks.record = [this](const Fetch& fetch) {
    return data_of(fetch).record(fetch.shard, fetch.record);
  };
  hooks.is_reserved = [this](const Hello& hello, const std::string& key) {
    return crew_ && crew_->reserves(hello, key);
  };
  hooks.go_back = [this] { return store_.go_back(context_->state); };
  hooks.where_model = [this](std::uint64_t version) {
    return store_.where_model(version);
  };
  if (options_.estimate)
    measured_ = estimate_of(plan_, context_->limits, options_.local > 0);
  if (measuring_) hooks.measured = &measured_;
  if (!measuring_)
    hooks.computes_with = [this](const std::string& instructions) {
      store_.note_instructions(instructions);
    };
  return hooks;
}

Outcome Master::outcome() {
  Report& report = context_->report;
  report.bytes_in = link_->bytes_in();
  report.bytes_out = link_->bytes_out();
  report.foreign = link_->dropped();
  for (const BadShard& bad : context_->state.bad_shards)
    report.bad_files.push_back(context_->training_files.at(bad.shard));
  std::ranges::sort(report.bad_files);
  report.histories_lost = context_->slots.lost();
  if (coordinator_->finished()) report.model = options_.output;
  if (crew_) report.hosts = crew_->hosts(report.batches_of);
  return {report.to_text(context_->state), report.to_json(context_->state)};
}

// Throws Error: kTryAgain, the run was stopped.
Outcome Master::trained() {
  Outcome result = outcome();
  events_->write("report", result.json);
  events_->sync();
  if (!coordinator_->finished()) {
    log_(Level::kInfo, result.text);
    throw Error{Code::kTryAgain, "stopped: " + coordinator_->stop_reason() +
                                     "; the state is saved in '" +
                                     store_.path() +
                                     "', the same command goes on"};
  }
  judge(options_, plan_, std::bind_front(&RunStore::where_model, &store_),
        context_->state, result);
  if (const std::string lack =
          lack_of_model(options_, context_->report, context_->state);
      !lack.empty() && !result.verdict)
    log_(Level::kWarning, lack);
  // A run that went wrong may be looked at, and gone back to.
  if (!result.verdict) store_.tidy(context_->state);
  return result;
}

Outcome Master::estimated() const {
  if (!coordinator_->finished())
    throw Error{Code::kTryAgain, "stopped: " + coordinator_->stop_reason() +
                                     "; not all was measured"};
  return {measured_.to_text(), measured_.to_json()};
}

}  // namespace

Outcome train(const MasterOptions& given, const Log& log) {
  MasterOptions options = given;
  choose_mode(options, log);
  return Master(options, log).run();
}

}  // namespace dl::cluster
