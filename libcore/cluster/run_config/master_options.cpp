// Checks of dl-master's options, and the settings that follow from them.

#include "libcore/cluster/run_config/master_options.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/parallel.h"
#include "libcore/cluster/run_dir/early_stopping.h"
#include "libcore/cluster/settings/option_values.h"
#include "libcore/device/open.h"
#include "libcore/eval/model.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/target_source.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::cluster {

namespace {

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc::invalid_argument || end != last)
    bad_usage("--seed: want an integer, got '" + displayed(text) + "'");
  if (error != std::errc{})
    bad_usage("--seed: '" + displayed(text) + "' does not fit 64 bits");
  return value;
}

double in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Default evaluation of an output.
std::string evaluation_for(const nn::NetworkConfig& network, std::size_t output,
                           const data::Metadata& data) {
  if (const auto target = network.layers[network.outputs[output]].target)
    return nn::target_source(network, *target) ? "regression" : "";
  switch (output_of(network, output).loss.kind) {
    case device::Loss::kNegativeLogLikelihood:
    case device::Loss::kFocal:
      return "classification";
    case device::Loss::kBinaryCrossEntropy:
    case device::Loss::kBinaryFocal:
      return nn::layers::is_from_logits(
                 network.layers[network.outputs[output]].settings)
                 ? "binary:threshold=0"
                 : "binary";
    default:
      if (nn::sides_are_classes(data, network, output))
        return "binary:threshold=0";
      return nn::are_classes(data, network, output) ? "classification"
                                                    : "regression";
  }
}

// Throws Error: kConfig, an evaluation that does not take the labels.
void check_labels(const eval::Evaluation& evaluation,
                  const nn::NetworkConfig& network, std::size_t output,
                  const data::Metadata& held_out) {
  if (evaluation.kind() == "regression" &&
      nn::are_classes(held_out, network, output))
    throw Error{Code::kConfig,
                "--evaluate regression: the labels of the held-out data are "
                "classes; --evaluate classification takes them"};
}

// Fills in evaluations and the metric, and checks them by making the
// evaluations once.
void settle_evaluation(Settings& s, const MasterOptions& options,
                       const nn::NetworkConfig& network,
                       const data::Metadata& data,
                       const data::Metadata& held_out) {
  s.metric = options.metric;
  s.target = options.target;
  if (!s.target.empty()) {
    const Target target = Target::parse(s.target);
    if (s.metric.empty()) s.metric = target.metric;
    if (s.metric != target.metric)
      bad_usage("--target is for " + target.metric + ", but --metric is " +
                s.metric);
  }
  if (options.eval_data.empty()) {
    if (!options.evaluate.empty())
      bad_usage("--evaluate needs held-out data: add --eval-data");
    if (!s.metric.empty() && s.metric != "loss")
      bad_usage((options.metric.empty() ? "--target " : "--metric ") +
                s.metric +
                " needs held-out data: add --eval-data, or watch 'loss'");
    s.metric = "loss";
    return;
  }
  const eval::Subjects subjects = eval::subjects_of(network, data);
  std::vector<std::string> usual;
  usual.reserve(subjects.size());
  for (std::size_t i = 0; i < subjects.size(); ++i)
    usual.push_back(evaluation_for(network, i, held_out));
  s.evaluations = eval::choose(options.evaluate, usual, subjects);
  if (s.evaluations.empty())
    throw Error{Code::kConfig,
                "--eval-data: no output is compared with anything in the data"};
  eval::Evaluations all;
  for (const std::string& chosen : s.evaluations) {
    all.push_back(eval::make_chosen(chosen, subjects));
    check_labels(*all.back(), network, eval::subject_of(chosen, subjects),
                 held_out);
  }
  if (s.metric.empty())
    s.metric = all.front()->called(eval::main_metric(*all.front()));
  if (s.metric != "loss") eval::find_metric(all, s.metric);
  // Shares and correlations.
  if (!s.target.empty() && eval::higher_is_better(s.metric) &&
      Target::parse(s.target).value > 1)
    bad_usage("--target " + s.target + " is never reached: " + s.metric +
              " is at most 1");
}

template <typename F>
bool has_updater(const nn::NetworkConfig& network, F like) {
  return std::ranges::any_of(network.layers, [&](const nn::LayerConfig& layer) {
    return like(layer.training.updater);
  });
}

bool is_adaptive(const nn::UpdaterConfig& updater) {
  const device::Updater kind = updater.kind;
  return kind != device::Updater::kNone && kind != device::Updater::kSgd &&
         kind != device::Updater::kNesterov &&
         kind != device::Updater::kMomentum;
}

}  // namespace

Settings settings_of(const MasterOptions& options,
                     const nn::NetworkConfig& network,
                     const data::Metadata& data,
                     const data::Metadata& held_out) {
  Settings s;
  s.mode = one_of("--mode", options.mode, kModeNames);
  s.epochs = in_range("--epochs", options.epochs, options.pretrain > 0 ? 0 : 1);
  s.batch = in_range("--batch", options.batch, 1);
  s.seed = options.seed.empty() ? network.seed : parse_seed(options.seed);
  s.prefetch = in_range("--prefetch", options.prefetch, 0, 1024);
  s.averaging =
      s.mode == Mode::kSync
          ? AveragingSettings::for_sync(
                in_range("--workers", options.averaging.workers, 0))
          : settings_of(options.averaging, has_updater(network, is_adaptive));
  // How many replicas are averaged must not depend on who is there in time.
  if (s.averaging.workers == 0 && !s.averaging.alone)
    s.averaging.workers = started_workers(options);
  s.deterministic = options.deterministic;
  // Before a worker is started.
  device::check_device_name(options.device);
  device::precision_of(options.precision);
  if (s.deterministic && options.device != "cpu")
    bad_usage("--deterministic is for --device cpu, not " + options.device);
  s.sharing = settings_of(options.sharing);
  s.patience = in_range("--patience", options.patience, 0);
  settle_evaluation(s, options, network, data, held_out);
  return s;
}

namespace {

constexpr double kHour = 3600;
constexpr int kMostHours = 10000;

// Each is a process that the host must have memory and a core for.
void check_local(std::int64_t local) {
  const std::int64_t most = std::max(256, 4 * available_cores());
  if (in_range("--local", local, 0) <= most) return;
  bad_usage("--local: want 0.." + std::to_string(most) + " on " +
            std::to_string(available_cores()) +
            (available_cores() == 1 ? " core" : " cores") + ", got " +
            std::to_string(local) +
            "; --threads gives each worker more of them");
}

}  // namespace

Limits limits_of(const MasterOptions& options) {
  Limits limits;
  limits.heartbeat = in_seconds(options.heartbeat);
  limits.lost_after = in_seconds(options.lost_after);
  limits.stuck_after = in_seconds(options.stuck_after);
  limits.wait = in_seconds(options.wait);
  // Something is left of it for the checkpoint and for telling the workers.
  limits.grace = 0.7 * in_seconds(options.grace);
  limits.checkpoint_every = in_seconds(options.checkpoint_every);
  limits.checkpoint_batches =
      in_range("--checkpoint-batches", options.checkpoint_batches, 0);
  limits.update_log =
      one_of("--update-log", options.update_log, kLogPolicyNames);
  limits.topology = one_of("--topology", options.topology, kTopologyNames);
  limits.fan_out = in_range("--fan-out", options.fan_out, 2, 8);
  limits.max_time = in_seconds(options.max_time);
  limits.min_workers =
      in_range("--min-workers", options.min_workers, 0) > 0
          ? options.min_workers
          : std::max<std::int64_t>(started_workers(options), 1);
  limits.skip_bad_shards =
      in_range("--skip-bad-shards", options.skip_bad_shards, 0);
  limits.on_divergence =
      one_of("--on-divergence", options.on_divergence, kOnDivergenceNames);
  limits.speculate = options.speculate;
  check_local(options.local);
  in_range("--threads", options.threads, 0, 4096);
  in_range("--restarts", options.restarts, 0);
  in_range("--pretrain", options.pretrain, 0);
  if (!(limits.heartbeat > 0)) bad_usage("--heartbeat: want a positive time");
  if (!(limits.lost_after > limits.heartbeat))
    bad_usage("--lost-after must be longer than --heartbeat");
  if (!(limits.stuck_after > limits.heartbeat))
    bad_usage("--stuck-after must be longer than --heartbeat");
  // As messages have room for; workers wait several times as long.
  if (limits.heartbeat > kHour) bad_usage("--heartbeat: want at most 1h");
  for (const auto& [name, time] :
       {std::pair("--lost-after", limits.lost_after),
        std::pair("--stuck-after", limits.stuck_after)})
    if (time > kMostHours * kHour)
      bad_usage(std::string(name) + ": want at most " +
                std::to_string(kMostHours) + "h");
  return limits;
}

std::string run_folder(const MasterOptions& options) {
  return options.run.empty() ? options.output + ".run" : options.run;
}

bool keeps_best(const MasterOptions& options) {
  if (options.keep.empty()) return options.patience > 0;
  constexpr Names<bool, 2> kKeep{{{{true, "best"}, {false, "last"}}}};
  return one_of("--keep", options.keep, kKeep);
}

}  // namespace dl::cluster
