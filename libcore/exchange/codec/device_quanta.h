// Messages of the threshold code on a device with memory of its own: what goes
// there is a place for each quantum, i or ~i where it is negative.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_DEVICE_QUANTA_H_
#define DL_LIBCORE_EXCHANGE_CODEC_DEVICE_QUANTA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcore/device/api/device.h"

namespace dl::exchange {

// Vectors of at most so many elements.
constexpr std::size_t kMostOnDevice = 0x7fffffff;

// Used by the device's thread.
class DeviceQuanta {
 public:
  // The device outlives this object and computes in float.
  explicit DeviceQuanta(device::Device& device);

  // decode_threshold() with a target on the device; gives the same bits.
  void decode(std::span<const std::byte> message, float scale,
              tensor::View target);
  // Values of x, [elements] on the device, at these indices; valid until the
  // next call.
  std::span<const float> values_at(std::span<const std::int32_t> indices,
                                   tensor::View x);
  // The values of x where the message has quanta, in their order.  The message
  // fits x (kBug).  Throws Error: kProtocol, it is damaged.
  std::span<const float> values_at(std::span<const std::byte> message,
                                   tensor::View x);

 private:
  struct Segment {
    std::int64_t quanta;
    float threshold;
  };
  void read(std::span<const std::byte> message, bool with_signs);
  tensor::View send(std::span<const std::int32_t> integers);

  device::Device& device_;
  // Contents of the message that was read.
  std::uint64_t elements_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::int32_t> places_;

  tensor::Tensor sent_{tensor::DType::kI32, {0}};
  tensor::Tensor fetched_{tensor::DType::kF32, {0}};
  std::unique_ptr<tensor::Buffer> integers_, reals_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_DEVICE_QUANTA_H_
