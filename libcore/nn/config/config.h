// A network as its configuration file says it, dl-network(5), checked and with
// every default filled in.

#ifndef DL_LIBCORE_NN_CONFIG_CONFIG_H_
#define DL_LIBCORE_NN_CONFIG_CONFIG_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/device/api/device.h"
#include "libcore/nn/config/names.h"
#include "libcore/nn/config/settings.h"
#include "libcore/nn/update/schedule.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

struct UpdaterConfig {
  device::Updater kind = device::Updater::kSgd;
  Schedule learning_rate;
  Schedule momentum{.initial = 0.9};
  // beta2 is the decay of rmsprop and adadelta.
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  device::EpsilonAt epsilon_at = device::EpsilonAt::kRoot;
  std::optional<double> start = {};  // of adagrad's and rmsprop's squares
  double momentum_decay = 0.004;     // of nadam
  double weight_decay = 0;           // of weights, adamw's
  bool operator==(const UpdaterConfig&) const = default;
  // beside: so many train the same parameters side by side, each with updater
  // state of its own, and see each other's updates.  A gradient then counts
  // after as many mini-batches in the mean as with one, momentum / (1 -
  // momentum): of those, beside - 1 go by before an update is applied, and
  // `beside` from one of a worker's own to the next.  With 1 / (1 - momentum)
  // of them none is left (Mitliagkas et al., "Asynchrony begets momentum",
  // 2016).  Likewise a mean of squares, beta2, goes back over as many
  // mini-batches of all, but over ten of its own at the least.
  device::UpdaterStep step(std::int64_t iteration, std::int64_t epoch,
                           std::int64_t concurrent_replicas = 1) const;
};

struct Regularization {
  double l1 = 0, l2 = 0, l1_bias = 0, l2_bias = 0;
  // Taken off by the update, times the learning rate.
  double weight_decay = 0, weight_decay_bias = 0;
};

// A constraint on the weights of each output, constraints.h.
struct Constraint {
  double min_norm = 0, max_norm = std::numeric_limits<double>::infinity();
  double rate = 1;  // how far a norm is brought towards its bound
  bool non_negative = false;
  bool biases = false;  // the biases as well, as one vector
  bool bounds_norm() const { return min_norm > 0 || std::isfinite(max_norm); }
  bool any() const { return non_negative || bounds_norm(); }
};

// Noise on weights in training, weight_noise.h.
struct WeightNoise {
  double drop_connect = 0;  // the share that is dropped
  double deviation = 0;     // of normal noise; not with drop_connect
  bool multiplicative = false;
  bool any() const { return drop_connect > 0 || deviation > 0; }
};

// Deeplearning4j's five, before l1/l2 and the updater; norms under 1e-5 are
// left alone by the renormalizing ones.
enum class GradientNormalization {
  kNone,
  kRenormalizeL2PerLayer,
  kRenormalizeL2PerParameter,
  kClipElementwise,
  kClipL2PerLayer,
  kClipL2PerParameter
};

enum class WeightInit {
  kXavier,
  kXavierUniform,
  kHe,
  kLecun,
  kNormal,
  kZero,
  kConstant,
  kHeUniform,
  kLecunUniform,
  kTruncatedNormal,
  kUniform,
  kLogNormal,
  kVarianceScaling,
  kOrthogonal,
  kIdentity,
  kOnes
};

// The settings of kVarianceScaling.
enum class FanMode { kIn, kOut, kAverage };
enum class ScaledDistribution { kTruncatedNormal, kNormal, kUniform };

// The initial weights, dl-network(5).
struct WeightStart {
  WeightInit kind = WeightInit::kXavier;
  // The value, deviation, limit or gain; 0 in its place: 1 / sqrt(fan in).
  double value = 0;
  double mean = 0;   // kLogNormal
  double scale = 1;  // kVarianceScaling
  FanMode mode = FanMode::kIn;
  ScaledDistribution distribution = ScaledDistribution::kTruncatedNormal;
};

// Settings of every layer with parameters: the file's defaults, overridden by
// the layer.
struct Training {
  UpdaterConfig updater;       // of weights
  UpdaterConfig bias_updater;  // of biases; the same where not given
  Regularization regularization;
  Constraint constraint;
  WeightNoise weight_noise;
  GradientNormalization gradient_normalization = GradientNormalization::kNone;
  double gradient_threshold = 1.0;
  WeightStart weight_init;
  WeightStart recurrent_init;  // as weight_init where not given
  double bias_init = 0;
  bool frozen = false;  // its parameters and statistics stay as they are
};

struct LayerType;  // layer_type.h

// A value that flows through a network: inputs come first, in their order, and
// then what each layer gives.
using Value = std::size_t;

struct LayerConfig {
  const LayerType* type = nullptr;
  std::string name;        // unique; default TYPE + number ("conv2d1")
  LayerSettings settings;  // of the type's own keys
  Training training;
  std::vector<Value> from;  // its inputs, all before it
  // The layer whose parameters it has, an index before its own; or none.
  std::optional<std::size_t> shares = {};
  // The layer, an index before its own, whose weight a layer with tied weights
  // uses transposed instead of one of its own.
  std::optional<std::size_t> tied_to = {};
  // time_distributed: the type sees each step of a sequence as an example.
  bool each_step = false;
  // The value that the output of a layer with a loss is compared with; none:
  // labels.
  std::optional<Value> target = {};
  std::string place = {};  // in the document: "layers[2]", "nodes[5]"
};

struct AugmentType;  // augment/augment_type.h

// A step of augmentation.
struct AugmentConfig {
  const AugmentType* type = nullptr;
  LayerSettings settings;
};

struct InputConfig {
  std::string name;     // of a graph; a sequence's only input has none
  tensor::Shape shape;  // of one example
  // Whether two dimensions are a sequence; where that is not said, they are if
  // a layer reads sequences.
  std::optional<bool> steps = {};
};

// Layers in topological order: a sequence is the graph that it is.
struct NetworkConfig {
  std::uint64_t seed = 0;
  std::int64_t tbptt_length = 0;       // 0: gradients cross all steps
  bool tbptt_update = false;           // after each so many (time_segments.h)
  std::vector<AugmentConfig> augment;  // of pictures, in training alone
  std::vector<InputConfig> inputs;
  std::vector<LayerConfig> layers;
  // Layers with a loss, in their order; of a part (part_of.h), any layers.
  std::vector<std::size_t> outputs;
  Json source;  // the document, as the model file keeps it
  // Whether data call inputs and outputs by their names; where that is not
  // said, they do if there are several.  A part is called as in the whole.
  std::optional<bool> names_inputs = {}, names_outputs = {};

  bool is_graph() const { return !inputs.at(0).name.empty(); }
  Value value_of(std::size_t layer) const { return inputs.size() + layer; }
};

// An output of a network, for which it is trained.
struct OutputSpec {
  std::int64_t units = 0;  // numbers an example, or a step of one
  device::LossSpec loss;   // without the weights of several outputs
  device::ActivationSpec activation;
};
OutputSpec output_of(const NetworkConfig& config, std::size_t output = 0);

// Reads a network configuration.
// Throws Error: kConfig.  The message lists every mistake, one a line, each as
// "'lenet.json': layers[2].units: want integer 1..2147483647, got -1"; an
// unknown key or value suggests the nearest valid one.
NetworkConfig parse_network(std::string_view text, const std::string& name);

// JSON Schema (draft 2020-12) of the configuration, from the table that
// parse_network() uses.
Json network_schema();

// The resolved configuration: every default spelt out.  Parses to the same.
Json to_json(const NetworkConfig& config);
// The same for people to edit: what all layers say is said once, at the top.
Json readable_json(const NetworkConfig& config);

std::string_view name_of(device::Loss loss);
std::string_view name_of(device::Activation activation);

template <>
std::span<const std::string_view> names_of<WeightInit>();
template <>
std::span<const std::string_view> names_of<FanMode>();
template <>
std::span<const std::string_view> names_of<ScaledDistribution>();
template <>
std::span<const std::string_view> names_of<GradientNormalization>();

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_CONFIG_H_
