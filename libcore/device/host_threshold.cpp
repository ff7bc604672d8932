// Threshold coding in memory of the host: by tensor/threshold_select.h in
// float32, by its definition in float64.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "libcore/device/check.h"
#include "libcore/device/host_device.h"
#include "libcore/tensor/threshold_select.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::View;

std::int32_t place_of(std::int64_t i, bool negative) {
  const auto place = static_cast<std::int32_t>(i);
  return negative ? ~place : place;
}

// Returns where the places end.
std::int32_t* take(std::span<float> r, float threshold, std::int32_t* places) {
  constexpr std::size_t kAtOnce = 16384;  // elements
  std::array<tensor::HitWord, tensor::most_words(kAtOnce)> words;
  double none = 0;
  for (std::size_t at = 0; at < r.size(); at += kAtOnce) {
    const auto block = r.subspan(at, std::min(kAtOnce, r.size() - at));
    const std::size_t count =
        tensor::take_over(block, {}, threshold, at, words.data(), none);
    tensor::for_each_hit(std::span(words).first(count), [&](std::uint64_t i) {
      *places++ = place_of(static_cast<std::int64_t>(i), std::signbit(r[i]));
    });
  }
  return places;
}

std::int32_t* take(std::span<double> r, double threshold,
                   std::int32_t* places) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double size = std::fabs(r[i]);
    if (!(size >= threshold)) continue;
    r[i] = std::copysign(size - threshold, r[i]);
    *places++ = place_of(static_cast<std::int64_t>(i), std::signbit(r[i]));
  }
  return places;
}

template <typename Real>
void apply(Real* y, std::span<const std::int32_t> places, Real quantum) {
  for (const std::int32_t place : places)
    y[place < 0 ? ~place : place] += place < 0 ? -quantum : quantum;
}

}  // namespace

void HostDevice::threshold_encode(View places, View count, View r,
                                  float threshold) {
  check_threshold(real(), places, count, r);
  const auto n = static_cast<std::size_t>(r.elements());
  std::int32_t* const bounds = count.as<std::int32_t>();
  std::int32_t* const begin = places.as<std::int32_t>();
  std::int32_t* const from = begin + bounds[0];
  std::int32_t* const end =
      real() == DType::kF32
          ? take(std::span(r.as<float>(), n), threshold, from)
          : take(std::span(r.as<double>(), n), double{threshold}, from);
  bounds[1] = static_cast<std::int32_t>(end - begin);
}

void HostDevice::threshold_apply(View y, View places, float quantum) {
  check_reals(real(), {y});
  check_integers(places);
  const std::span at(places.as<std::int32_t>(),
                     static_cast<std::size_t>(places.elements()));
  if (real() == DType::kF32)
    apply(y.as<float>(), at, quantum);
  else
    apply(y.as<double>(), at, double{quantum});
}

}  // namespace dl::device
