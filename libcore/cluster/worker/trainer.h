// The compute thread of a worker: sets itself up from the master's Welcome,
// then trains and evaluates what it is given, one mini-batch at a time, and
// reads its inbox in between.

#ifndef DL_LIBCORE_CLUSTER_WORKER_TRAINER_H_
#define DL_LIBCORE_CLUSTER_WORKER_TRAINER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "libcore/base/log.h"
#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/mailbox.h"
#include "libcore/cluster/worker/step_watch.h"
#include "libcore/device/api/precision.h"
#include "libcore/eval/outputs.h"

namespace dl::cluster {

struct TrainerOptions {
  std::string device = "cpu";
  device::Precision precision = device::Precision::kFloat32;
  int threads = 1;
  std::string data_root = "/";
  std::int64_t prefetch = 0;  // number of mini-batches; 0: the master's
  std::size_t cache_bytes = std::size_t{256} << 20;
};

class Trainer {
 public:
  Trainer(TrainerOptions options, Mailbox& mail, Log log);
  ~Trainer();

  // Works until mail.leaving is set.  A conversation that went out of step
  // sets mail.rejoin, and nothing is done until the next Welcome.
  // Throws Error: kConfig, kUnavailable, the network cannot be set up here;
  // kTryAgain, the master does not send a record; kProtocol.
  void run();

 private:
  std::optional<Delivered> next_message();
  void handle(Delivered delivered);
  void welcome(std::uint64_t session, const Welcome& welcome);
  void set_up(const Welcome& welcome);
  std::unique_ptr<Learner> make_learner(const nn::NetworkConfig& network,
                                        const data::Normalizers& normalizers);
  void compute_alike() const;
  void take_task(Task task);
  bool drop_lease(std::uint64_t number, std::uint64_t fence);
  void cut_short(const Cut& cut);
  void load_anew();
  void out_of_step(const std::string& why);
  void drop_tasks();
  void load(Work& work, std::int64_t end);
  void load_ahead();
  bool goes_ahead();

  bool can_step();
  void step();
  void probe(const Probe& probe);
  void probe_sharing(const Probe& probe);
  void probe_sync(const Probe& probe);
  void repeat(const Probe& probe,
              const std::function<double(std::int64_t)>& mini_batch);
  void send_load(std::vector<std::byte> load, bool answer);
  std::vector<std::byte> await_echo();
  void expect_next(nn::Network& network);
  void step_training(Work& work, const LoadedBatch& batch);
  void give_back(const std::string& why, const BadRecord* bad);
  void step_evaluation(Work& work, const LoadedBatch& batch);
  void end_lease();

  TrainerOptions options_;
  Mailbox& mail_;
  Log log_;

  Json known_;  // network, normalizers and settings of learner_
  Settings settings_;
  eval::Subjects subjects_;
  std::unique_ptr<Learner> learner_;
  std::optional<StepWatch> watch_;  // of the learner's network
  // The loader's thread uses the stores, so it goes first.
  std::unique_ptr<RecordStore> training_, evaluation_;
  std::unique_ptr<BatchLoader> loader_;
  std::deque<Work> tasks_;  // tasks; the front one is under way
  // State of careful tasks: the mini-batch that the master was told comes next,
  // and the last one that it has heard of.
  std::pair<std::uint64_t, std::int64_t> told_, heard_;
  std::vector<nn::Prediction> outputs_;  // predictions of an evaluation
  tensor::Tensor product_;
  bool training_goes_on_ = false;  // whether the last step was one of training
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_TRAINER_H_
