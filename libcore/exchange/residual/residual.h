// The residual of a worker: its updates, less what it has sent of them.  A
// vector of parts (tensors), each with a threshold of its own, in memory of the
// host (ThresholdEncoder) or of a device (DeviceResidual); either sends the
// same messages and keeps the same values, to the bit.

#ifndef DL_LIBCORE_EXCHANGE_RESIDUAL_RESIDUAL_H_
#define DL_LIBCORE_EXCHANGE_RESIDUAL_RESIDUAL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/exchange/residual/held_back.h"

namespace dl::exchange {

// A vector by two numbers: the sum of its elements, which adds up over vectors,
// and that of their sizes.
struct Mass {
  double sum = 0, size = 0;
  void add(const Mass& more) {
    sum += more.sum;
    size += more.size;
  }
};

// One thread at a time.
class Residual {
 public:
  // parts: number of elements of each, >= 1; at most kMaxParts parts (kBug).
  explicit Residual(std::vector<std::size_t> parts);
  virtual ~Residual() = default;
  Residual(Residual&&) = default;
  Residual& operator=(Residual&&) = default;

  std::span<const std::size_t> parts() const { return parts_; }
  std::size_t elements() const { return elements_; }
  // Number of quanta of each part in the last message.
  std::span<const std::int64_t> quanta() const { return quanta_; }
  // Sum of all updates that were added, except for rounding.
  virtual double given() const = 0;

  // r of each part clamped to +-multiple * its threshold, which is >= 0.
  virtual void clip(double multiple, std::span<const float> thresholds) = 0;
  // r of [at, at + elements) times factor, 0..1.
  virtual void shrink(std::size_t at, std::size_t elements, float factor) = 0;
  virtual void clear() = 0;
  // Sum of all that clip(), shrink() and clear() took off.
  virtual Mass cut() const = 0;
  // r += what the message says.  Throws Error: kProtocol, as
  // decode_threshold().
  virtual void give_back(std::span<const std::byte> message) = 0;

  virtual Mass mass() = 0;
  virtual double norm() = 0;
  // Overlap with another worker's message.  Throws as give_back().
  virtual Overlap overlap(std::span<const std::byte> message) = 0;
  // Sets found to |r| of every step-th element.
  virtual void magnitudes(std::size_t step, std::vector<float>& found) = 0;

 protected:
  void require_thresholds(std::span<const float> thresholds) const;

  std::vector<std::size_t> parts_, starts_;
  std::size_t elements_ = 0;
  std::vector<std::int64_t> quanta_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RESIDUAL_RESIDUAL_H_
