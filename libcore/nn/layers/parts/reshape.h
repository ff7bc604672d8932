// The same numbers in another shape, or in another order.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_RESHAPE_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_RESHAPE_H_

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using device::Strided;
using tensor::Shape;

using Dimensions = std::vector<std::int64_t>;

inline Dimensions extents_in(const LayerSettings& settings,
                             std::string_view key) {
  return settings.at(key).get<Dimensions>();
}

// A shape [steps, ...] with the same number of steps stays a sequence.
inline ValueSpec formed(const ValueSpec& input, const Dimensions& extents,
                        bool steps) {
  const Shape shape{std::span<const std::int64_t>(extents)};
  return {shape, input.steps && steps && shape.rank() >= 2, input.copies};
}

inline LayerShape infer_reshape(const LayerSettings& settings,
                                std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  const Dimensions extents = extents_in(settings, "shape");
  double count = 1;
  std::string text;
  for (const std::int64_t extent : extents) {
    count *= static_cast<double>(extent);
    text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  }
  if (count != numbers_in(input.shape))
    throw Error{Code::kConfig, "its input " + input.shape.to_string() +
                                   " has " +
                                   std::to_string(input.shape.elements()) +
                                   " numbers, not those of " + text + "]"};
  return {.output = formed(input, extents, extents[0] == input.shape[0]),
          .buffers = {.alias = true}};
}

class Permute final : public Layer {
 public:
  Permute(const LayerSite& site, Memory&)
      : device_(site.device), axes_(extents_in(*site.settings, "axes")) {}

  void forward(const Flow& flow, const Step&) override {
    device_->copy_strided(order(flow.x[0].shape), flow.y, flow.x[0], false);
  }

  void backward(const Flow& flow, const Step&) override {
    device_->copy_strided(order(flow.dx[0].shape).exchanged(), flow.dx[0],
                          flow.dy, false);
  }

 private:
  // From y, dense, to x [n, ...].
  Strided order(const Shape& x) const {
    std::int64_t strides[Shape::kMaxRank + 1];
    strides[x.rank()] = 1;
    for (int k = x.rank(); k-- > 0;) strides[k] = strides[k + 1] * x[k];
    std::int64_t y_stride = strides[1];
    Strided s;
    s.over(x[0], y_stride, strides[1]);
    for (const std::int64_t axis : axes_) {
      const auto from = static_cast<int>(axis) + 1;
      y_stride /= x[from];
      s.over(x[from], y_stride, strides[from + 1]);
    }
    return s;
  }

  device::Device* device_;
  Dimensions axes_;
};

inline void check_axes(const LayerSettings& settings,
                       const Complaint& complain) {
  Dimensions axes = extents_in(settings, "axes");
  std::ranges::sort(axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (std::cmp_not_equal(axes[i], i))
      return complain("axes", "want each of 0.." +
                                  std::to_string(axes.size() - 1) + " once");
}

inline LayerShape infer_permute(const LayerSettings& settings,
                                std::span<const ValueSpec> inputs) {
  const Shape& shape = inputs[0].shape;
  const Dimensions axes = extents_in(settings, "axes");
  if (std::cmp_not_equal(axes.size(), shape.rank()))
    throw Error{Code::kConfig, "its input is " + shape.to_string() + ", of " +
                                   std::to_string(shape.rank()) +
                                   " axes, not of " +
                                   std::to_string(axes.size())};
  Dimensions extents;
  for (const std::int64_t axis : axes)
    extents.push_back(shape[static_cast<int>(axis)]);
  return {.output = formed(inputs[0], extents, axes[0] == 0),
          .buffers = {.keeps_inputs = false, .keeps_output = false}};
}

inline Key shape_key() {
  Key key = key::integer("shape", "required", "The shape of the output.");
  key.kind = Kind::kShape;
  return key;
}

inline Key axes_key() {
  Key key = key::integer(
      "axes", "required",
      "For each axis of the output, its axis in the input, from 0.", "0..6");
  key.kind = Kind::kShape;
  return key;
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_RESHAPE_H_
