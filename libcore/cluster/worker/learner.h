// The difference between the modes: how a replica takes part in the others'
// learning.  The trainer (trainer.h) drives it, one mini-batch at a time.

#ifndef DL_LIBCORE_CLUSTER_WORKER_LEARNER_H_
#define DL_LIBCORE_CLUSTER_WORKER_LEARNER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/base/philox.h"
#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/settings/settings.h"
#include "libcore/cluster/worker/mailbox.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/eval/evaluation.h"

namespace dl::cluster {

// A task and its progress.
struct Work {
  Task task;
  std::int64_t done = 0;  // mini-batches done, passed-over ones included
  bool begun = false;
  bool cut = false;         // whether it ends before the task does
  std::int64_t queued = 0;  // mini-batches queued with the loader
  std::int64_t whole = 0;   // examples of a full mini-batch
  std::int64_t examples = 0;
  double loss_sum = 0;  // mean loss times examples, summed over batches
  std::vector<std::unique_ptr<eval::Evaluation>> evaluations;

  std::int64_t batch() const { return task.first + done; }
  nn::Position position() const {
    return {task.iteration + done,
            task.epoch,
            mix({static_cast<std::uint64_t>(task.epoch),
                 static_cast<std::uint64_t>(batch())}),
            0,
            task.beside,
            task.factor,
            whole};
  }
};

// Thrown when the worker and the master disagree on the conversation so far;
// joining again mends it.
struct OutOfStep {
  std::string why;
};

// Thrown for a task that continues work which was not finished: the master has
// revoked it already, and the message about that is under way.
struct Superseded {};

// Throws Error: kProtocol, what the master sent does not fit; and OutOfStep.
class Learner {
 public:
  virtual ~Learner() = default;

  // Begins a new conversation: nothing sent before will be answered.  Sets in
  // `ready` which parameters it has.
  virtual void begin_session(const Welcome& welcome, Ready& ready) = 0;
  virtual void take_state(State state) = 0;
  // Takes a Round, Apply, Stale, Check or Statistics.
  virtual void take(Message message) = 0;

  // Whether it has the version that a task starts from.  The feed may bring it
  // later than the task comes.
  virtual bool has(std::uint64_t version) const = 0;
  // Whether one more mini-batch may be trained now.
  virtual bool can_train() const { return true; }
  // Seconds to wait for a message before the next mini-batch, although it may
  // be trained now.
  virtual double patience() const { return 0; }
  // Call before the first mini-batch of a lease of any kind.  Throws
  // Superseded.
  virtual void begin(const Task& task) = 0;
  // Call before each mini-batch of an evaluation.
  virtual void settle() = 0;
  // Trains one mini-batch; counts it in `work`.  Returns what was not finite,
  // or "".
  virtual std::string train(Work& work, const nn::Batch& batch) = 0;
  // Ends the lease at a mini-batch that cannot be trained; the mini-batches
  // before it are good.
  virtual void cut_short(const Work& work) { (void)work; }
  // Ends a training lease after its last mini-batch.
  virtual void finish(const Work& work) = 0;

  virtual Replica& replica() = 0;
};

// The run's parameters after each update, where others have added them up: in a
// simulation, whose replicas are all in one process.
class ParameterHistory {
 public:
  virtual ~ParameterHistory() = default;
  // Parameters after this update, which was applied; valid until the next call.
  virtual std::span<const float> at(std::uint64_t sequence) = 0;
};

std::unique_ptr<Learner> make_averaging_learner(
    std::unique_ptr<Replica> replica, const Settings& settings, Mailbox& mail);
// The replica is without_updaters(), those of `network` take the steps, in so
// many threads.
std::unique_ptr<Learner> make_sync_learner(std::unique_ptr<Replica> replica,
                                           const nn::NetworkConfig& network,
                                           int threads, Mailbox& mail);
// updater: that of gradients, if they are shared (gradient_sharing.h); the
// replica is without_updaters() then.  history: where it looks up what updates
// make of its parameters, outlives it; null: it applies them.
std::unique_ptr<Learner> make_sharing_learner(
    std::unique_ptr<Replica> replica, const Settings& settings,
    std::optional<nn::UpdaterConfig> updater, Mailbox& mail, Log log,
    ParameterHistory* history = nullptr);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_LEARNER_H_
