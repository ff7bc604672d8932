#include "libcore/cluster/worker/trainer.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/device/instructions.h"
#include "libcore/eval/model.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/update/warmup.h"

namespace dl::cluster {
namespace {

constexpr std::chrono::milliseconds kFetchLimit{60000};  // of a record

data::Catalogue catalogue_of(const std::vector<ShardInfo>& shards) {
  data::Catalogue catalogue;
  for (const ShardInfo& shard : shards)
    catalogue.records.push_back(shard.records);
  return catalogue;
}

data::Metadata metadata_of(const Json& json) {
  std::map<std::string, std::string> text;
  if (!json.is_object())
    throw Error{Code::kProtocol, "welcome: metadata: want an object"};
  for (const auto& [key, value] : json.items())
    text[key] = JsonView(value, Code::kProtocol, "metadata." + key).string();
  return data::Metadata::from_strings(text);
}

std::vector<data::Normalizer> normalizers_of(const Json& json,
                                             const char* name) {
  return data::normalizers_from_json(JsonView(json, Code::kProtocol, name));
}

bool is_passed_over(const Task& task, std::int64_t batch) {
  return std::ranges::binary_search(task.passed_over, batch);
}

void skip(Work& work) {
  while (work.done < work.task.count && is_passed_over(work.task, work.batch()))
    ++work.done;
}

}  // namespace

Trainer::Trainer(TrainerOptions options, Mailbox& mail, Log log)
    : options_(std::move(options)), mail_(mail), log_(std::move(log)) {}

Trainer::~Trainer() = default;

void Trainer::run() {
  while (!mail_.leaving) {
    try {
      if (auto delivered = next_message())
        handle(std::move(*delivered));
      else if (can_step())
        step();
    } catch (const OutOfStep& e) {
      out_of_step(e.why);
    } catch (const Superseded&) {
      const Task task = tasks_.front().task;
      drop_lease(task.lease, task.fence);
    } catch (const Error&) {
      // A master that is lost takes the records with it; so does leaving.
      if (!mail_.fetcher.closed()) throw;
      drop_tasks();
    } catch (const std::bad_alloc&) {
      throw Error{Code::kUnavailable,
                  "out of memory; try fewer --threads, a smaller --cache or a "
                  "smaller --batch of the run"};
    }
  }
}

// Waits for it if there is nothing to compute, and counts that.
std::optional<Delivered> Trainer::next_message() {
  const bool ready = can_step();
  const double patience = ready ? learner_->patience() : 0;
  if (ready && !(patience > 0)) return mail_.inbox.pop(false);
  const double begin = mail_.clock.seconds();
  auto delivered =
      ready ? mail_.inbox.pop_within(patience) : mail_.inbox.pop(true);
  ExchangeStats stats;
  if (!tasks_.empty())
    stats.wait = mail_.clock.seconds() - begin;
  else if (training_goes_on_)
    stats.idle = mail_.clock.seconds() - begin;
  mail_.meter.add(stats);
  return delivered;
}

void Trainer::handle(Delivered delivered) {
  Message& message = delivered.message;
  if (message.type == MessageType::kWelcome)
    return welcome(delivered.session, Welcome::from_message(message));
  if (!learner_ || mail_.rejoin) return;
  switch (message.type) {
    case MessageType::kState:
      drop_tasks();
      return learner_->take_state(State::from_message(std::move(message)));
    case MessageType::kTask:
      return take_task(Task::from_message(message));
    case MessageType::kStale: {
      const Stale stale = Stale::from_message(message);
      if (drop_lease(stale.lease, stale.fence))
        log_(Level::kInfo, "lease " + std::to_string(stale.lease) +
                               " is no longer ours; its work is dropped");
      return learner_->take(std::move(message));
    }
    case MessageType::kCut:
      return cut_short(Cut::from_message(message));
    case MessageType::kProbe:
      return probe(Probe::from_message(message));
    case MessageType::kAlive: {
      const Alive alive = Alive::from_message(message);
      heard_ = {alive.lease, alive.batch};
      return;
    }
    default:
      return learner_->take(std::move(message));
  }
}

void Trainer::welcome(std::uint64_t session, const Welcome& welcome) {
  tasks_.clear();
  told_ = heard_ = {};
  loader_.reset();
  mail_.outbox.begin_session(session);
  mail_.fetcher.open();
  mail_.rejoin = false;
  set_up(welcome);
  Ready ready;
  ready.unreadable = training_->unreadable();
  learner_->begin_session(welcome, ready);
  mail_.outbox.push(ready.to_message());
  mail_.set_doing("waiting for work");
}

// Sets up what --deterministic promises.
void Trainer::compute_alike() const {
  if (options_.device != "cpu")
    throw Error{Code::kConfig,
                "--deterministic is for --device cpu, not " + options_.device};
  device::use_common_instructions();
}

void Trainer::set_up(const Welcome& welcome) {
  mail_.set_doing("setting up the network");
  settings_ = Settings::from_json(
      JsonView(welcome.settings, Code::kProtocol, "settings"));
  if (settings_.deterministic) compute_alike();
  const data::Metadata metadata = metadata_of(welcome.metadata);
  const nn::NetworkConfig network =
      nn::parse_network(dump_json(welcome.network), "the master's network");
  data::Normalizers normalizers;
  normalizers.inputs = normalizers_of(welcome.normalizer, "normalizer");
  normalizers.outputs =
      normalizers_of(welcome.target_normalizer, "target_normalizer");
  const CheckRecord check = check_for(network, normalizers.inputs);
  Json known{welcome.network, welcome.normalizer, welcome.target_normalizer,
             welcome.settings};
  if (!learner_ || known != known_) {
    watch_.reset();
    learner_.reset();  // frees its memory first
    learner_ = make_learner(network, normalizers);
    const nn::Network& own = learner_->replica().network();
    own.check_data(metadata);
    subjects_ = eval::subjects_of(own.config(), metadata);
    known_ = std::move(known);
  }
  watch_.emplace(learner_->replica().network(), welcome.summary, mail_.clock);
  const auto store = [&](bool evaluation, std::vector<ShardInfo> shards) {
    return std::make_unique<RecordStore>(
        std::move(shards), options_.data_root,
        [this, evaluation](std::uint32_t shard, std::uint32_t record) {
          return mail_.fetcher.fetch(Fetch{evaluation, shard, record},
                                     kFetchLimit);
        },
        options_.cache_bytes / 2, log_, check);
  };
  training_ = store(false, welcome.training);
  evaluation_ = store(true, welcome.evaluation);
  BatchPlan plan{
      catalogue_of(welcome.training), catalogue_of(welcome.evaluation),
      settings_.batch, settings_.seed,
      options_.prefetch > 0 ? options_.prefetch : settings_.prefetch};
  if (!network.augment.empty())
    plan.augmenter = std::make_shared<nn::Augmenter>(network);
  plan.threads = options_.threads;
  loader_ =
      std::make_unique<BatchLoader>(std::move(plan), *training_, *evaluation_);
}

std::unique_ptr<Learner> Trainer::make_learner(
    const nn::NetworkConfig& given, const data::Normalizers& normalizers) {
  const nn::NetworkConfig network = nn::with_warmup(given, settings_.lr_warmup);
  std::optional<nn::UpdaterConfig> updater;
  if (settings_.mode == Mode::kSharing &&
      settings_.sharing.share == Share::kGradient)
    updater = shared_updater(network);
  const bool gradients = updater || settings_.mode == Mode::kSync;
  auto replica = std::make_unique<Replica>(
      gradients ? without_updaters(network) : network, normalizers,
      settings_.batch, options_.device, options_.threads, nn::Start::kLater,
      options_.precision);
  switch (settings_.mode) {
    case Mode::kAveraging:
      return make_averaging_learner(std::move(replica), settings_, mail_);
    case Mode::kSync:
      return make_sync_learner(std::move(replica), network, options_.threads,
                               mail_);
    case Mode::kSharing:
      break;
  }
  return make_sharing_learner(std::move(replica), settings_, updater, mail_,
                              log_);
}

void Trainer::take_task(Task task) {
  const bool evaluation = task.kind == TaskKind::kEvaluate;
  const std::int64_t examples = loader_->examples(evaluation, task.without);
  const std::int64_t batches =
      (examples + settings_.batch - 1) / settings_.batch;
  if (task.count < 1 || task.first < 0 || task.count > batches - task.first)
    throw Error{Code::kProtocol, "task: mini-batches " +
                                     std::to_string(task.first) + " to " +
                                     std::to_string(task.first + task.count) +
                                     " of " + std::to_string(batches)};
  Work work;
  for (const std::string& kind : task.evaluations)
    work.evaluations.push_back(eval::make_chosen(kind, subjects_));
  work.whole = std::min(settings_.batch, examples);
  work.task = std::move(task);
  skip(work);
  if (work.done == work.task.count)
    throw Error{Code::kProtocol, "task: all of it is passed over"};
  tasks_.push_back(std::move(work));
  load_ahead();
}

// Batches are loaded in the order of the leases, so what remains is queued
// anew.
void Trainer::load_anew() {
  loader_->drop();
  for (Work& work : tasks_) work.queued = work.done;
  load_ahead();
}

// One mini-batch of it is done at least.
void Trainer::cut_short(const Cut& cut) {
  const auto found = std::ranges::find_if(tasks_, [&](const Work& work) {
    return work.task.lease == cut.lease && work.task.fence == cut.fence;
  });
  if (found == tasks_.end() || found->task.kind != TaskKind::kTrain) return;
  const std::int64_t end = found->examples > 0 ? found->done : found->done + 1;
  if (end >= found->task.count) return;
  found->task.count = end;
  found->cut = true;
  load_anew();
  if (found == tasks_.begin() && found->done == end) end_lease();
}

bool Trainer::drop_lease(std::uint64_t number, std::uint64_t fence) {
  const auto dropped = std::erase_if(tasks_, [&](const Work& work) {
    return work.task.lease == number && work.task.fence == fence;
  });
  if (dropped == 0) return false;
  load_anew();
  return true;
}

// Tells the loader of the mini-batches up to the end-th.
void Trainer::load(Work& work, std::int64_t end) {
  const Task& task = work.task;
  for (; work.queued < end; ++work.queued)
    if (!is_passed_over(task, task.first + work.queued))
      loader_->add({task.kind == TaskKind::kEvaluate, task.epoch,
                    task.first + work.queued, 1, task.without});
}

// Reading may be what kills a worker: of a careful task one mini-batch at a
// time, and nothing behind it.
void Trainer::load_ahead() {
  for (Work& work : tasks_) {
    if (work.task.careful) return;
    load(work, work.task.count);
  }
}

// Whether the master knows, of a careful task, what comes next.
bool Trainer::goes_ahead() {
  const Work& work = tasks_.front();
  if (!work.task.careful) return true;
  const std::pair next(work.task.lease, work.batch());
  if (heard_ == next) return true;
  if (std::exchange(told_, next) == next) return false;
  Beat beat;
  std::tie(beat.lease, beat.batch) = next;
  mail_.outbox.push(beat.to_message());
  return false;
}

void Trainer::drop_tasks() {
  tasks_.clear();
  if (loader_) loader_->drop();
}

void Trainer::out_of_step(const std::string& why) {
  drop_tasks();
  mail_.set_doing(why);
  mail_.rejoin = true;
  mail_.outbox.poke();
}

bool Trainer::can_step() {
  if (tasks_.empty() || mail_.rejoin) return false;
  const Task& task = tasks_.front().task;
  return learner_->has(task.version) &&
         (task.kind == TaskKind::kEvaluate || learner_->can_train()) &&
         goes_ahead();
}

void Trainer::step() {
  Work& work = tasks_.front();
  mail_.set_doing("mini-batch " + std::to_string(work.batch()) + " of epoch " +
                  std::to_string(work.task.epoch + 1) + ", lease " +
                  std::to_string(work.task.lease));
  if (std::exchange(work.begun, true) == false) learner_->begin(work.task);
  if (work.task.careful) load(work, work.done + 1);
  training_goes_on_ = work.task.kind == TaskKind::kTrain;
  try {
    const LoadedBatch& batch = loader_->next();
    if (work.task.kind == TaskKind::kEvaluate)
      step_evaluation(work, batch);
    else
      step_training(work, batch);
  } catch (const BadRecord& bad) {
    return give_back(bad.what(), &bad);
  }
  ++mail_.progress;
  failpoint("worker.after_batch");
  if (tasks_.empty()) return;
  skip(tasks_.front());
  if (tasks_.front().done == tasks_.front().task.count) end_lease();
}

// A device with memory of its own copies it meanwhile.
void Trainer::expect_next(nn::Network& network) {
  const LoadedBatch* const after = loader_->after();
  network.expect(after != nullptr && !after->evaluation
                     ? network.batch_of(after->set, after->serial)
                     : nn::Batch());
}

void Trainer::step_training(Work& work, const LoadedBatch& batch) {
  std::string fault;
  nn::Network& network = learner_->replica().network();
  if (learner_->replica().resident_device() != nullptr) expect_next(network);
  watch_->before_step();
  try {
    fault = learner_->train(work, network.batch_of(batch.set, batch.serial));
  } catch (Error& e) {
    e.add_context("mini-batch " + std::to_string(batch.index) + " of epoch " +
                  std::to_string(batch.epoch + 1));
    throw;
  }
  if (const auto spreads = watch_->after_step(fault.empty()))
    mail_.outbox.push(spreads->to_message());
  if (fault.empty()) {
    mail_.examples += batch.set.examples();
    return;
  }
  give_back(fault, nullptr);
}

// The mini-batch at hand went wrong; its lease is the master's again.
void Trainer::give_back(const std::string& why, const BadRecord* bad) {
  const Work& work = tasks_.front();
  log_(Level::kWarning, "mini-batch " + std::to_string(work.batch()) +
                            " of epoch " + std::to_string(work.task.epoch + 1) +
                            ": " + why +
                            (bad ? "; the master is told" : "; not sent"));
  Fault fault{work.task.lease, work.task.fence, work.batch(), why};
  if (bad) {
    if (work.task.kind == TaskKind::kTrain) learner_->cut_short(work);
    fault.code = static_cast<int>(bad->code());
    fault.shard = bad->shard;
    fault.record = bad->record;
  }
  mail_.outbox.push(fault.to_message());
  drop_lease(work.task.lease, work.task.fence);
}

void Trainer::step_evaluation(Work& work, const LoadedBatch& batch) {
  learner_->settle();
  nn::Network& network = learner_->replica().network();
  const nn::Batch& view = network.batch_of(batch.set);
  network.predict(view.inputs, outputs_);
  eval::add(work.evaluations, subjects_, network, view, outputs_, product_);
  ++work.done;
  work.examples += batch.set.examples();
  mail_.examples += batch.set.examples();
}

void Trainer::end_lease() {
  const Work work = std::move(tasks_.front());
  tasks_.pop_front();
  if (work.task.kind == TaskKind::kTrain) {
    learner_->finish(work);
  } else {
    TaskDone done;
    done.lease = work.task.lease;
    done.fence = work.task.fence;
    done.examples = work.examples;
    for (const auto& evaluation : work.evaluations)
      done.evaluations.push_back(evaluation->to_json());
    mail_.outbox.push(done.to_message());
  }
  load_ahead();
  if (tasks_.empty()) mail_.set_doing("waiting for work");
}

}  // namespace dl::cluster
