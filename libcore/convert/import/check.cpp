// Comparison of an imported model's outputs with recorded ones.

#include "libcore/convert/import/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/device/open.h"
#include "libcore/nn/network.h"

namespace dl::convert {
namespace {

using tensor::Shape;
using tensor::Tensor;

constexpr std::int64_t kBatch = 64;

const Tensor* find(const Arrays& arrays, const Port& port, bool only,
                   const char* usual) {
  auto found = arrays.find(port.name);
  if (found == arrays.end()) found = arrays.find("labels/" + port.name);
  if (found == arrays.end() && only) found = arrays.find(usual);
  return found == arrays.end() ? nullptr : &found->second;
}

// With examples along the first dimension.
Tensor batch_first(const Tensor& from, std::size_t batch) {
  const Shape& shape = from.shape();
  if (batch == 0 || static_cast<int>(batch) >= shape.rank()) return from;
  std::vector<std::int64_t> extents(shape.extents().begin(),
                                    shape.extents().end());
  const auto at = extents.begin() + static_cast<std::ptrdiff_t>(batch);
  const std::int64_t examples = *at;
  std::int64_t ahead = 1;
  for (auto extent = extents.begin(); extent != at; ++extent) ahead *= *extent;
  extents.insert(extents.erase(at) - static_cast<std::ptrdiff_t>(batch),
                 examples);
  Tensor to(tensor::DType::kF32, Shape(std::span<const std::int64_t>(extents)));
  const std::int64_t behind =
      from.elements() / std::max<std::int64_t>(examples * ahead, 1);
  const auto a = from.as<float>();
  auto b = to.as<float>();
  for (std::int64_t i = 0; i < ahead; ++i)
    for (std::int64_t n = 0; n < examples; ++n)
      std::copy_n(a.begin() + (i * examples + n) * behind, behind,
                  b.begin() + (n * ahead + i) * behind);
  return to;
}

// [n, c, ...] as [n, ..., c].
Tensor channels_last(const Tensor& from) {
  const Shape& shape = from.shape();
  if (shape.rank() < 3) return from;
  std::vector<std::int64_t> extents = {shape[0]};
  for (int k = 2; k < shape.rank(); ++k) extents.push_back(shape[k]);
  extents.push_back(shape[1]);
  Tensor to(tensor::DType::kF32, Shape(std::span<const std::int64_t>(extents)));
  const std::int64_t channels = shape[1];
  const std::int64_t places =
      from.elements() / std::max<std::int64_t>(shape[0] * channels, 1);
  const auto a = from.as<float>();
  auto b = to.as<float>();
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t c = at % channels, p = at / channels % places,
                       n = at / channels / places;
    b[i] = a[static_cast<std::size_t>((n * channels + c) * places + p)];
  }
  return to;
}

// Flat rows, as they are where the channels come first.
Tensor unfolded(Tensor given, const Shape& wanted) {
  if (given.shape().rank() != 2 || wanted.rank() < 2 ||
      given.shape()[1] != wanted.elements())
    return given;
  const std::int64_t examples = given.shape()[0];
  given.reshape({examples, wanted.back(), wanted.elements() / wanted.back()});
  return given;
}

std::vector<Tensor> inputs_of(const Imported& imported, const Arrays& arrays) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < imported.inputs.size(); ++i) {
    const Port& port = imported.inputs[i];
    const Tensor* given = find(arrays, port, imported.inputs.size() == 1, "x");
    if (given == nullptr)
      throw Error{Code::kData,
                  "there is no array for the input " + in_quotes(port.name)};
    const Shape& wanted = imported.model->config.inputs[i].shape;
    const Tensor own = batch_first(*given, port.batch);
    inputs.push_back(port.moved ? channels_last(unfolded(own, wanted)) : own);
    Tensor& input = inputs.back();
    if (input.shape().rank() < 1 ||
        (input.shape().without_first() != wanted &&
         input.elements() != input.shape()[0] * wanted.elements()))
      throw Error{Code::kData,
                  "the array for the input " + in_quotes(port.name) + " is " +
                      given->shape().to_string() + ", whose examples are not " +
                      wanted.to_string()};
    input.reshape(wanted.with_first(input.shape()[0]));
    if (input.shape()[0] != inputs[0].shape()[0])
      throw Error{Code::kData,
                  "the inputs are of different numbers of "
                  "examples"};
  }
  if (inputs[0].shape()[0] == 0)
    throw Error{Code::kData, "there is no example to check the model with"};
  return inputs;
}

void add(Difference& difference, const nn::Prediction& mine,
         const Tensor& theirs) {
  difference.examples = theirs.shape()[0];
  const auto a = mine.values.as<float>();
  const auto b = theirs.as<float>();
  const Tensor* mask = mine.mask();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (mask != nullptr) {
      const std::size_t each = a.size() / mask->as<float>().size();
      if (mask->as<float>()[i / each] == 0) continue;
    }
    // The same infinity, and no number in both, differ by nothing.
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    const double gap = same ? 0 : std::abs(static_cast<double>(a[i]) - b[i]);
    difference.largest = std::isnan(gap)
                             ? std::numeric_limits<double>::infinity()
                             : std::max(difference.largest, gap);
    if (std::isfinite(b[i]))  // beside any other nothing would be large
      difference.magnitude =
          std::max(difference.magnitude, std::abs(static_cast<double>(b[i])));
  }
}

}  // namespace

std::vector<Difference> compare(const Imported& imported, const Arrays& arrays,
                                const Arrays& recorded) {
  const nn::Model& model = *imported.model;
  const std::vector<Tensor> inputs = inputs_of(imported, arrays);
  nn::Network network(
      model.config, model.normalizers, kBatch,
      device::open_lanes("cpu", static_cast<int>(available_cores())), false);
  nn::put_into(network, model);
  std::vector<nn::Part> parts;
  parts.reserve(inputs.size());
  for (const Tensor& input : inputs) parts.push_back({&input, nullptr});
  std::vector<nn::Prediction> outputs;
  network.predict(parts, outputs);
  std::vector<Difference> all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = imported.outputs[i];
    const Tensor* given = find(recorded, port, outputs.size() == 1, "y");
    if (given == nullptr) continue;
    const Tensor own = batch_first(*given, port.batch);
    const Tensor theirs = port.moved ? channels_last(own) : own;
    if (theirs.elements() != outputs[i].values.elements())
      throw Error{Code::kData,
                  "the array for the output " + in_quotes(port.name) + " is " +
                      given->shape().to_string() + ", the model gives " +
                      outputs[i].values.shape().to_string()};
    all.push_back({.output = port.name});
    add(all.back(), outputs[i], theirs);
  }
  if (all.empty())
    throw Error{Code::kData,
                "there is no array of recorded outputs: want one called " +
                    in_quotes(imported.outputs[0].name)};
  return all;
}

}  // namespace dl::convert
