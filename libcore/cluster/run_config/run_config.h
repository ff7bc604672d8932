// The plan of a run: the network layer by layer and the resolved
// configuration, for dl-master --dry-run and for run.json.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_CONFIG_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_CONFIG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libcore/base/json.h"
#include "libcore/cluster/loading/master_data.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/message_limits.h"
#include "libcore/cluster/run_config/master_options.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/nn/data/baseline_loss.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/model/transfer.h"

namespace dl::cluster {

struct RunConfig {
  nn::Model model;  // network, normalizer, and the parameters to start from
  Settings settings;
  bool keep_best = false;
  std::optional<nn::UpdaterConfig> shared_updater;  // gradient_sharing.h
  // Null where there are none: evaluation, and training in a dry run.
  std::unique_ptr<MasterData> training, evaluation;
  std::optional<std::uint64_t> init;  // digest of what --init starts from
  // Transfer of --init into another network.
  std::optional<nn::Transfer> transfer;
  std::int64_t iteration = 0;  // steps of the updaters so far
  std::string stage;           // layer that is pretrained, or ""

  std::vector<nn::LayerSummary> layers;
  // Numbers of reals.
  std::int64_t parameters = 0, statistics = 0, updater_state = 0;
  std::size_t memory = 0;  // bytes of a replica with one thread
  // Baselines of the training data, nn/data/baseline_loss.h.
  std::optional<nn::LabelCount> label_count;
  std::optional<double> loss_of_chance;
  double accuracy_of_chance = 0;   // by the metric
  bool is_in_class_order = false;  // training data, class_order.h

  // Settles the settings' mode, or another one: sharing, or sync with so many
  // slots.
  void settle();
  void settle(Mode mode, std::int64_t workers);
  // Settles that one worker trains alone until others join it.
  void settle_alone();
  // Compares with run.json of a resumed run: data that were prepared again, and
  // have the same records, are those that the run began with.
  void recognise_data(const Json& before);

  Sizes sizes() const;  // sizes of a replica
  // The options' limits, with time for a worker to take in the whole state.
  Limits limits(const MasterOptions& options) const;
  // The Welcome of workers, without times, keys, names and numbers.
  Welcome welcome() const;
  RunState start() const;  // state that the run begins with
  // Distance of these from the first parameters, divided by the norm of those.
  double distance_moved(std::span<const float> to) const;
  // Drops the first parameters, which take as much memory as those of the run,
  // if start() can draw them again.
  void forget_start();
  // Adds vectors that a checkpoint leaves out where they are not needed.
  void complete(RunState& state) const;

  std::int64_t batches_per_epoch() const;
  // Floating-point operations of a mini-batch, forward.
  double flops_per_batch() const;
  // The configuration that must not change when a run is resumed, for run.json.
  Json configuration() const;
  Json to_json() const;  // configuration and network, for --json
  std::string to_text() const;
  // Advice to somebody who trains this with several workers, or "".
  std::string advice() const;
};

// Reads and checks all that the options name.  folder: where streams are kept.
// log: told of what is put right, or looks odd.
// Throws Error: kUsage, kConfig, kData, kNoInput, kIo.
RunConfig make_run_config(const MasterOptions& options,
                          const std::string& folder, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_CONFIG_H_
