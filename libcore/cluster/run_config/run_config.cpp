// Resolution of options, network and data into a run.

#include "libcore/cluster/run_config/run_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/run_config/choose_normalizers.h"
#include "libcore/cluster/run_config/class_order.h"
#include "libcore/cluster/run_config/label_weights.h"
#include "libcore/cluster/run_config/oddities.h"
#include "libcore/cluster/run_config/read_network.h"
#include "libcore/cluster/run_dir/divergence.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/cluster/settings/option_values.h"
#include "libcore/data/sharding/set_check.h"
#include "libcore/device/open.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"
#include "libcore/nn/augment/augmenter.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/data/baseline_loss.h"
#include "libcore/nn/data/class_weights.h"
#include "libcore/nn/data/data_check.h"
#include "libcore/nn/model/initialise.h"
#include "libcore/nn/update/warmup.h"

namespace dl::cluster {

namespace {

constexpr int kFormat = 1;  // of run.json
// From here on it is worth a word where updates arrive late.
constexpr double kMuchMomentum = 0.8;
constexpr std::int64_t kManyLabels = 65536;  // tell how often classes are there
constexpr std::int64_t kMostIterations = std::int64_t{1} << 60;

// A stage of pretraining, and the network after all, start from what the stages
// before learnt, on inputs as these had them.
Kept go_on_pretrained(RunConfig& plan, const MasterOptions& options,
                      const Log& log) {
  const nn::Model learnt = nn::load_model(options.pretrained, log);
  nn::Started started = nn::start_from(learnt, read_network(options.net), {});
  log(Level::kInfo, "pretraining: " + started.transfer.to_text());
  plan.model = std::move(started.model);
  plan.transfer = std::move(started.transfer);
  plan.model.normalizers.inputs = learnt.normalizers.inputs;
  plan.init = io::digest(std::as_bytes(std::span(plan.model.parameters)));
  return {.inputs = true, .outputs = false};
}

// From --net, or all of a model but what is of its training alone, or as much
// of one as fits.
Kept choose_network(RunConfig& plan, const MasterOptions& options,
                    const Log& log) {
  if (!options.pretrained.empty()) return go_on_pretrained(plan, options, log);
  if (options.init.empty()) {
    if (!options.reset.empty())
      throw Error{Code::kUsage, "--reset goes with --init"};
    plan.model.config = read_network(options.net);
    return {};
  }
  plan.model = nn::load_model(options.init, log);
  // Training state of a model from another program; a run of ours counts its
  // own.
  const Json training = std::move(plan.model.training);
  plan.model.training = Json();
  if (training.is_object() && training.size() == 1 &&
      training.contains("iteration"))
    plan.iteration = JsonView(training, Code::kData, in_quotes(options.init))
                         .at("iteration")
                         .integer(0, kMostIterations);
  else
    plan.model.updater_state.clear();
  Kept kept{true, true};
  nn::NetworkConfig network =
      options.net.empty() ? plan.model.config : read_network(options.net);
  if (!options.reset.empty() ||
      nn::to_json(network) != nn::to_json(plan.model.config)) {
    nn::Started started;
    try {
      started = nn::start_from(plan.model, network, options.reset);
    } catch (Error& e) {
      if (e.code() == Code::kConfig) e.add_context(in_quotes(options.init));
      throw;
    }
    plan.model = std::move(started.model);
    plan.iteration = 0;
    plan.transfer = std::move(started.transfer);
    kept = {started.same_inputs, started.same_outputs};
    log(Level::kInfo,
        in_quotes(options.init) + ": " + plan.transfer->to_text() +
            (kept.inputs ? ""
                         : "; other inputs than the model's, so normalizers "
                           "are fitted to the data"));
  }
  plan.init = io::digest(std::as_bytes(std::span(plan.model.parameters)));
  return kept;
}

std::unique_ptr<MasterData> open_data(const std::vector<std::string>& operands,
                                      const std::string& spool,
                                      const char* what, const nn::Model& model,
                                      nn::Outputs outputs, const Log& log) {
  const auto like = [&](const data::Metadata& first) {
    return nn::known_by(model, outputs, first);
  };
  const nn::Wanted wanted =
      nn::wanted_by(model.config, nn::layout_of(model.config));
  const auto check = [&](const data::Metadata& own) {
    nn::check_tokens(own, wanted);
  };
  auto data = std::make_unique<MasterData>(operands, spool, like, check, log);
  if (data->examples() == 0)
    throw Error{Code::kData, std::string(what) + " has no examples"};
  return data;
}

// The shards are in the model's order by now: this is about all the rest.
void check_data(const nn::Model& model, nn::Outputs outputs,
                const MasterData& data, const char* what, const Log& log) {
  try {
    const std::string note = nn::DataCheck(model, outputs)
                                 .examine(data.metadata(), nn::Labels::kNeeded)
                                 .note;
    if (!note.empty()) log(Level::kWarning, std::string(what) + ": " + note);
  } catch (Error& e) {
    e.add_context(what);
    throw;
  }
}

// Layers that stay as they were drawn, since no model says otherwise.
void tell_frozen(const RunConfig& plan, const Log& log) {
  std::string names;
  for (const nn::LayerConfig& layer : plan.model.config.layers) {
    const bool drawn =
        plan.transfer ? std::ranges::count(plan.transfer->drawn, layer.name) > 0
                      : !plan.init;
    if (layer.training.frozen && drawn && plan.stage.empty())
      names += (names.empty() ? "'" : ", '") + layer.name + "'";
  }
  if (!names.empty())
    log(Level::kWarning, names +
                             ": frozen, but drawn anew: what is never "
                             "learnt stays random");
}

// A shard that is trained on tells nothing of what was learnt.
void tell_shared(const MasterData& training, const MasterData& evaluation,
                 const Log& log) {
  for (const ShardInfo& held_out : evaluation.shards())
    for (const ShardInfo& trained : training.shards())
      if (held_out.digest == trained.digest)
        return log(Level::kWarning,
                   in_quotes(held_out.path) +
                       " is trained on and held out: its scores say nothing "
                       "of other data");
}

// Stores the description of the data in the model; names that these do not have
// stay.
void describe_data(nn::Model& model, data::Metadata metadata) {
  for (auto names : {&data::Metadata::columns, &data::Metadata::classes,
                     &data::Metadata::targets})
    if ((metadata.*names).empty()) metadata.*names = model.data.*names;
  if (!nn::wanted_by(model.config, nn::layout_of(model.config)).labels())
    metadata = nn::without_labels(std::move(metadata));
  metadata.statistics.reset();
  metadata.label_statistics.reset();
  metadata.place.reset();
  model.data = std::move(metadata);
}

std::vector<float> values_of(const tensor::Tensor& tensor) {
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

void draw(nn::Model& model) {
  const nn::Layout layout = nn::layout_of(model.config);
  model.parameters = values_of(nn::initial_parameters(model.config, layout));
  model.statistics = values_of(nn::initial_statistics(layout));
  model.updater_state = values_of(nn::initial_updater_state(layout));
}

// Compiles it once: checks what it starts from, if that is a model, and counts.
void compile(RunConfig& plan, bool dry) {
  nn::Network network(plan.model.config, plan.model.normalizers,
                      plan.settings.batch, device::open_lanes("cpu", 1), true,
                      {}, nn::Start::kLater);
  const bool fresh = plan.model.updater_state.empty() &&
                     network.updater_state().elements() > 0;
  if (fresh && !dry) plan.iteration = 0;
  if (plan.init) {
    nn::put_into(network, plan.model);
    if (fresh && !dry) network.reset_updater_state();
    if (!dry) nn::take_from(network, plan.model);
  }
  plan.layers = network.summary();
  plan.parameters = network.parameters().elements();
  plan.statistics = network.statistics().elements();
  plan.updater_state = network.updater_state().elements();
  plan.memory = network.memory_bytes();
  plan.loss_of_chance = nn::loss_of_chance(
      plan.model.config, plan.model.normalizers, plan.label_count);
  plan.accuracy_of_chance =
      nn::accuracy_of_chance(plan.model.config, plan.settings.metric);
  // Nobody knows what weights of examples make of it.
  for (const auto& [name, field] : plan.model.data.schema)
    if (name.starts_with("labels_mask") && tensor::is_real(field.dtype))
      plan.loss_of_chance.reset();
}

Json shards_of(const std::unique_ptr<MasterData>& data) {
  return data ? data->to_json() : Json::array();
}

}  // namespace

// In sharing each worker has updater state of its own; averaging may start it
// afresh.
void RunConfig::settle() {
  if (settings.mode != Mode::kSharing &&
      settings.averaging.updater_state == UpdaterState::kAverage)
    return;
  model.updater_state.clear();
  iteration = 0;
}

void RunConfig::settle(Mode mode, std::int64_t workers) {
  settings.mode = mode;
  if (mode == Mode::kSync)
    settings.averaging = AveragingSettings::for_sync(workers);
  settle();
}

void RunConfig::settle_alone() {
  settings.mode = Mode::kAveraging;
  settings.averaging = AveragingSettings();
  settings.averaging.alone = true;
  settle();
}

void RunConfig::recognise_data(const Json& before) {
  using Pointer = Json::json_pointer;
  if (training)
    training->name_as(before.value(Pointer("/data/training"), Json()));
  if (evaluation)
    evaluation->name_as(before.value(Pointer("/data/evaluation"), Json()));
}

Sizes RunConfig::sizes() const {
  Sizes sizes;
  sizes.parameters = static_cast<std::uint64_t>(parameters);
  sizes.statistics = static_cast<std::uint64_t>(statistics);
  sizes.updater_state = static_cast<std::uint64_t>(updater_state);
  return sizes;
}

// It says nothing meanwhile, which on a busy host takes a second for 50 MB.
Limits RunConfig::limits(const MasterOptions& options) const {
  constexpr double kTakenASecond = 50e6;
  Limits limits = limits_of(options);
  limits.lost_after += sizeof(float) *
                       static_cast<double>(parameters + updater_state) /
                       kTakenASecond;
  return limits;
}

Welcome RunConfig::welcome() const {
  Welcome welcome;
  welcome.network = nn::to_json(model.config);
  const auto& [inputs, outputs] = model.normalizers;
  welcome.normalizer = data::to_json(inputs);
  welcome.target_normalizer = data::to_json(outputs);
  welcome.settings = settings.to_json();
  welcome.metadata = model.data.to_strings();
  welcome.training = training->shards();
  if (evaluation) welcome.evaluation = evaluation->shards();
  welcome.sizes = sizes();
  return welcome;
}

RunState RunConfig::start() const {
  RunState state;
  state.constrain = nn::Constrainer(model.config);
  state.lr_warmup = settings.lr_warmup;
  state.updater = std::make_shared<nn::HostUpdater>(
      nn::with_warmup(model.config, state.lr_warmup));
  if (model.parameters.empty()) {
    nn::Model drawn;
    drawn.config = model.config;
    draw(drawn);
    state.parameters = std::move(drawn.parameters);
    state.statistics = std::move(drawn.statistics);
    state.updater_state = std::move(drawn.updater_state);
  } else {
    state.parameters = model.parameters;
    state.statistics = model.statistics;
    state.updater_state = model.updater_state;
  }
  state.iteration = iteration;
  complete(state);
  return state;
}

double RunConfig::distance_moved(std::span<const float> to) const {
  const tensor::Tensor drawn =
      model.parameters.empty()
          ? nn::initial_parameters(model.config, nn::layout_of(model.config))
          : tensor::Tensor();
  const std::span<const float> begun =
      model.parameters.empty() ? drawn.as<float>() : model.parameters;
  double moved = 0, from = 0;
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const double first = begun[i];
    moved += (to[i] - first) * (to[i] - first);
    from += first * first;
  }
  return from > 0 ? std::sqrt(moved / from) : 1;
}

void RunConfig::forget_start() {
  if (init) return;
  for (auto* values :
       {&model.parameters, &model.statistics, &model.updater_state})
    *values = std::vector<float>();
}

void RunConfig::complete(RunState& state) const {
  if (loss_of_chance) state.watch.expect(*loss_of_chance);
  if (settings.mode == Mode::kSharing && !state.fasgd &&
      settings.sharing.staleness_rule.kind ==
          exchange::StalenessRule::Kind::kFasgd)
    state.fasgd.emplace(state.parameters.size());
}

std::int64_t RunConfig::batches_per_epoch() const {
  return (examples_in(training) + settings.batch - 1) / settings.batch;
}

double RunConfig::flops_per_batch() const {
  double flops = 0;
  for (const nn::LayerSummary& layer : layers) flops += layer.flops;
  return flops * static_cast<double>(settings.batch);
}

Json RunConfig::configuration() const {
  Json json = {
      {"format", kFormat},
      {"settings", settings.to_json()},
      {"keep", keep_best ? "best" : "last"},
      {"network", nn::to_json(model.config)},
      // Without data there is nothing yet that it could be fitted to.
      {"normalizer",
       training || init ? data::to_json(model.normalizers.inputs) : Json()},
      {"init", init ? Json(io::hex(*init)) : Json()},
      {"data",
       {{"training", shards_of(training)},
        {"evaluation", shards_of(evaluation)}}}};
  if (!stage.empty()) json["stage"] = stage;
  // Runs of version 0.1 have none.
  if (std::ranges::any_of(model.normalizers.outputs,
                          [](const auto& n) { return !n.changes_nothing(); }))
    json["target_normalizer"] = data::to_json(model.normalizers.outputs);
  return json;
}

std::string RunConfig::advice() const {
  if (settings.mode != Mode::kSharing || settings.sharing.staleness == 0 ||
      (settings.sharing.combine == Combine::kDiversity &&
       settings.sharing.share == Share::kUpdate))
    return "";
  const double momentum = largest_momentum(model.config);
  if (momentum < kMuchMomentum) return "";
  return "a momentum (beta1 of adam) of " + format("%g", momentum) +
         " and updates that arrive late unsettle each other: with several "
         "workers 0.5, or --staleness 0, often learns better; see Momentum in "
         "dl-exchange(7)";
}

namespace {

// At most half an epoch, so that a short run is not over by then; and as long
// whatever the number of epochs.  goes_on: updaters have a history already.
std::int64_t warmup_of(const RunConfig& plan, const MasterOptions& options,
                       bool goes_on) {
  if (options.lr_warmup >= 0)
    return in_range("--lr-warmup", options.lr_warmup, 0);
  const bool fresh = !goes_on || plan.settings.mode == Mode::kSharing;
  if (!fresh || !plan.training || !nn::wants_warmup(plan.model.config))
    return 0;
  const std::int64_t batches =
      (plan.training->examples() + plan.settings.batch - 1) /
      plan.settings.batch;
  return std::min(nn::kWarmupSteps, batches / 2);
}

}  // namespace

RunConfig make_run_config(const MasterOptions& options,
                          const std::string& folder, const Log& log) {
  if (options.net.empty() && options.init.empty())
    throw Error{Code::kUsage, "want --net NETWORK.json, or --init MODEL"};
  if (options.data.empty() && !options.dry_run)
    throw Error{Code::kUsage, "want --data SHARD..., the training data"};
  data::warn_of_missing(io::expand_operands(options.data), log,
                        io::expand_operands(options.eval_data));
  RunConfig plan;
  const Kept kept = choose_network(plan, options, log);
  const auto outputs = kept.outputs ? nn::Outputs::kLearnt : nn::Outputs::kNew;
  tell_frozen(plan, log);
  if (!options.data.empty()) {
    plan.training = open_data(options.data, folder + "/data-train",
                              "the training data", plan.model, outputs, log);
    const data::Metadata& metadata = plan.training->metadata();
    choose_normalizers(plan.model, kept, options, *plan.training, folder, log);
    check_data(plan.model, outputs, *plan.training, "the training data", log);
    refuse_zero_weights(*plan.training, "the training data");
    nn::check_augmented(plan.model.config, metadata);
    tell_oddities(plan.model.config, metadata, log);
    nn::settle_class_weights(
        plan.model.config, metadata, [&](const auto& take) {
          log(Level::kInfo,
              "reading the training data once, for how often each class is "
              "there");
          read_all(*plan.training, options, "class_weights", log, take);
        });
    plan.is_in_class_order = is_in_class_order(*plan.training);
    if (plan.is_in_class_order)
      log(Level::kWarning,
          std::string("examples are in the order of their classes, so that "
                      "many mini-batches have one class alone; ") +
              kShuffleRemedy);
    plan.label_count =
        nn::count_labels(plan.model.config, metadata, [&](const auto& take) {
          read_some(*plan.training, kManyLabels, take);
        });
    describe_data(plan.model, metadata);
  }
  if (!options.eval_data.empty()) {
    plan.evaluation = open_data(options.eval_data, folder + "/data-eval",
                                "the held-out data", plan.model, outputs, log);
    check_data(plan.model, outputs, *plan.evaluation, "the held-out data", log);
    refuse_zero_weights(*plan.evaluation, "the held-out data");
    tell_shared(*plan.training, *plan.evaluation, log);
  }
  plan.settings = settings_of(
      options, plan.model.config, plan.model.data,
      plan.evaluation ? plan.evaluation->metadata() : data::Metadata());
  if (plan.settings.mode == Mode::kSharing &&
      plan.settings.sharing.share == Share::kGradient)
    plan.shared_updater = shared_updater(plan.model.config);
  if (plan.settings.mode == Mode::kSync) check_sync(plan.model.config);
  if (plan.training)
    tell_lone_values(plan.model.config, plan.settings.batch,
                     plan.training->examples(), log);
  plan.keep_best = keeps_best(options);
  plan.stage = options.stage;
  plan.model.provenance.push_back(
      {"dl-master", options.version, {}, plan.settings.seed});
  const bool goes_on = !plan.model.updater_state.empty();
  compile(plan, options.dry_run);
  if (!plan.init && !options.dry_run) draw(plan.model);
  plan.settings.lr_warmup = warmup_of(plan, options, goes_on);
  if (!options.measure) plan.settle();
  return plan;
}

}  // namespace dl::cluster
