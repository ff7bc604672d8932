#include "libcore/vectorize/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/resize_passes.h"

namespace dl::vectorize {
namespace {

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

// The filters, and how far from its center each one reaches.
struct Curve {
  double (*at)(double x);
  double reach;
};

Curve curve_of(Filter filter) {
  switch (filter) {
    case Filter::kBilinear:
      return {[](double x) { return std::max(1 - std::abs(x), 0.0); }, 1};
    case Filter::kBicubic:
      return {[](double x) {
                constexpr double a = -0.5;
                x = std::abs(x);
                if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
                if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
                return 0.0;
              },
              2};
    case Filter::kLanczos:
      return {[](double x) {
                return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0.0;
              },
              3};
    case Filter::kNearest:
      break;
  }
  throw Error{Code::kBug, "internal error: a filter without a curve"};
}

std::int32_t fixed(double weight) {
  const double half = weight < 0 ? -0.5 : 0.5;
  return static_cast<std::int32_t>(half + weight * (1 << kWeightBits));
}

// Towards 0, as Pillow does.
std::int64_t cut_off(double x) { return static_cast<std::int64_t>(x); }

void add_halves(Weights& all) {
  constexpr std::int32_t kLower = (1 << Weights::kLowerBits) - 1;
  all.each_half = (all.each + 3) / 4 * 8;
  all.halves.resize(all.sums.size() * static_cast<std::size_t>(all.each_half));
  std::int16_t* to = all.halves.data();
  const std::int32_t* from = all.values.data();
  for (std::size_t i = 0; i < all.sums.size(); ++i) {
    for (std::int64_t k = 0; k < all.each; ++k) {
      std::int16_t* four = to + k / 4 * 8 + k % 4;
      four[0] = static_cast<std::int16_t>(from[k] >> Weights::kLowerBits);
      four[4] = static_cast<std::int16_t>(from[k] & kLower);
    }
    to += all.each_half;
    from += all.each;
  }
}

Weights weights_of(std::int64_t from, std::int64_t to, Filter filter) {
  const Curve curve = curve_of(filter);
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);
  const double reach = curve.reach * stretch;
  Weights all;
  all.each = static_cast<std::int64_t>(std::ceil(reach)) * 2 + 2;
  all.values.resize(static_cast<std::size_t>(to * all.each));
  std::vector<double> exact(static_cast<std::size_t>(all.each));
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const double per = 1 / stretch;
    const auto first = static_cast<std::int32_t>(
        std::max<std::int64_t>(cut_off(center - reach + 0.5), 0));
    const auto end = static_cast<std::int32_t>(
        std::min(cut_off(center + reach + 0.5), from));
    const std::int32_t size = end - first;
    double sum = 0;
    for (std::int32_t k = 0; k < size; ++k)
      sum += exact[static_cast<std::size_t>(k)] =
          curve.at((k + first - center + 0.5) * per);
    std::int32_t* values = all.values.data() + i * all.each;
    for (std::int32_t k = 0; k < size; ++k) {
      const double weight = exact[static_cast<std::size_t>(k)];
      values[k] = fixed(sum != 0 ? weight / sum : weight);
    }
    all.sums.push_back({first, size});
  }
  add_halves(all);
  return all;
}

const ResizePasses& passes() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return kAvx2Passes;
#endif
  return kPortablePasses;
}

// Where the pixels come from, added up as Pillow adds them.
std::vector<std::int64_t> nearest_of(std::int64_t from, std::int64_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  std::vector<std::int64_t> places;
  double at = step * 0.5;
  for (std::int64_t i = 0; i < to; ++i, at += step)
    places.push_back(std::min(static_cast<std::int64_t>(at), from - 1));
  return places;
}

void take_nearest(const Picture& in, Picture& out) {
  const auto across = nearest_of(in.width, out.width),
             down = nearest_of(in.height, out.height);
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::uint8_t* from = in.row(down[static_cast<std::size_t>(y)]);
    std::uint8_t* to = out.row(y);
    for (const std::int64_t x : across)
      to = std::copy_n(from + x * in.channels, in.channels, to);
  }
}

}  // namespace

const Weights& Resizer::Side::of(std::int64_t new_from, std::int64_t new_to,
                                 Filter new_filter) {
  if (new_from != from || new_to != to || new_filter != filter) {
    weights = weights_of(new_from, new_to, new_filter);
    from = new_from;
    to = new_to;
    filter = new_filter;
  }
  return weights;
}

void Resizer::resize(const Picture& in, std::int64_t width, std::int64_t height,
                     Filter filter, Picture& out) {
  if (filter == Filter::kNearest) {
    out.reshape(width, height, in.channels);
    return take_nearest(in, out);
  }
  const bool across = width != in.width, down = height != in.height;
  if (!across && !down) {
    out = in;
    return;
  }
  // Pillow 13 begins with the columns where the height shrinks by more than
  // twice what the width does.
  const bool columns_first =
      in.height > height && in.height - height > 2 * (in.width - width);
  const Picture* from = &in;
  const auto pass = [&](bool rows) {
    const bool last = from != &in || !(across && down);
    Picture& to = last ? out : between_;
    if (rows) {
      to.reshape(width, from->height, in.channels);
      row_.resize(static_cast<std::size_t>(in.width + 3) * 8);
      passes().rows(*from, across_.of(in.width, width, filter), row_.data(),
                    to);
    } else {
      to.reshape(from->width, height, in.channels);
      passes().columns(*from, down_.of(in.height, height, filter), to);
    }
    from = &to;
  };
  if (down && columns_first) pass(false);
  if (across) pass(true);
  if (down && !columns_first) pass(false);
}

}  // namespace dl::vectorize
