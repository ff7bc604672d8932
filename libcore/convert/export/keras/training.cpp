// Restraints of weights as Keras's layers express them: regularizers and
// constraints by kind of weights.

#include <algorithm>
#include <limits>

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

// How a type calls its weights.
struct Words {
  std::string_view type;
  std::vector<std::string_view> weights;
};

const std::vector<Words>& words() {
  static const std::vector<Words> all = {
      {"Dense", {"kernel"}},
      {"Conv1D", {"kernel"}},
      {"Conv2D", {"kernel"}},
      {"Conv3D", {"kernel"}},
      {"Conv2DTranspose", {"kernel"}},
      {"DepthwiseConv2D", {"depthwise"}},
      {"SeparableConv2D", {"depthwise", "pointwise"}},
      {"LSTM", {"kernel", "recurrent"}},
      {"GRU", {"kernel", "recurrent"}},
      {"SimpleRNN", {"kernel", "recurrent"}},
      {"Embedding", {"embeddings"}}};
  return all;
}

// An object of one of Keras's modules.
Json object_of(const char* module, const char* type, const Json& config) {
  return {{"module", module},
          {"class_name", type},
          {"config", config},
          {"registered_name", nullptr}};
}

// l2 here is of half of the square, there of the square.
Json regularizer(double l1, double l2) {
  return object_of("keras.regularizers", "L1L2", {{"l1", l1}, {"l2", l2 / 2}});
}

// A norm, or else that no number is below 0: Keras has one at a time.
Json constraint(const nn::Constraint& c, const Json& axes) {
  const auto made = [](const char* type, const Json& config) {
    return object_of("keras.constraints", type, config);
  };
  if (!c.bounds_norm()) return made("NonNeg", Json::object());
  if (c.min_norm == 1 && c.max_norm == 1 && c.rate == 1)
    return made("UnitNorm", {{"axis", axes}});
  if (c.min_norm == 0 && c.rate == 1)
    return made("MaxNorm", {{"max_value", c.max_norm}, {"axis", axes}});
  constexpr double kMost = std::numeric_limits<float>::max();
  return made("MinMaxNorm", {{"min_value", c.min_norm},
                             {"max_value", std::min(c.max_norm, kMost)},
                             {"rate", c.rate},
                             {"axis", axes}});
}

// [window..., channels, filters]: all but the last; of a transposed one the
// filters are before that, and a table has an output a column.
Json axes_of(std::string_view type, std::string_view weight) {
  if (type == "Conv2DTranspose") return {0, 1, 3};
  if (weight == "depthwise") return {0, 1};
  if (type == "Conv3D") return {0, 1, 2, 3};
  if (type == "Conv2D" || weight == "pointwise") return {0, 1, 2};
  if (type == "Conv1D") return {0, 1};
  return 0;
}

}  // namespace

void KerasLayer::add_training(const std::string& type, Json& to) const {
  const nn::Regularization& cost = config.training.regularization;
  const nn::Constraint& kept = config.training.constraint;
  const auto found = std::ranges::find(words(), type, &Words::type);
  if (found == words().end() ||
      all_.parameters[layout.parameters_begin].role != nn::Role::kWeight)
    return;
  for (const std::string_view weight : found->weights) {
    const std::string name(weight);
    if (cost.l1 > 0 || cost.l2 > 0)
      to[name + "_regularizer"] = regularizer(cost.l1, cost.l2);
    if (kept.any())
      to[name + "_constraint"] = constraint(kept, axes_of(type, weight));
  }
  if (!is_on("bias")) return;
  if (cost.l1_bias > 0 || cost.l2_bias > 0)
    to["bias_regularizer"] = regularizer(cost.l1_bias, cost.l2_bias);
  if (kept.any() && kept.biases) to["bias_constraint"] = constraint(kept, 0);
}

}  // namespace dl::convert
