// Batch normalization folded into weights.

#include "libcore/nn/layers/parts/fold.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::View;

std::vector<double> download(device::Device& device, View view) {
  Tensor host(DType::kF64, view.shape);
  device.download(host, view);
  device.finish();
  return {host.as<double>().begin(), host.as<double>().end()};
}

void upload(device::Device& device, View to,
            const std::vector<double>& values) {
  Tensor host(DType::kF64, to.shape);
  std::copy(values.begin(), values.end(), host.as<double>().begin());
  device.upload(to, host);
  device.finish();
}

}  // namespace

Scaling scaling_of(device::Device& device, View mean, View variance, View gamma,
                   View beta, double epsilon) {
  const auto m = download(device, mean), v = download(device, variance),
             g = download(device, gamma), b = download(device, beta);
  Scaling scaling;
  for (std::size_t c = 0; c < m.size(); ++c) {
    scaling.factor.push_back(g[c] / std::sqrt(v[c] + epsilon));
    scaling.offset.push_back(b[c] - m[c] * scaling.factor[c]);
  }
  return scaling;
}

Folded fold(device::Device& device, View& w, View& b, const Scaling& scaling) {
  if (scaling.empty()) return {};
  const auto outputs = static_cast<std::int64_t>(scaling.factor.size());
  require(w.shape[0] == outputs, "a scaling of another number of channels");
  Folded folded{device.allocate(w.shape), device.allocate({outputs})};
  std::vector<double> bias(scaling.factor.size(), 0.0);
  if (!b.empty()) bias = download(device, b);
  // Row by row: weights as doubles would be twice as large as all else.
  const Shape row{w.elements() / outputs};
  for (std::int64_t c = 0; c < outputs; ++c) {
    const auto i = static_cast<std::size_t>(c);
    std::vector<double> weights = download(device, w.at(c * row[0], row));
    for (double& weight : weights) weight *= scaling.factor[i];
    upload(device, folded.weight->view().at(c * row[0], row), weights);
    bias[i] = bias[i] * scaling.factor[i] + scaling.offset[i];
  }
  upload(device, folded.bias->view(), bias);
  w = folded.weight->view();
  b = folded.bias->view();
  return folded;
}

}  // namespace dl::nn
