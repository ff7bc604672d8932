// Threshold code messages on a device.

#include "libcore/exchange/codec/device_quanta.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange {

using tensor::DType;
using tensor::View;

namespace {

// Room for so many; more than that, so that it seldom grows.
View room(device::Device& device, std::unique_ptr<tensor::Buffer>& buffer,
          std::int64_t elements, DType dtype) {
  if (!buffer || buffer->view().elements() < elements) {
    buffer.reset();
    buffer = device.allocate({elements + elements / 2}, dtype);
  }
  return buffer->view().at(0, {elements});
}

}  // namespace

DeviceQuanta::DeviceQuanta(device::Device& device) : device_(device) {
  require(device.real() == DType::kF32, "a device of other reals than float");
}

void DeviceQuanta::read(std::span<const std::byte> message, bool with_signs) {
  segments_.clear();
  places_.clear();
  ThresholdReader reader(message);
  elements_ = reader.elements();
  require(elements_ <= kMostOnDevice, "a message for more than a device takes");
  while (reader.next()) {
    if (reader.opened() > segments_.size())
      segments_.push_back({0, reader.threshold()});
    for (const Quantum& q : reader.quanta()) {
      const auto i = static_cast<std::int32_t>(q.index);
      places_.push_back(q.negative && with_signs ? ~i : i);
    }
    segments_.back().quanta += std::ssize(reader.quanta());
  }
}

View DeviceQuanta::send(std::span<const std::int32_t> integers) {
  const auto count = std::ssize(integers);
  const View there = room(device_, integers_, count, DType::kI32);
  sent_.resize(DType::kI32, there.shape);
  std::ranges::copy(integers, sent_.as<std::int32_t>().begin());
  device_.upload(there, sent_);
  return there;
}

void DeviceQuanta::decode(std::span<const std::byte> message, float scale,
                          View target) {
  read(message, true);
  float largest = 0;
  for (const Segment& segment : segments_)
    largest = std::max(largest, segment.threshold);
  require_fit(elements_, static_cast<std::size_t>(target.elements()),
              scale * largest);
  if (places_.empty()) return;
  const View places = send(places_);
  std::int64_t at = 0;
  for (const Segment& segment : segments_) {
    device_.threshold_apply(target, places.at(at, {segment.quanta}),
                            scale * segment.threshold);
    at += segment.quanta;
  }
}

std::span<const float> DeviceQuanta::values_at(
    std::span<const std::int32_t> indices, View x) {
  if (indices.empty()) return {};
  const auto count = std::ssize(indices);
  const View found = room(device_, reals_, count, DType::kF32);
  device_.gather(found.reshaped({count, 1}), x.reshaped({x.elements(), 1}),
                 send(indices));
  device_.download(fetched_, found);
  return std::as_const(fetched_).as<float>();
}

std::span<const float> DeviceQuanta::values_at(
    std::span<const std::byte> message, View x) {
  read(message, false);
  require(std::cmp_equal(elements_, x.elements()), "size of the residual");
  return values_at(places_, x);
}

}  // namespace dl::exchange
