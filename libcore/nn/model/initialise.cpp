// The values a network starts from.

#include "libcore/nn/model/initialise.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

const WeightStart& start_of(const NetworkConfig& config,
                            const Segment& segment) {
  const Training& training = config.layers[segment.layer].training;
  return segment.recurrent ? training.recurrent_init : training.weight_init;
}

void fill_bias(std::span<float> bias, const Training& training,
               const TensorSpec::Part& part) {
  std::ranges::fill(bias, static_cast<float>(training.bias_init));
  std::ranges::fill(bias.subspan(static_cast<std::size_t>(part.begin),
                                 static_cast<std::size_t>(part.count)),
                    static_cast<float>(part.start));
}

}  // namespace

void check_weight_inits(const NetworkConfig& config, const Layout& layout) {
  for (const Segment& segment : layout.parameters) {
    if (segment.role != Role::kWeight ||
        start_of(config, segment).kind != WeightInit::kIdentity)
      continue;
    const auto extents = segment.shape.extents();
    if (extents.size() < 2 || extents.front() != extents.back())
      throw Error{Code::kConfig,
                  segment.name +
                      ": weight_init identity wants as many outputs as "
                      "inputs, the tensor is " +
                      segment.shape.to_string()};
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
      draw_weights(part, start_of(config, segment), segment, config.seed, i);
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
    const double start = device::initial_state(range.updater.step(0, 0));
    std::fill(part.begin(), part.end(), static_cast<float>(start));
  }
  return all;
}

}  // namespace dl::nn
