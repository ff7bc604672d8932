// The keys of all objects but layers, which are their types' own.

#include <algorithm>
#include <iterator>

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn {
namespace {

// Sums of steps to weights so held cannot overflow.
constexpr std::string_view kNorm = "(0, 1000000]";
constexpr std::string_view kBy[] = {"iteration", "epoch"};
constexpr std::string_view kRootOrSquare[] = {"root", "square"};
constexpr std::string_view kRootOrCorrected[] = {"root", "corrected"};

// Functions, not constants: the names of values are another file's.
std::vector<Key> network_keys() {
  return {
      {"network", "", "seed", Kind::kInteger, "0",
       "Seed of all random numbers of the network: weights and dropout.",
       "0..9223372036854775807"},
      {"network", "sequence", "input", Kind::kObject, "required",
       "Shape of one example.", "", "input"},
      {"network", "", "augment", Kind::kObjects, "(none)",
       "Steps that change pictures at random in training.", "", "augment"},
      {"network", "", "updater", Kind::kObject, R"({"type": "sgd"})",
       "Turns gradients into updates.", "", "updater"},
      {"network", "", "bias_updater", Kind::kObject, "(see below)",
       "The updater of biases.", "", "updater"},
      {"network", "", "regularization", Kind::kObject, "{}",
       "Penalties on the size of parameters.", "", "regularization"},
      {"network", "", "constraints", Kind::kObject, "{}",
       "Constraints on weights.", "", "constraints"},
      {"network", "", "weight_noise", Kind::kObject, "{}",
       "Noise added to weights in training.", "", "weight_noise"},
      {"network", "", "weight_init", Kind::kTagOrObject, R"("xavier")",
       "Initialization of weights.", "", "weight_init"},
      {"network", "", "bias_init", Kind::kNumber, "0",
       "Initial value of biases."},
      {"network", "", "gradient_normalization", Kind::kOneOf, R"("none")",
       "Normalization or clipping of gradients, before anything else.", "", "",
       names_of<GradientNormalization>()},
      {"network", "", "gradient_threshold", Kind::kNumber, "1",
       "Limit of the clipping methods.", kOver0},
      {"network", "", "tbptt_length", Kind::kInteger, "(the whole sequence)",
       "Steps that gradients are propagated back through time.", kCount},
      {"network", "", "tbptt_update", Kind::kBoolean, "(false)",
       "Updates the parameters after each tbptt_length steps."},
      {"network", "sequence", "layers", Kind::kObjects, "required",
       "The layers in their order, an output layer last.", "", "layer"},
      {"network", "graph", "inputs", Kind::kObjects, "required",
       "Inputs that make up one example.", "", "graph_input"},
      {"network", "graph", "nodes", Kind::kObjects, "required",
       "Layers, and the inputs of each.", "", "node"},
      {"network", "graph", "outputs", Kind::kNames, "required",
       "Output nodes of the network: layers with a loss."},
  };
}

std::vector<Key> input_and_node_keys() {
  return {
      {"input", "", "shape", Kind::kShape, "required",
       "Extents of one example, [height, width, channels] for an image.",
       kCount},

      {"graph_input", "", "name", Kind::kName, "required",
       "Names the input in nodes, and its tensor in data: features/NAME."},
      {"graph_input", "", "shape", Kind::kShape, "required",
       "Extents of one example of it.", kCount},

      {"node", "", "from", Kind::kNames, "(the node before)",
       "Inputs or nodes that this node reads; for the first node, the first "
       "input."},
      {"node", "", "shares", Kind::kName, "(its own)",
       "Node of the same type whose settings and parameters this one uses."},
  };
}

std::vector<Key> updater_keys() {
  const auto updaters = names_of<device::Updater>().subspan(1);  // not "none"
  return {
      {"updater", "", "type", Kind::kTag, "required", "The rule.", "", "",
       updaters},
      {"updater", "sgd adam adamw amsgrad adamax nadam adabelief",
       "learning_rate", Kind::kNumberOrObject, "0.001", "Step size.", kAtLeast0,
       "schedule"},
      {"updater", "nesterov momentum adagrad rmsprop", "learning_rate",
       Kind::kNumberOrObject, "0.1", "Step size.", kAtLeast0, "schedule"},
      {"updater", "adadelta", "learning_rate", Kind::kNumberOrObject, "1",
       "Step size.", kAtLeast0, "schedule"},
      {"updater", "nesterov momentum", "momentum", Kind::kNumberOrObject, "0.9",
       "Share of the velocity kept in each step.", kShare, "schedule"},
      {"updater", "adam adamw amsgrad adamax nadam adabelief", "beta1",
       Kind::kNumber, "0.9", "Decay of the mean of gradients.", kShare},
      {"updater", "adam adamw amsgrad nadam adabelief", "beta2", Kind::kNumber,
       "0.999", "Decay of the mean of squared gradients.", kShare},
      {"updater", "adamax", "beta2", Kind::kNumber, "0.999",
       "Decay of the largest gradient.", kShare},
      {"updater", "rmsprop adadelta", "decay", Kind::kNumber, "0.95",
       "Decay of the mean of squared gradients.", kShare},
      {"updater", "adam rmsprop adamw amsgrad adamax nadam", "epsilon",
       Kind::kNumber, "1e-8", "Keeps the divisor from zero.", kOver0},
      {"updater", "adagrad adadelta", "epsilon", Kind::kNumber, "1e-6",
       "Keeps the divisor from zero.", kOver0},
      {"updater", "adabelief", "epsilon", Kind::kNumber, "1e-14",
       "Keeps the divisor from zero.", kOver0},
      {"updater", "adagrad rmsprop", "epsilon_at", Kind::kOneOf, R"(("root"))",
       "Place of epsilon: added to the root, or inside the root.", "", "",
       kRootOrSquare},
      {"updater", "adam adamw amsgrad nadam", "epsilon_at", Kind::kOneOf,
       R"(("root"))",
       "Place of epsilon: added to the root, or to the root after bias "
       "correction.",
       "", "", kRootOrCorrected},
      {"updater", "adagrad rmsprop", "start", Kind::kNumber, "(epsilon)",
       "Initial value of the squares.", kAtLeast0},
      {"updater", "nadam", "momentum_decay", Kind::kNumber, "(0.004)",
       "Rate at which its momentum rises to beta1.", kOver0},
      {"updater", "adamw", "weight_decay", Kind::kNumber, "0.01",
       "Share of each weight that a step subtracts, times the learning rate.",
       kAtLeast0},
  };
}

std::vector<Key> schedule_keys() {
  return {
      {"schedule", "", "schedule", Kind::kTag, "required", "The rule.", "", "",
       names_of<Schedule::Kind>()},
      {"schedule",
       "fixed step exponential polynomial inverse sigmoid cosine cycle",
       "initial", Kind::kNumber, "required", "The value at the start.",
       kAtLeast0},
      {"schedule", "step exponential", "decay", Kind::kNumber, "required",
       "The factor.", kOver0},
      {"schedule", "inverse sigmoid", "decay", Kind::kNumber, "required",
       "Rate of the decrease.", kOver0},
      {"schedule", "cycle", "decay", Kind::kNumber, "0.1",
       "Value at the end of a cycle, as a share of the initial value.",
       "(0, 1]"},
      {"schedule", "cosine", "decay", Kind::kNumber, "(1)",
       "Height of each cosine relative to the one before.", kOver0},
      {"schedule", "step", "every", Kind::kInteger, "required",
       "Length of a step.", kCount},
      {"schedule", "inverse", "every", Kind::kInteger, "(1)",
       "Length of a step; 1 is a smooth curve.", kCount},
      {"schedule", "polynomial", "power", Kind::kNumber, "1",
       "The exponent; 1 is a straight line.", kOver0},
      {"schedule", "inverse", "power", Kind::kNumber, "1", "The exponent.",
       kOver0},
      {"schedule", "polynomial cosine", "limit", Kind::kInteger, "required",
       "Iteration or epoch at which the value reaches final.", kCount},
      {"schedule", "polynomial", "final", Kind::kNumber, "(none)",
       "The value at the end; else 0.", kAtLeast0},
      {"schedule", "cosine", "final", Kind::kNumber, "0",
       "The value at the end.", kAtLeast0},
      {"schedule", "cosine", "growth", Kind::kNumber, "(one cosine)",
       "Factor by which each further cosine is longer.", "[1, 1000]"},
      {"schedule", "sigmoid", "middle", Kind::kInteger, "required",
       "Iteration or epoch at which the value has fallen to half.", kCount},
      {"schedule", "cycle", "peak", Kind::kNumber, "required",
       "The value between rise and fall.", kAtLeast0},
      {"schedule", "cycle", "length", Kind::kInteger, "required",
       "Length of a cycle.", kCount},
      {"schedule", "cycle", "annealing", Kind::kNumber, "0.1",
       "The share of a cycle, at its end, that goes below the initial value.",
       kShare},
      {"schedule", "map", "values", Kind::kMap, "required",
       "Values by the iteration or epoch from which they apply.", kAtLeast0},
      {"schedule", "", "warmup", Kind::kInteger, "0",
       "Length of the warm-up, in which the value rises from 0.",
       "0..2147483647"},
      {"schedule", "", "warmup_from", Kind::kNumber, "(none)",
       "Value at the start of a warm-up after which the schedule begins.",
       kAtLeast0},
      {"schedule", "", "by", Kind::kOneOf, R"("iteration")",
       "Unit of i, which counts from 0.", "", "", kBy},
  };
}

// The keys that restrain weights while they are trained.
std::vector<Key> weight_keys() {
  return {
      {"regularization", "", "l1", Kind::kNumber, "0",
       "Cost of each weight's absolute value.", kAtLeast0},
      {"regularization", "", "l2", Kind::kNumber, "0",
       "Cost of half of each weight's square.", kAtLeast0},
      {"regularization", "", "l1_bias", Kind::kNumber, "0", "l1 of the biases.",
       kAtLeast0},
      {"regularization", "", "l2_bias", Kind::kNumber, "0", "l2 of the biases.",
       kAtLeast0},
      {"regularization", "", "weight_decay", Kind::kNumber, "0",
       "Share of each weight that a step subtracts, times the learning rate.",
       kAtLeast0},
      {"regularization", "", "weight_decay_bias", Kind::kNumber, "0",
       "weight_decay of the biases.", kAtLeast0},

      {"constraints", "", "max_norm", Kind::kNumber, "(no limit)",
       "The largest norm of the weights of one output.", kNorm},
      {"constraints", "", "min_norm", Kind::kNumber, "0",
       "The smallest norm of the weights of one output.", "[0, 1000000]"},
      {"constraints", "", "rate", Kind::kNumber, "1",
       "Share of the way to its bound that each update moves a norm.",
       "(0, 1]"},
      {"constraints", "", "non_negative", Kind::kBoolean, "false",
       "Sets negative weights to 0."},
      {"constraints", "", "biases", Kind::kBoolean, "false",
       "Applies the constraints to a layer's biases, too, as one vector."},

      {"weight_noise", "", "drop_connect", Kind::kNumber, "0",
       "The share of weights that is dropped.", kShare},
      {"weight_noise", "", "deviation", Kind::kNumber, "0",
       "The standard deviation of normal noise.", kAtLeast0},
      {"weight_noise", "", "multiplicative", Kind::kBoolean, "false",
       "Multiplies by the noise, around 1; else adds it."},
  };
}

std::vector<Key> weight_init_keys() {
  return {
      {"weight_init", "", "type", Kind::kTag, "required", "The distribution.",
       "", "", names_of<WeightInit>()},
      {"weight_init", "constant", "value", Kind::kNumber, "required",
       "The value of every weight."},
      {"weight_init", "normal truncated_normal", "deviation", Kind::kNumber,
       "(1 / sqrt(fan in))", "The standard deviation.", kOver0},
      {"weight_init", "uniform", "limit", Kind::kNumber, "(1 / sqrt(fan in))",
       "Weights are drawn between -limit and limit.", kOver0},
      {"weight_init", "log_normal", "mean", Kind::kNumber, "0",
       "The mean of the logarithm."},
      {"weight_init", "log_normal", "deviation", Kind::kNumber, "1",
       "The standard deviation of the logarithm.", kOver0},
      {"weight_init", "variance_scaling", "scale", Kind::kNumber, "1",
       "Variance times the fan.", kOver0},
      {"weight_init", "variance_scaling", "mode", Kind::kOneOf, R"("fan_in")",
       "Fan to divide by; fan_avg is the mean of both.", "", "",
       names_of<FanMode>()},
      {"weight_init", "variance_scaling", "distribution", Kind::kOneOf,
       R"("truncated_normal")", "Distribution that weights are drawn from.", "",
       "", names_of<ScaledDistribution>()},
      {"weight_init", "orthogonal", "gain", Kind::kNumber, "1",
       "Factor of the matrix.", kOver0},
  };
}

std::vector<Key> function_keys() {
  return {
      {"activation", "", "type", Kind::kTag, "required", "The function.", "",
       "", names_of<device::Activation>()},
      {"activation", "leaky_relu", "alpha", Kind::kNumber, "0.01",
       "Slope below 0.", kAtLeast0},
      {"activation", "elu", "alpha", Kind::kNumber, "1",
       "The function approaches -alpha below 0.", kAtLeast0},
      {"activation", "gelu", "approximate", Kind::kBoolean, "(false)",
       "Uses the approximation with tanh."},
      {"activation", "capped_relu", "max", Kind::kNumber, "required",
       "The largest value.", kOver0},
      {"activation", "capped_relu", "negative_slope", Kind::kNumber, "0",
       "The slope below the threshold.", kAtLeast0},
      {"activation", "capped_relu", "threshold", Kind::kNumber, "0",
       "Lower limit of the part where y = x.", kAtLeast0},
      {"activation", "thresholded_relu", "theta", Kind::kNumber, "1",
       "Largest x for which the function is 0.", kAtLeast0},
      {"activation", "swish", "beta", Kind::kNumber, "1",
       "Factor inside the sigmoid."},
      {"activation", "hard_sigmoid", "slope", Kind::kNumber, "0.2",
       "Slope of the linear part.", kOver0},

      {"loss", "", "type", Kind::kTag, "required", "The loss.", "", "",
       names_of<device::Loss>()},
      {"loss", "huber", "delta", Kind::kNumber, "1",
       "Error above which the loss is linear.", kOver0},
      {"loss", "focal binary_focal", "gamma", Kind::kNumber, "2",
       "Focusing exponent: the larger, the less well-classified examples "
       "count.",
       kAtLeast0},
      {"loss", "focal", "alpha", Kind::kNumber, "1", "Factor of the loss.",
       kOver0},
      {"loss", "binary_focal", "alpha", Kind::kNumber, "(1 for both)",
       "Weight of t; the weight of 1 - t is then 1 - alpha.", "[0, 1]"},
  };
}

}  // namespace

std::vector<Key> object_keys() {
  std::vector<Key> all;
  for (const auto keys :
       {network_keys, input_and_node_keys, updater_keys, schedule_keys,
        weight_keys, weight_init_keys, function_keys})
    std::ranges::move(keys(), std::back_inserter(all));
  return all;
}

}  // namespace dl::nn
