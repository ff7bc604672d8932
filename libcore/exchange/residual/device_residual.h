// A residual that stays in a device's memory: of its coding, only the places of
// quanta cross to the host.
//
// One thread at a time, the device's.

#ifndef DL_LIBCORE_EXCHANGE_RESIDUAL_DEVICE_RESIDUAL_H_
#define DL_LIBCORE_EXCHANGE_RESIDUAL_DEVICE_RESIDUAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/device/api/device.h"
#include "libcore/exchange/codec/device_quanta.h"
#include "libcore/exchange/residual/residual.h"

namespace dl::exchange {

class DeviceResidual final : public Residual {
 public:
  // The device outlives this object and computes in float.  There are at most
  // kMostOnDevice elements (kBug).  most_places: number of quanta for which
  // encode() has room on the device at a time, 4 bytes each.
  DeviceResidual(std::vector<std::size_t> parts, device::Device& device,
                 std::int64_t most_places = kMostPlaces);
  static constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24;

  tensor::View view() const { return residual_->view(); }

  // residual += update; the update is [elements] on the device.
  void add(tensor::View update);
  // ThresholdEncoder::encode() with an empty update.
  std::int64_t encode(std::span<const float> thresholds,
                      std::vector<std::byte>& out);
  // sample_magnitudes() of the elements from `at` on.
  std::size_t look(std::size_t at, std::size_t elements, std::size_t size,
                   float floor, Philox& random, std::vector<float>& magnitudes);

  // to = parameters - times * residual, except for rounding; other replicas
  // need not have the same bits.
  void step_ahead(tensor::View parameters, float times, tensor::View to);

  double given() const override { return number(kGiven); }
  void clip(double multiple, std::span<const float> thresholds) override;
  void shrink(std::size_t at, std::size_t elements, float factor) override;
  void clear() override;
  Mass cut() const override { return {number(kCut), number(kCutSize)}; }
  void give_back(std::span<const std::byte> message) override;
  Mass mass() override;
  double norm() override;
  Overlap overlap(std::span<const std::byte> message) override;
  void magnitudes(std::size_t step, std::vector<float>& found) override;

 private:
  // A part, or as much of a part as there are places for.
  struct Piece {
    std::size_t part, at, elements;
  };
  tensor::View piece(std::size_t at, std::size_t elements) const {
    return view().at(static_cast<std::int64_t>(at),
                     {static_cast<std::int64_t>(elements)});
  }
  // Indices of numbers_, which is on the device.
  enum Number : std::int64_t {
    kGiven,
    kCut,
    kCutSize,
    kSum,
    kSize,
    kNotFinite,
    kNumbers
  };
  tensor::View there(Number which) const {
    return numbers_->view().at(which, {1});
  }
  double number(Number which) const;
  void count(tensor::View x, double sign);  // adds to kSum and kSize
  template <typename Cut>
  void cut_off(tensor::View x, const Cut& cut);
  void cut_into_turns(std::size_t room);
  void take(std::size_t turn, std::span<const float> thresholds);
  std::span<const Piece> pieces_of(std::size_t turn) const {
    return std::span(pieces_).subspan(turns_[turn],
                                      turns_[turn + 1] - turns_[turn]);
  }

  device::Device& device_;
  std::unique_ptr<tensor::Buffer> residual_, numbers_;
  DeviceQuanta quanta_there_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> turns_;  // first piece of each turn
  // Places of the quanta of a turn, and the ends of each piece's places after a
  // 0.
  std::unique_ptr<tensor::Buffer> places_, ends_;
  tensor::Tensor fetched_places_{tensor::DType::kI32, {0}},
      fetched_ends_{tensor::DType::kI32, {0}};
  std::vector<std::int32_t> found_;  // places of quanta in one part
  std::vector<std::int32_t> indices_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RESIDUAL_DEVICE_RESIDUAL_H_
