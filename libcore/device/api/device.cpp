// The common part of every device: arithmetic of the primitives'
// descriptions.

#include "libcore/device/api/device.h"

#include <cmath>
#include <utility>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

std::int64_t extent(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                    std::int64_t dilation, std::int64_t padding) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const std::int64_t room = in + padding - reach;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

std::unique_ptr<LaneSum> Device::lane_sum(std::span<Device* const>) {
  return nullptr;
}

std::unique_ptr<Buffer> Device::allocate(Shape shape) {
  return allocate(shape, real());
}

bool Device::activate_gradient_and_sum(const ActivationSpec&, View, View, View,
                                       View) {
  return false;
}

bool Device::batch_statistics(const BatchStatistics&, View) { return false; }

std::int64_t Conv2dSpec::out_height() const {
  return extent(height, kernel[0], stride[0], dilation[0],
                pad_begin[0] + pad_end[0]);
}

std::int64_t Conv2dSpec::out_width() const {
  return extent(width, kernel[1], stride[1], dilation[1],
                pad_begin[1] + pad_end[1]);
}

std::int64_t Pool2dSpec::out_height() const {
  return extent(height, kernel[0], stride[0], 1, pad_begin[0] + pad_end[0]);
}

std::int64_t Pool2dSpec::out_width() const {
  return extent(width, kernel[1], stride[1], 1, pad_begin[1] + pad_end[1]);
}

std::int64_t Conv3dSpec::out_depth() const {
  return extent(depth, kernel[0], stride[0], dilation[0],
                pad_begin[0] + pad_end[0]);
}

std::int64_t Conv3dSpec::out_height() const {
  return extent(height, kernel[1], stride[1], dilation[1],
                pad_begin[1] + pad_end[1]);
}

std::int64_t Conv3dSpec::out_width() const {
  return extent(width, kernel[2], stride[2], dilation[2],
                pad_begin[2] + pad_end[2]);
}

std::int64_t Pool3dSpec::out_depth() const {
  return extent(depth, kernel[0], stride[0], 1, pad_begin[0] + pad_end[0]);
}

std::int64_t Pool3dSpec::out_height() const {
  return extent(height, kernel[1], stride[1], 1, pad_begin[1] + pad_end[1]);
}

std::int64_t Pool3dSpec::out_width() const {
  return extent(width, kernel[2], stride[2], 1, pad_begin[2] + pad_end[2]);
}

Conv3dSpec volume_of(const Conv2dSpec& s) {
  return {.depth = 1,
          .height = s.height,
          .width = s.width,
          .channels = s.channels,
          .filters = s.filters,
          .kernel = {1, s.kernel[0], s.kernel[1]},
          .stride = {1, s.stride[0], s.stride[1]},
          .dilation = {1, s.dilation[0], s.dilation[1]},
          .pad_begin = {0, s.pad_begin[0], s.pad_begin[1]},
          .pad_end = {0, s.pad_end[0], s.pad_end[1]},
          .groups = s.groups};
}

Pool3dSpec volume_of(const Pool2dSpec& s) {
  return {.kind = s.kind,
          .depth = 1,
          .height = s.height,
          .width = s.width,
          .channels = s.channels,
          .kernel = {1, s.kernel[0], s.kernel[1]},
          .stride = {1, s.stride[0], s.stride[1]},
          .pad_begin = {0, s.pad_begin[0], s.pad_begin[1]},
          .pad_end = {0, s.pad_end[0], s.pad_end[1]},
          .p = s.p,
          .count_padding = s.count_padding};
}

double AttentionSpec::factor() const {
  return scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(head_size));
}

std::int64_t RecurrentSpec::gates() const {
  return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1;
}

std::int64_t RecurrentSpec::biases() const {
  const bool inner = cell == Cell::kGru && !reset_before;
  return (inner ? 4 : gates()) * units;
}

Strided& Strided::over(std::int64_t n, std::int64_t y, std::int64_t x) {
  require(rank < kMaxRank, "strides over too many extents");
  extent[rank] = n;
  y_stride[rank] = y;
  x_stride[rank] = x;
  ++rank;
  return *this;
}

Strided Strided::exchanged() const {
  Strided other = *this;
  std::swap(other.y_offset, other.x_offset);
  std::swap(other.y_stride, other.x_stride);
  return other;
}

int state_per_parameter(Updater kind) {
  switch (kind) {
    case Updater::kNone:
    case Updater::kSgd:
      return 0;
    case Updater::kNesterov:
    case Updater::kMomentum:
    case Updater::kAdaGrad:
    case Updater::kRmsProp:
      return 1;
    case Updater::kAmsGrad:
      return 3;
    default:
      return 2;
  }
}

double initial_state(const UpdaterStep& step) {
  const bool starts =
      step.kind == Updater::kAdaGrad || step.kind == Updater::kRmsProp;
  return starts ? step.start.value_or(step.epsilon) : 0;
}

}  // namespace dl::device
