// Checks of convolution and pooling, of images and of volumes.

#include <iterator>

#include "libcore/base/error.h"
#include "libcore/device/check.h"

namespace dl::device {
namespace {
using tensor::Shape;
using tensor::View;

template <typename Spec>
constexpr std::size_t kAxes = std::size(Spec().kernel);

template <typename Spec>
Shape input_of(const Spec& s, std::int64_t n) {
  if constexpr (kAxes<Spec> == 2)
    return {n, s.height, s.width, s.channels};
  else
    return {n, s.depth, s.height, s.width, s.channels};
}

template <typename Spec>
Shape output_of(const Spec& s, std::int64_t n, std::int64_t channels) {
  if constexpr (kAxes<Spec> == 2)
    return {n, s.out_height(), s.out_width(), channels};
  else
    return {n, s.out_depth(), s.out_height(), s.out_width(), channels};
}

template <typename Spec>
void check_window(const Spec& spec, std::int64_t max_batch) {
  require(max_batch > 0, "no batch to compile for");
  const Shape input = input_of(spec, 1);
  for (const std::int64_t extent : input.extents())
    require(extent > 0, "images without extent");
  for (std::size_t axis = 0; axis < kAxes<Spec>; ++axis) {
    require(spec.kernel[axis] > 0 && spec.stride[axis] > 0,
            "kernel and stride must be positive");
    require(spec.pad_begin[axis] >= 0 && spec.pad_end[axis] >= 0,
            "negative padding");
  }
  require(output_of(spec, 1, 1).elements() > 0,
          "the kernel is larger than its input");
}

template <typename Spec>
void check_convolution(const Spec& spec, std::int64_t max_batch) {
  require(spec.filters > 0, "convolution without filters");
  for (const std::int64_t dilation : spec.dilation)
    require(dilation > 0, "dilation must be positive");
  require(spec.groups > 0 && spec.channels % spec.groups == 0 &&
              spec.filters % spec.groups == 0,
          "groups that divide channels and filters unevenly");
  check_window(spec, max_batch);
}

template <typename Spec>
void check_pooling(const Spec& spec, std::int64_t max_batch) {
  for (std::size_t axis = 0; axis < kAxes<Spec>; ++axis) {
    require(spec.pad_begin[axis] < spec.kernel[axis] &&
                spec.pad_end[axis] < spec.kernel[axis],
            "pooling windows of nothing but padding");
  }
  require(spec.p >= 1, "a norm with an exponent below 1");
  check_window(spec, max_batch);
}

template <typename Spec>
std::int64_t check_shapes(const Spec& spec, std::int64_t out_channels,
                          std::int64_t max_batch, const View& x,
                          const View& y) {
  require(x.shape.rank() == static_cast<int>(kAxes<Spec>) + 2,
          "images must be [batch, height, width, channels]");
  const std::int64_t batch = x.shape[0];
  require(0 < batch && batch <= max_batch, "batch outside what was compiled");
  check_shape(x, input_of(spec, batch));
  check_shape(y, output_of(spec, batch, out_channels));
  return batch;
}

void check_weight_shapes(tensor::DType real, const Shape& shape, const View& w,
                         const View& b) {
  check_reals(real, {w});
  check_shape(w, shape);
  if (b.empty()) return;
  check_reals(real, {b});
  check_shape(b, Shape{shape[0]});
}

}  // namespace

void check_spec(const Conv2dSpec& spec, std::int64_t max_batch) {
  check_convolution(spec, max_batch);
}
void check_spec(const Conv3dSpec& spec, std::int64_t max_batch) {
  check_convolution(spec, max_batch);
}
void check_spec(const Pool2dSpec& spec, std::int64_t max_batch) {
  check_pooling(spec, max_batch);
}
void check_spec(const Pool3dSpec& spec, std::int64_t max_batch) {
  check_pooling(spec, max_batch);
}

std::int64_t check_images(const Conv2dSpec& spec, std::int64_t max_batch,
                          const View& x, const View& y) {
  return check_shapes(spec, spec.filters, max_batch, x, y);
}
std::int64_t check_images(const Conv3dSpec& spec, std::int64_t max_batch,
                          const View& x, const View& y) {
  return check_shapes(spec, spec.filters, max_batch, x, y);
}
std::int64_t check_images(const Pool2dSpec& spec, std::int64_t max_batch,
                          const View& x, const View& y) {
  return check_shapes(spec, spec.channels, max_batch, x, y);
}
std::int64_t check_images(const Pool3dSpec& spec, std::int64_t max_batch,
                          const View& x, const View& y) {
  return check_shapes(spec, spec.channels, max_batch, x, y);
}

void check_weights(tensor::DType real, const Conv2dSpec& s, const View& w,
                   const View& b) {
  check_weight_shapes(
      real, {s.filters, s.kernel[0], s.kernel[1], s.channels / s.groups}, w, b);
}
void check_weights(tensor::DType real, const Conv3dSpec& s, const View& w,
                   const View& b) {
  check_weight_shapes(
      real,
      {s.filters, s.kernel[0], s.kernel[1], s.kernel[2], s.channels / s.groups},
      w, b);
}

}  // namespace dl::device
