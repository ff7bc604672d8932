// The values a network starts from; the formulas are Deeplearning4j's.

#include "libcore/nn/initialise.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/philox.h"

namespace dl::nn {
namespace {

// Keeps the streams of weights apart from those of other uses of the seed.
constexpr std::uint64_t kWeightStreams = 0x7765696768747300;  // "weights"

// What recurrent weights start from, as what weights do.
Training recurrent(Training training) {
  training.weight_init = training.recurrent_init;
  training.weight_value = training.recurrent_value;
  return training;
}

void fill_bias(std::span<float> bias, const Training& training,
               const TensorSpec::Part& part) {
  std::ranges::fill(bias, static_cast<float>(training.bias_init));
  std::ranges::fill(bias.subspan(static_cast<std::size_t>(part.begin),
                                 static_cast<std::size_t>(part.count)),
                    static_cast<float>(part.start));
}

}  // namespace

void draw_weights(std::span<float> weights, const Training& training,
                  std::int64_t fan_in, std::int64_t fan_out, std::uint64_t seed,
                  std::uint64_t index) {
  Philox random(seed, mix({kWeightStreams, index}));
  const auto in = static_cast<double>(fan_in);
  const auto both = in + static_cast<double>(fan_out);
  const auto normal = [&](double deviation) {
    for (float& w : weights)
      w = static_cast<float>(deviation * random.normal());
  };
  switch (training.weight_init) {
    case WeightInit::kXavier:
      return normal(std::sqrt(2 / both));
    case WeightInit::kXavierUniform: {
      const double limit = std::sqrt(6 / both);
      for (float& w : weights)
        w = static_cast<float>(limit * (2 * random.uniform() - 1));
      return;
    }
    case WeightInit::kHe:
      return normal(std::sqrt(2 / in));
    case WeightInit::kLecun:
      return normal(std::sqrt(1 / in));
    case WeightInit::kNormal:
      return normal(training.weight_value > 0 ? training.weight_value
                                              : std::sqrt(1 / in));
    case WeightInit::kZero:
      std::fill(weights.begin(), weights.end(), 0.0f);
      return;
    case WeightInit::kConstant:
      std::fill(weights.begin(), weights.end(),
                static_cast<float>(training.weight_value));
      return;
  }
}

tensor::Tensor initial_parameters(const NetworkConfig& config,
                                  const Layout& layout) {
  tensor::Tensor all(tensor::DType::kF32, {layout.parameter_count});
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const Segment& segment = layout.parameters[i];
    const Training& training = config.layers[segment.layer].training;
    const auto part =
        all.as<float>().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements()));
    if (segment.role == Role::kWeight)
      draw_weights(part, segment.recurrent ? recurrent(training) : training,
                   segment.fan_in, segment.fan_out, config.seed, i);
    else if (segment.role == Role::kBias)
      fill_bias(part, training, segment.part);
    else
      std::ranges::fill(part, static_cast<float>(segment.start));
  }
  return all;
}

tensor::Tensor initial_statistics(const Layout& layout) {
  tensor::Tensor all(tensor::DType::kF32, {layout.statistics_count});
  for (const Segment& segment : layout.statistics) {
    const auto part =
        all.as<float>().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements()));
    std::ranges::fill(part, static_cast<float>(segment.start));
  }
  return all;
}

tensor::Tensor initial_updater_state(const Layout& layout) {
  tensor::Tensor all(tensor::DType::kF32, {layout.state_count});
  for (const StateRange& range : layout.state) {
    const auto part = all.as<float>().subspan(
        static_cast<std::size_t>(range.offset),
        static_cast<std::size_t>((range.end - range.begin) *
                                 range.per_parameter));
    const double start = tensor::initial_state(range.updater.step(0, 0));
    std::fill(part.begin(), part.end(), static_cast<float>(start));
  }
  return all;
}

}  // namespace dl::nn
