// Shows pictures as if seen from aside: each corner moves inwards.

#include <array>
#include <cmath>
#include <utility>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/warp.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

using Corners = std::array<std::array<double, 2>, 4>;

// Gauss: rows of eight unknowns and the right side.
std::array<double, 8> solve(std::array<std::array<double, 9>, 8> rows) {
  for (std::size_t k = 0; k < 8; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < 8; ++i)
      if (std::abs(rows[i][k]) > std::abs(rows[best][k])) best = i;
    std::swap(rows[k], rows[best]);
    for (std::size_t i = 0; i < 8; ++i) {
      if (i == k) continue;
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j < 9; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  std::array<double, 8> x{};
  for (std::size_t k = 0; k < 8; ++k) x[k] = rows[k][8] / rows[k][k];
  return x;
}

// The matrix by which the corner to[i] comes from from[i].
Matrix matrix_between(const Corners& to, const Corners& from) {
  std::array<std::array<double, 9>, 8> rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = to[i];
    const auto [u, v] = from[i];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  const auto m = solve(rows);
  return {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]};
}

class Perspective final : public AugmentStep {
 public:
  explicit Perspective(const LayerSettings& settings)
      : distortion_(settings.number("distortion_scale")), sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const Picture& picture = sample.picture();
    const auto width = static_cast<double>(picture.width),
               height = static_cast<double>(picture.height);
    const Corners corners = {
        {{0, 0}, {width, 0}, {width, height}, {0, height}}};
    Corners moved = corners;
    for (auto& [x, y] : moved) {
      const double right = distortion_ * width / 2 * random.uniform(),
                   down = distortion_ * height / 2 * random.uniform();
      x += x > 0 ? -right : right;
      y += y > 0 ? -down : down;
    }
    warp(sample, matrix_between(moved, corners), sampling_, room);
  }

 private:
  double distortion_;
  Sampling sampling_;
};

}  // namespace

const AugmentType& perspective() {
  static const AugmentType type{
      .name = "perspective",
      .words = "Moves each corner of the picture inwards, by amounts drawn.",
      .other_names = {"randomperspective"},
      .keys = {key::number("distortion_scale", "0.5",
                           "The most by which a corner moves, as a share of "
                           "half a side.",
                           "[0, 0.9]"),
               interpolation_key(R"("bilinear")"), fill_key(), chance("0.5")},
      .make = make_step<Perspective>};
  return type;
}

}  // namespace dl::nn::augment
