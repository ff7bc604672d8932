// Small networks and mini-batches for the tests of this folder.

#ifndef DL_TESTS_UNIT_NN_SUPPORT_H_
#define DL_TESTS_UNIT_NN_SUPPORT_H_

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/device/open.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/network.h"

namespace dl::nn::testing {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

// `layers`: JSON objects; `more`: further keys of the top level, each with a
// comma before it.
inline NetworkConfig sequence(const std::string& shape,
                              const std::string& layers,
                              const std::string& more = "") {
  return parse_network(R"({"seed": 7, "input": {"shape": )" + shape + "}" +
                           more + R"(, "layers": [)" + layers + "]}",
                       "'test.json'");
}

inline Network compile(const NetworkConfig& config, std::int64_t max_batch,
                       const std::string& device = "reference", int lanes = 1,
                       bool training = true,
                       const data::Normalizer& normalizer = {}) {
  return Network(config, normalizer, max_batch,
                 device::open_lanes(device, lanes), training);
}

// Examples and labels that own their memory.
struct Examples {
  Tensor features, labels, mask, features_mask;
  Batch batch() const {
    return {&features, labels.empty() ? nullptr : &labels,
            mask.empty() ? nullptr : &mask,
            features_mask.empty() ? nullptr : &features_mask};
  }
};

// For sequences [n, steps, ...]: example i is i % steps + 1 steps long.
inline Tensor lengths_mask(std::int64_t n, std::int64_t steps) {
  Tensor mask(DType::kU8, {n, steps});
  for (std::int64_t i = 0; i < n * steps; ++i)
    mask.as<std::uint8_t>()[static_cast<std::size_t>(i)] =
        i % steps <= i / steps % steps;
  return mask;
}

// Whether a loss wants class numbers, or else 0 and 1 alone.
inline bool wants_classes(device::Loss loss) {
  return loss == device::Loss::kNegativeLogLikelihood ||
         loss == device::Loss::kFocal ||
         loss == device::Loss::kCategoricalHinge;
}
inline bool wants_sides(device::Loss loss) {
  return loss == device::Loss::kHinge || loss == device::Loss::kSquaredHinge ||
         loss == device::Loss::kMultiLabel;
}

// Features from N(0, 1); labels as the loss wants them, else reals in [0, 1).
inline Examples random_examples(const NetworkConfig& config, std::int64_t n,
                                std::uint64_t stream = 1) {
  Philox random(99, stream);
  Examples e;
  e.features = Tensor(DType::kF64, config.inputs[0].shape.with_first(n));
  for (double& x : e.features.as<double>()) x = random.normal();
  const auto [units, loss, activation] = output_of(config);
  const LayerLayout last = layout_of(config).layers.back();
  if (wants_classes(loss.kind)) {
    e.labels = Tensor(DType::kI32, places_of(last.output.shape).with_first(n));
    for (std::int32_t& y : e.labels.as<std::int32_t>())
      y = static_cast<std::int32_t>(
          random.below(static_cast<std::uint64_t>(units)));
  } else {
    e.labels = Tensor(DType::kF64, last.output.shape.with_first(n));
    for (double& y : e.labels.as<double>()) y = random.uniform();
    if (wants_sides(loss.kind))
      for (double& y : e.labels.as<double>()) y = y < 0.5 ? 0 : 1;
  }
  return e;
}

// The same for a network of any inputs and outputs, by the names of data.
inline data::DataSet random_set(const NetworkConfig& config, std::int64_t n,
                                std::uint64_t stream = 1) {
  Philox random(99, stream);
  const Wanted wanted = wanted_by(config, layout_of(config));
  data::DataSet set;
  for (const WantedInput& input : wanted.inputs) {
    Tensor& x = set.tensors[input.tensor];
    x = Tensor(DType::kF64, input.shape.with_first(n));
    for (double& value : x.as<double>())
      value = input.tokens > 0 ? static_cast<double>(random.below(
                                     static_cast<std::uint64_t>(input.tokens)))
                               : random.normal();
  }
  for (const WantedOutput& output : wanted.outputs) {
    if (output.target) continue;
    Tensor& y = set.tensors[output.tensor];
    if (output.loss == device::Loss::kNegativeLogLikelihood) {
      y = Tensor(DType::kI32, output.places.with_first(n));
      for (std::int32_t& label : y.as<std::int32_t>())
        label = static_cast<std::int32_t>(
            random.below(static_cast<std::uint64_t>(output.units)));
      continue;
    }
    std::vector<std::int64_t> extents{n};
    for (const std::int64_t extent : output.places.extents())
      extents.push_back(extent);
    extents.push_back(output.units);
    y = Tensor(DType::kF64, Shape(std::span<const std::int64_t>(extents)));
    for (double& target : y.as<double>()) target = random.uniform();
  }
  return set;
}

// Steps [begin, end) of [n, steps, ...], as kF32.
inline Tensor steps_of(const Tensor& all, std::int64_t begin,
                       std::int64_t end) {
  const std::int64_t n = all.shape()[0], steps = all.shape()[1],
                     each = all.elements() / n / steps;
  const Shape row = all.shape().without_first().without_first();
  Tensor part(DType::kF32, row.with_first(end - begin).with_first(n));
  std::size_t at = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = begin * each; k < end * each; ++k)
      part.as<float>()[at++] =
          static_cast<float>(all.value(i * steps * each + k));
  return part;
}

// A vector on the network's device, as doubles, and back.
inline std::vector<double> values(Network& network, tensor::View view) {
  Tensor host(DType::kF64, view.shape);
  network.device().download(host, view);
  const auto all = host.as<double>();
  return {all.begin(), all.end()};
}

inline void assign(Network& network, tensor::View view,
                   const std::vector<double>& from) {
  Tensor host(DType::kF64, view.shape);
  std::copy(from.begin(), from.end(), host.as<double>().begin());
  network.device().upload(view, host);
}

inline std::vector<double> predict(Network& network, const Tensor& features) {
  Tensor out;
  network.predict(features, out);
  const auto all = out.as<float>();
  return {all.begin(), all.end()};
}

// The largest difference; NaN if there is one.
inline double distance(const std::vector<double>& a,
                       const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= worst)) worst = d;
    if (d != d) return d;
  }
  return worst;
}

// One training step; the loss before it.
inline double train(Network& network, const Batch& batch, std::int64_t i) {
  const Position at{i, 0, static_cast<std::uint64_t>(i)};
  const double loss = network.compute_gradient(batch, at);
  network.apply_update(at);
  return loss;
}

inline NetworkConfig example_network(const std::string& name) {
  std::ifstream file(std::string(DL_SOURCE_DIR) + "/scripts/share/examples/" +
                     name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_network(text, "'" + name + "'");
}

}  // namespace dl::nn::testing

#endif  // DL_TESTS_UNIT_NN_SUPPORT_H_
