// A residual in a device's memory.

#include "libcore/exchange/residual/device_residual.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/exchange/codec/threshold_writer.h"
#include "libcore/exchange/residual/sample.h"

namespace dl::exchange {

using tensor::DType;
using tensor::View;

namespace {

constexpr std::uint64_t kTurns = 0x7468726573686f6c;  // not a network's steps

}  // namespace

DeviceResidual::DeviceResidual(std::vector<std::size_t> parts,
                               device::Device& device, std::int64_t most_places)
    : Residual(std::move(parts)), device_(device), quanta_there_(device) {
  require(elements_ <= kMostOnDevice, "more than a device takes");
  const auto elements = static_cast<std::int64_t>(elements_);
  residual_ = device.allocate({elements});
  numbers_ = device.allocate({kNumbers}, DType::kF64);
  const std::int64_t room = std::min(elements, most_places);
  places_ = device.allocate({room}, DType::kI32);
  cut_into_turns(static_cast<std::size_t>(room));
}

// As few turns as there is room for, as the host waits for each.
void DeviceResidual::cut_into_turns(std::size_t room) {
  std::size_t left = 0, most = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t at = 0, size = 0; at < parts_[p]; at += size) {
      size = std::min(parts_[p] - at, room);
      if (size > left) {
        turns_.push_back(pieces_.size());
        left = room;
      }
      pieces_.push_back({p, starts_[p] + at, size});
      left -= size;
      most = std::max(most, pieces_.size() - turns_.back());
    }
  turns_.push_back(pieces_.size());
  ends_ = device_.allocate({static_cast<std::int64_t>(most) + 1}, DType::kI32);
}

void DeviceResidual::add(View update) {
  device_.add(view(), 1, update);
  device_.add_sum(there(kGiven), 1, update);
}

// Afterwards fetched_places_ has those of the turn's piece i from
// fetched_ends_[i] to [i + 1].
void DeviceResidual::take(std::size_t turn, std::span<const float> thresholds) {
  // The same calls each time: there may be many parts, and a device that makes
  // a graph of them is told them at once.  It keeps a few graphs.
  constexpr std::size_t kMostSteps = 4;
  const bool step = turn < kMostSteps;
  if (step) device_.begin_step(mix({kTurns, turn}));
  std::int64_t i = 0;
  for (const Piece& p : pieces_of(turn))
    device_.threshold_encode(places_->view(), ends_->view().at(i++, {2}),
                             piece(p.at, p.elements), thresholds[p.part]);
  if (step) device_.end_step();
  device_.download(fetched_ends_, ends_->view().at(0, {i + 1}));
  const std::int64_t all = fetched_ends_.as<std::int32_t>().back();
  if (all > 0) device_.download(fetched_places_, places_->view().at(0, {all}));
}

std::int64_t DeviceResidual::encode(std::span<const float> thresholds,
                                    std::vector<std::byte>& out) {
  require_thresholds(thresholds);
  ThresholdWriter message(elements_, out);
  std::int64_t total = 0;
  found_.clear();
  for (std::size_t t = 0; t + 1 < turns_.size(); ++t) {
    take(t, thresholds);
    const auto turn = pieces_of(t);
    const auto ends = fetched_ends_.as<std::int32_t>();
    for (std::size_t i = 0; i < turn.size(); ++i) {
      const Piece& p = turn[i];
      const std::size_t before = p.at - starts_[p.part];  // of its part
      const auto shift = static_cast<std::int32_t>(before);
      for (std::int32_t k = ends[i]; k < ends[i + 1]; ++k) {
        const std::int32_t place =
            fetched_places_.as<std::int32_t>()[static_cast<std::size_t>(k)];
        found_.push_back(place < 0 ? place - shift : place + shift);
      }
      if (before + p.elements < parts_[p.part]) continue;
      message.add(PlacedPart{parts_[p.part], thresholds[p.part], found_});
      quanta_[p.part] = std::ssize(found_);
      total += quanta_[p.part];
      found_.clear();
    }
  }
  return total;
}

std::size_t DeviceResidual::look(std::size_t at, std::size_t elements,
                                 std::size_t size, float floor, Philox& random,
                                 std::vector<float>& magnitudes) {
  indices_.clear();
  const std::size_t looked_at = sample_runs(
      elements, size, random, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
          indices_.push_back(static_cast<std::int32_t>(i));
      });
  magnitudes.clear();
  for (const float r : quanta_there_.values_at(indices_, piece(at, elements)))
    if (const float magnitude = std::fabs(r); magnitude >= floor)
      magnitudes.push_back(magnitude);
  return looked_at;
}

void DeviceResidual::step_ahead(View parameters, float times, View to) {
  device_.copy(to, parameters);
  device_.add(to, -times, view());
}

double DeviceResidual::number(Number which) const {
  double value = 0;
  device_.read({&value, 1}, there(which));
  return value;
}

void DeviceResidual::count(View x, double sign) {
  device_.add_sum(there(kSum), sign, x);
  device_.add_absolute(there(kSize), sign, x);
}

// Counts the mass cut off from x: its sums before, less its sums after.
template <typename Cut>
void DeviceResidual::cut_off(View x, const Cut& cut) {
  device_.fill(there(kSum), 0);
  device_.fill(there(kSize), 0);
  count(x, 1);
  cut();
  count(x, -1);
  device_.add_numbers(there(kCut), there(kSum));
  device_.add_numbers(there(kCutSize), there(kSize));
}

// An updater that is none does nothing but clip.
void DeviceResidual::clip(double multiple, std::span<const float> thresholds) {
  cut_off(view(), [&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto limit = static_cast<float>(multiple * double{thresholds[p]});
      const device::Updating clipped[] = {
          {.number = there(kNotFinite),
           .step = {.limit = limit, .kind = device::Updater::kNone},
           .gradient = piece(starts_[p], parts_[p]),
           .parameters = {},
           .state = {}}};
      device_.update(device::UpdateTo::kGradient, clipped);
    }
  });
}

void DeviceResidual::shrink(std::size_t at, std::size_t elements,
                            float factor) {
  const View x = piece(at, elements);
  cut_off(x, [&] { device_.scale(x, factor); });
}

void DeviceResidual::clear() {
  cut_off(view(), [&] { device_.fill(view(), 0); });
}

void DeviceResidual::give_back(std::span<const std::byte> message) {
  quanta_there_.decode(message, 1, view());
}

Mass DeviceResidual::mass() {
  device_.fill(there(kSum), 0);
  device_.fill(there(kSize), 0);
  count(view(), 1);
  return {number(kSum), number(kSize)};
}

double DeviceResidual::norm() {
  device_.fill(there(kSum), 0);
  device_.add_squares(there(kSum), 1, view());
  return std::sqrt(number(kSum));
}

Overlap DeviceResidual::overlap(std::span<const std::byte> message) {
  auto value = quanta_there_.values_at(message, view()).begin();
  return overlap_of(message, elements_,
                    [&value](std::uint64_t) { return *value++; });
}

void DeviceResidual::magnitudes(std::size_t step, std::vector<float>& found) {
  indices_.clear();
  for (std::size_t i = 0; i < elements_; i += step)
    indices_.push_back(static_cast<std::int32_t>(i));
  found.clear();
  for (const float r : quanta_there_.values_at(indices_, view()))
    found.push_back(std::fabs(r));
}

}  // namespace dl::exchange
