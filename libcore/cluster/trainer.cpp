#include "libcore/cluster/trainer.h"

#include <map>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/data/metadata.h"
#include "libcore/data/normalizer.h"
#include "libcore/nn/config.h"

namespace dl::cluster {
namespace {

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

}  // namespace

Trainer::Trainer(TrainerOptions options, Link& link, Log log)
    : options_(std::move(options)), link_(link), log_(std::move(log)) {}

Trainer::~Trainer() = default;

void Trainer::run() {
  while (!link_.leaving) {
    try {
      if (auto delivered = link_.inbox.pop(!can_step()))
        handle(*delivered);
      else if (can_step())
        step();
    } catch (const OutOfStep& e) {
      out_of_step(e.why);
    } catch (const Error&) {
      // A master that is lost takes the records with it; so does leaving.
      if (!link_.desk.closed()) throw;
      drop_tasks();
    } catch (const std::bad_alloc&) {
      throw Error{Code::kUnavailable,
                  "out of memory; try fewer --threads, a smaller --cache or a "
                  "smaller --batch of the run"};
    }
  }
}

void Trainer::handle(const Delivered& delivered) {
  const Message& message = delivered.message;
  if (message.type == MessageType::kWelcome)
    return welcome(delivered.session, Welcome::from_message(message));
  if (!learner_ || link_.rejoin) return;
  switch (message.type) {
    case MessageType::kState:
      drop_tasks();
      return learner_->take_state(State::from_message(message));
    case MessageType::kTask:
      return take_task(Task::from_message(message));
    case MessageType::kStale: {
      const Stale stale = Stale::from_message(message);
      if (drop_lease(stale.lease, stale.fence))
        log_(Level::kInfo, "lease " + std::to_string(stale.lease) +
                               " is no longer ours; its work is dropped");
      return learner_->take(message);
    }
    default:
      return learner_->take(message);
  }
}

void Trainer::welcome(std::uint64_t session, const Welcome& welcome) {
  leases_.clear();
  loader_.reset();
  link_.outbox.begin_session(session);
  link_.desk.open();
  link_.rejoin = false;
  set_up(welcome);
  learner_->begin_session();
  link_.outbox.push(Ready{training_->unreadable()}.to_message());
  link_.set_doing("waiting for work");
}

void Trainer::set_up(const Welcome& welcome) {
  link_.set_doing("setting up the network");
  settings_ = Settings::from_json(
      JsonView(welcome.settings, Code::kProtocol, "settings"));
  const data::Metadata metadata = metadata_of(welcome.metadata);
  Json known{welcome.network, welcome.normalizer, welcome.settings};
  if (!learner_ || known != known_) {
    learner_.reset();  // frees its memory first
    auto replica = std::make_unique<Replica>(
        nn::parse_network(dump_json(welcome.network), "the master's network"),
        data::Normalizer::from_json(
            JsonView(welcome.normalizer, Code::kProtocol, "normalizer")),
        settings_.batch, options_.device, options_.threads);
    replica->network().check_data(metadata);
    subject_.outputs = replica->network().outputs();
    subject_.names =
        metadata.classes.empty() ? metadata.targets : metadata.classes;
    learner_ =
        settings_.mode == Mode::kAveraging
            ? make_averaging_learner(std::move(replica), settings_, link_)
            : make_sharing_learner(std::move(replica), settings_, link_, log_);
    known_ = std::move(known);
  }
  const auto store = [&](bool evaluation, std::vector<ShardInfo> shards) {
    return std::make_unique<RecordStore>(
        std::move(shards), options_.data_root,
        [this, evaluation](std::uint32_t shard, std::uint32_t record) {
          return link_.desk.fetch(Fetch{evaluation, shard, record},
                                  options_.fetch_limit);
        },
        options_.cache_bytes / 2, log_);
  };
  training_ = store(false, welcome.training);
  evaluation_ = store(true, welcome.evaluation);
  loader_ = std::make_unique<BatchLoader>(
      BatchPlan{catalogue_of(welcome.training),
                catalogue_of(welcome.evaluation), settings_.batch,
                settings_.seed,
                options_.prefetch > 0 ? options_.prefetch : settings_.prefetch},
      *training_, *evaluation_);
}

void Trainer::take_task(Task task) {
  const bool evaluation = task.kind == TaskKind::kEvaluate;
  const std::int64_t batches = loader_->batches(evaluation, task.epoch);
  if (task.count < 1 || task.first < 0 || task.count > batches - task.first)
    throw Error{Code::kProtocol, "task: mini-batches " +
                                     std::to_string(task.first) + " to " +
                                     std::to_string(task.first + task.count) +
                                     " of " + std::to_string(batches)};
  loader_->add({evaluation, task.epoch, task.first, task.count});
  Lease lease;
  for (const std::string& kind : task.evaluations)
    lease.evaluations.push_back(eval::make_evaluation(kind, subject_));
  lease.task = std::move(task);
  leases_.push_back(std::move(lease));
}

// Batches are loaded in the order of the leases, so what remains is queued
// anew.
bool Trainer::drop_lease(std::uint64_t number, std::uint64_t fence) {
  const auto dropped = std::erase_if(leases_, [&](const Lease& lease) {
    return lease.task.lease == number && lease.task.fence == fence;
  });
  if (dropped == 0) return false;
  loader_->drop();
  for (const Lease& lease : leases_)
    loader_->add({lease.task.kind == TaskKind::kEvaluate, lease.task.epoch,
                  lease.batch(), lease.task.count - lease.done});
  return true;
}

void Trainer::drop_tasks() {
  leases_.clear();
  if (loader_) loader_->drop();
}

void Trainer::out_of_step(const std::string& why) {
  drop_tasks();
  link_.set_doing(why);
  link_.rejoin = true;
  link_.outbox.poke();
}

bool Trainer::can_step() const {
  if (leases_.empty() || link_.rejoin) return false;
  return leases_.front().task.kind == TaskKind::kEvaluate ||
         learner_->can_train();
}

void Trainer::step() {
  Lease& lease = leases_.front();
  link_.set_doing("mini-batch " + std::to_string(lease.batch()) + " of epoch " +
                  std::to_string(lease.task.epoch + 1) + ", lease " +
                  std::to_string(lease.task.lease));
  if (lease.done == 0) learner_->begin(lease.task);
  const LoadedBatch batch = loader_->next();
  if (lease.task.kind == TaskKind::kEvaluate)
    step_evaluation(lease, batch);
  else
    step_training(lease, batch);
  ++link_.progress;
  failpoint("worker.after_batch");
  if (!leases_.empty() && leases_.front().done == leases_.front().task.count)
    end_lease();
}

void Trainer::step_training(Lease& lease, const LoadedBatch& batch) {
  std::string fault;
  try {
    fault = learner_->train(lease, batch.view());
  } catch (Error& e) {
    e.add_context("mini-batch " + std::to_string(batch.index) + " of epoch " +
                  std::to_string(batch.epoch + 1));
    throw;
  }
  if (fault.empty()) {
    link_.examples += batch.set.examples();
    return;
  }
  log_(Level::kWarning, "mini-batch " + std::to_string(batch.index) +
                            " of epoch " + std::to_string(batch.epoch + 1) +
                            ": " + fault + "; not sent");
  link_.outbox.push(
      Fault{lease.task.lease, lease.task.fence, lease.batch(), fault}
          .to_message());
  drop_lease(lease.task.lease, lease.task.fence);
}

void Trainer::step_evaluation(Lease& lease, const LoadedBatch& batch) {
  learner_->settle();
  const nn::Batch view = batch.view();
  learner_->replica().network().predict(*view.features, outputs_);
  for (const auto& evaluation : lease.evaluations)
    evaluation->add(outputs_, *view.labels, view.mask);
  ++lease.done;
  lease.examples += batch.set.examples();
  link_.examples += batch.set.examples();
}

void Trainer::end_lease() {
  const Lease lease = std::move(leases_.front());
  leases_.pop_front();
  if (lease.task.kind == TaskKind::kTrain) {
    learner_->finish(lease);
  } else {
    TaskDone done;
    done.lease = lease.task.lease;
    done.fence = lease.task.fence;
    done.examples = lease.examples;
    for (const auto& evaluation : lease.evaluations)
      done.evaluations.push_back(evaluation->to_json());
    link_.outbox.push(done.to_message());
  }
  if (leases_.empty()) link_.set_doing("waiting for work");
}

}  // namespace dl::cluster
