#include "libcore/nn/augment/blur.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libcore/nn/augment/pixels.h"

namespace dl::nn::augment {
namespace {

constexpr std::int32_t kSum = 256;

// Where a row or column beyond the edge is mirrored from.
std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  if (i < 0) return -i;
  return i < n ? i : 2 * (n - 1) - i;
}

// sums += weight * values
DL_WIDE_LOOP void add(std::uint16_t* __restrict sums,
                      const std::uint8_t* __restrict values,
                      std::int32_t weight, std::int64_t n) {
  const auto factor = static_cast<std::uint16_t>(weight);
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] = static_cast<std::uint16_t>(sums[i] + values[i] * factor);
}

DL_WIDE_LOOP void round_off(std::uint8_t* __restrict out,
                            const std::uint16_t* __restrict sums,
                            std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<std::uint8_t>(sums[i] >> 8);
}

// The row between pixels mirrored at its ends, `more` on each side.
void pad(std::uint8_t* out, const std::uint8_t* row, std::int64_t width,
         std::int64_t channels, std::int64_t more) {
  std::memcpy(out + more * channels, row,
              static_cast<std::size_t>(width * channels));
  const auto size = static_cast<std::size_t>(channels);
  for (std::int64_t i = 1; i <= more; ++i) {
    std::memcpy(out + (more - i) * channels, row + i * channels, size);
    std::memcpy(out + (more + width - 1 + i) * channels,
                row + (width - 1 - i) * channels, size);
  }
}

}  // namespace

// The middle gets what rounding leaves over.
Curve bell(std::int64_t size, double sigma) {
  Curve curve;
  curve.size = size;
  const auto middle = static_cast<std::size_t>(size / 2);
  std::array<double, 255> heights{};
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    const double x =
        (static_cast<double>(i) - static_cast<double>(middle)) / sigma;
    sum += heights[i] = std::exp(-x * x / 2);
  }
  std::int32_t left = kSum;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    curve.weights[i] =
        static_cast<std::int32_t>(std::lround(heights[i] / sum * kSum));
    left -= curve.weights[i];
  }
  curve.weights[middle] += left;
  return curve;
}

void blur(Canvas& canvas, const Curve& curve, Room& room) {
  if (curve.weights[static_cast<std::size_t>(curve.size / 2)] == kSum) return;
  const Picture &from = canvas.picture(), &to = canvas.next();
  const std::int64_t reach = curve.size / 2, n = from.stride();
  room.bytes.resize(
      from.bytes() +
      static_cast<std::size_t>((from.width + 2 * reach) * from.channels));
  room.sums.resize(static_cast<std::size_t>(n));
  std::uint8_t *rows = room.bytes.data(), *padded = rows + from.bytes();
  std::uint16_t* sums = room.sums.data();
  const auto begin = [&] {  // half a unit, for rounding
    std::fill_n(sums, n, static_cast<std::uint16_t>(kSum / 2));
  };
  const auto weight = [&](std::int64_t k) {
    return curve.weights[static_cast<std::size_t>(k)];
  };
  for (std::int64_t y = 0; y < from.height; ++y) {
    pad(padded, from.row(y), from.width, from.channels, reach);
    begin();
    for (std::int64_t k = 0; k < curve.size; ++k)
      if (weight(k) != 0) add(sums, padded + k * from.channels, weight(k), n);
    round_off(rows + y * n, sums, n);
  }
  for (std::int64_t y = 0; y < from.height; ++y) {
    begin();
    for (std::int64_t k = 0; k < curve.size; ++k)
      if (weight(k) != 0)
        add(sums, rows + mirrored(y + k - reach, from.height) * n, weight(k),
            n);
    round_off(to.row(y), sums, n);
  }
  canvas.turn();
}

}  // namespace dl::nn::augment
