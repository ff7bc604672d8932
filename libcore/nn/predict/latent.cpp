// Sampling and scoring with autoencoders.

#include "libcore/nn/predict/latent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/philox.h"
#include "libcore/data/format/dataset.h"
#include "libcore/device/open.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/target_range.h"
#include "libcore/nn/layers/parts/gaussian_output.h"
#include "libcore/nn/layers/parts/loss.h"
#include "libcore/nn/predict/part_of.h"

namespace dl::nn {
namespace {

using tensor::DType;
using tensor::Tensor;

// The layer that draws codes, if there is one.
std::optional<std::size_t> latent_in(const NetworkConfig& config) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerConfig& layer = config.layers[i];
    if (!layer.type->adds_loss || !layer.settings.has("samples")) continue;
    if (found)
      throw Error{Code::kUsage, "the model has several layers gaussian_latent"};
    found = i;
  }
  return found;
}

// With one code for each example: how many there were in training is no matter.
Model with_one_code(const Model& model, std::size_t latent) {
  Model one = model;
  one.config.layers[latent].settings.set("samples", 1);
  return one;
}

std::vector<std::string> names_of_layers(
    const NetworkConfig& config, const std::vector<std::size_t>& outputs) {
  std::vector<std::string> names;
  names.reserve(outputs.size());
  for (const std::size_t i : outputs)
    names.push_back(config.layers[config.outputs[i]].name);
  return names;
}

std::vector<std::size_t> all_outputs(const NetworkConfig& config) {
  std::vector<std::size_t> all(config.outputs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// Outputs whose target is an input, or columns of one.
std::vector<std::size_t> reconstructions(const NetworkConfig& config) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const LayerConfig& layer = config.layers[config.outputs[i]];
    if (!layer.target || !target_source(config, *layer.target)) continue;
    if (device::needs_logits(output_of(config, i).loss.kind) ||
        layers::is_from_logits(layer.settings))
      throw Error{Code::kUsage, "the loss of '" + displayed(layer.name) +
                                    "' gives no probability"};
    all.push_back(i);
  }
  if (all.empty())
    throw Error{Code::kUsage, "no output of the model has an input as target"};
  return all;
}

Model part_between(const Model& model, std::optional<std::size_t> code,
                   const std::vector<std::string>& outputs) {
  std::vector<std::string> from;
  if (code) from = {model.config.layers[*code].name};
  Model part = part_of(model, from, outputs);
  for (const std::size_t i : part.config.outputs)
    part.config.layers[i] = layers::with_variances(part.config.layers[i]);
  // Losses are of normalized numbers.
  part.normalizers.outputs.assign(part.config.outputs.size(), {});
  return part;
}

}  // namespace

Model decoder_of(const Model& model) {
  const auto latent = latent_in(model.config);
  if (!latent)
    throw Error{Code::kUsage,
                "the model draws no codes: it has no layer gaussian_latent"};
  const std::vector<std::string> from{model.config.layers[*latent].name};
  return part_of(with_one_code(model, *latent), from,
                 names_of_layers(model.config, all_outputs(model.config)));
}

void sample(const Model& decoder, std::int64_t n, std::uint64_t seed,
            const PredictorOptions& options, PredictionWriter& out) {
  Predictor predictor(decoder, options);
  Network& network = predictor.network();
  const tensor::Shape& code = decoder.config.inputs[0].shape;
  data::Metadata metadata;
  metadata.schema["features"] = {DType::kF32, code};
  out.see(metadata);
  Philox random(seed, 0);
  std::vector<Prediction> outputs;
  for (std::int64_t done = 0; done < n; done += options.batch) {
    data::DataSet set;
    Tensor& z = set.tensors["features"];
    z = Tensor(DType::kF32, code.with_first(std::min(options.batch, n - done)));
    for (float& value : z.as<float>())
      value = static_cast<float>(random.normal());
    network.predict(network.batch_of(set).inputs, outputs);
    out.take(set, outputs);
  }
}

// The loss of numbers that it can have nothing to say of, as those beyond 0..1
// for binary_cross_entropy.
constexpr double kImpossible = std::numeric_limits<double>::infinity();

struct Scorer::State {
  State(const Model& given, const ScoreOptions& chosen);

  void score(const data::DataSet& set, const std::vector<Prediction>& encoded,
             const TakeScores& take);
  void draw(const Tensor& encoded);
  double loss_of(const data::DataSet& set, std::size_t output,
                 const Prediction& said, std::int64_t example,
                 std::int64_t row);
  double score_of(const data::DataSet& set, const std::vector<Prediction>& made,
                  std::int64_t example);

  ScoreOptions options;
  NetworkConfig config;
  data::Normalizers normalizers;
  Wanted wanted;
  std::vector<std::size_t> outputs;  // that are reconstructions
  std::unique_ptr<device::Device> device;
  std::unique_ptr<Predictor> encoder, decoder;  // decoder: null without codes
  data::DataSet codes;
  std::vector<Prediction> decoded;
  std::int64_t seen = 0;
};

Scorer::State::State(const Model& given, const ScoreOptions& chosen)
    : options(chosen),
      config(given.config),
      normalizers(given.normalizers),
      wanted(wanted_by(config, layout_of(config))),
      outputs(reconstructions(config)),
      device(std::move(device::open_lanes("reference", 1)[0])) {
  const auto latent = latent_in(config);
  const std::vector<std::string> names = names_of_layers(config, outputs);
  if (!latent) {
    options.samples = 1;
    encoder = std::make_unique<Predictor>(part_between(given, {}, names),
                                          options.predictor);
    return;
  }
  const Model model = with_one_code(given, *latent);
  const Value code = config.layers[*latent].from[0];
  if (code < config.inputs.size())
    throw Error{Code::kUsage, "the model has no encoder before its codes"};
  encoder = std::make_unique<Predictor>(
      part_between(model, {},
                   {config.layers[code - config.inputs.size()].name}),
      options.predictor);
  decoder = std::make_unique<Predictor>(part_between(model, latent, names),
                                        options.predictor);
}

// Codes for what the encoder says of each example: means, and logarithms of
// variances.  The codes of an example follow from the seed and its number.
void Scorer::State::draw(const Tensor& encoded) {
  const std::int64_t n = encoded.shape()[0], units = encoded.elements() / n / 2;
  Tensor& z = codes.tensors["features"];
  z.resize(DType::kF32, {n * options.samples, units});
  const auto said = encoded.as<float>();
  const auto to = z.as<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    Philox random(options.seed, static_cast<std::uint64_t>(seen + i));
    for (std::int64_t k = 0; k < options.samples * units; ++k) {
      const auto mean = static_cast<std::size_t>(2 * i * units + k % units);
      to[static_cast<std::size_t>(i * options.samples * units + k)] =
          static_cast<float>(
              said[mean] +
              std::exp(said[mean + static_cast<std::size_t>(units)] / 2.0) *
                  random.normal());
    }
  }
}

// Loss of an example against the outputs at a row of `made`.
double Scorer::State::loss_of(const data::DataSet& set, std::size_t output,
                              const Prediction& said, std::int64_t example,
                              std::int64_t row) {
  const WantedOutput& want = wanted.outputs[output];
  const Tensor& made = said.values;
  const device::LossSpec loss = output_of(config, output).loss;
  const std::int64_t given = made.elements() / made.shape()[0],
                     each = given / device::numbers_each(loss.kind);
  const tensor::Shape shape{each / want.units, want.units};
  const Bounds bounds = bounds_of(loss.kind);
  std::vector<bool> outside(static_cast<std::size_t>(shape[0]));
  Tensor y(DType::kF64, {shape[0], given / shape[0]}), t(DType::kF64, shape),
      counts(DType::kF64, {shape[0]});
  const Tensor& target = set.get(want.target_tensor);
  const data::Normalizer normalizer = normalizers.input(want.source->input);
  const std::size_t columns = normalizer.shift.size();
  for (std::int64_t j = 0; j < given; ++j)
    y.as<double>()[static_cast<std::size_t>(j)] =
        made.as<float>()[static_cast<std::size_t>(row * given + j)];
  for (std::int64_t j = 0; j < each; ++j) {
    const std::int64_t place = want.source->place(example * each + j);
    const std::size_t column = static_cast<std::size_t>(place) % columns;
    const double value = (target.value(place) - normalizer.shift[column]) *
                         normalizer.scale[column];
    t.as<double>()[static_cast<std::size_t>(j)] = value;
    if (value < bounds.least || value > bounds.most)
      outside[static_cast<std::size_t>(j / want.units)] = true;
  }
  // As in training, the target's says what a step counts, if it has one.
  const Tensor* mask = set.find(want.target_mask);
  const std::int64_t first = mask != nullptr ? example : row;
  if (mask == nullptr) mask = said.mask();
  const std::int64_t steps =
      mask != nullptr ? mask->elements() / mask->shape()[0] : 1;
  for (std::int64_t p = 0; p < shape[0]; ++p)
    counts.as<double>()[static_cast<std::size_t>(p)] =
        mask != nullptr ? mask->value(first * steps + p * steps / shape[0]) : 1;
  for (std::size_t p = 0; p < outside.size(); ++p)
    if (outside[p] && counts.as<double>()[p] > 0) return kImpossible;
  const auto put = [&](const Tensor& host) {
    auto buffer = device->allocate(host.shape(), DType::kF64);
    device->upload(buffer->view(), host);
    return buffer;
  };
  const auto of_y = put(y), of_t = put(t), of_counts = put(counts);
  const auto sum = device->allocate({1}, DType::kF64);
  device->loss(sum->view(), loss, {}, of_y->view(), of_t->view(),
               of_counts->view(), 1);
  double found = 0;
  device->read({&found, 1}, sum->view());
  return found;
}

// The logarithm of a mean of exponentials, without leaving the range of either.
double Scorer::State::score_of(const data::DataSet& set,
                               const std::vector<Prediction>& made,
                               std::int64_t example) {
  std::vector<double> likely;
  for (std::int64_t s = 0; s < options.samples; ++s) {
    double sum = 0;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      sum -= loss_of(set, outputs[k], made[k], example,
                     example * options.samples + s);
    likely.push_back(sum);
  }
  const double most = std::ranges::max(likely);
  if (most == -kImpossible) return most;
  double sum = 0;
  for (const double one : likely) sum += std::exp(one - most);
  return most + std::log(sum / static_cast<double>(likely.size()));
}

void Scorer::State::score(const data::DataSet& set,
                          const std::vector<Prediction>& encoded,
                          const TakeScores& take) {
  const std::vector<Prediction>* made = &encoded;
  if (decoder) {
    draw(encoded[0].values);
    Network& network = decoder->network();
    network.predict(network.batch_of(codes).inputs, decoded);
    made = &decoded;
  }
  std::vector<double> scores;
  scores.reserve(static_cast<std::size_t>(set.examples()));
  for (std::int64_t i = 0; i < set.examples(); ++i)
    scores.push_back(score_of(set, *made, i));
  take(scored(set, std::move(scores), seen));
  seen += set.examples();
}

Scorer::Scorer(const Model& model, const ScoreOptions& options)
    : state_(std::make_unique<State>(model, options)) {}
Scorer::~Scorer() = default;

void Scorer::run(const std::string& spec, const TakeScores& take) {
  state_->encoder->run(
      spec, [](const data::Metadata&) {},
      [&](const data::DataSet& set, const std::vector<Prediction>& encoded) {
        state_->score(set, encoded, take);
      });
}

void Scorer::run(data::Examples& examples, const TakeScores& take) {
  state_->encoder->run(
      examples, [](const data::Metadata&) {},
      [&](const data::DataSet& set, const std::vector<Prediction>& encoded) {
        state_->score(set, encoded, take);
      });
}

}  // namespace dl::nn
