// Mixes two examples, and their labels by the same shares.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000;
// its logarithm, since small shapes give less than numbers can say.
double log_gamma_variable(double shape, Philox& random) {
  if (shape < 1)
    return log_gamma_variable(shape + 1, random) +
           std::log(1 - random.uniform()) / shape;
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) <
        x * x / 2 + d - d * v + d * std::log(v))
      return std::log(d * v);
  }
}

// A number from 0 to 1 of the beta distribution (alpha, alpha).
double beta_variable(double alpha, Philox& random) {
  const double a = log_gamma_variable(alpha, random),
               b = log_gamma_variable(alpha, random);
  return 1 / (1 + std::exp(b - a));
}

// own: `share` of 256 parts of it.
DL_WIDE_LOOP void blend(std::uint8_t* __restrict own,
                        const std::uint8_t* __restrict other, std::size_t n,
                        int share) {
  const auto a = static_cast<std::uint16_t>(share),
             b = static_cast<std::uint16_t>(256 - share);
  for (std::size_t i = 0; i < n; ++i)
    own[i] = static_cast<std::uint8_t>(
        static_cast<std::uint16_t>(own[i] * a + other[i] * b + 128) >> 8);
}

class Mixup final : public MixingStep {
 public:
  explicit Mixup(const LayerSettings& settings)
      : alpha_(settings.number("alpha")) {}

  double mix(Picture picture, const std::uint8_t* other,
             Philox& random) const override {
    // In 1/256, and the labels by the same.
    const auto share =
        static_cast<int>(std::lround(256 * beta_variable(alpha_, random)));
    blend(picture.at, other, picture.bytes(), share);
    return share / 256.0;
  }

 private:
  double alpha_;
};

class Cutmix final : public MixingStep {
 public:
  explicit Cutmix(const LayerSettings& settings)
      : alpha_(settings.number("alpha")) {}

  double mix(Picture picture, const std::uint8_t* other,
             Philox& random) const override {
    const double side = std::sqrt(1 - beta_variable(alpha_, random)) / 2;
    const auto half = [&](std::int64_t extent) {
      return static_cast<std::int64_t>(side * static_cast<double>(extent));
    };
    const auto place = [&](std::int64_t extent) {
      return static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(extent)));
    };
    const std::int64_t y = place(picture.height), x = place(picture.width),
                       down = half(picture.height), right = half(picture.width);
    const std::int64_t top = std::max<std::int64_t>(0, y - down),
                       bottom = std::min(picture.height, y + down),
                       left = std::max<std::int64_t>(0, x - right),
                       end = std::min(picture.width, x + right);
    for (std::int64_t row = top; row < bottom; ++row) {
      const std::int64_t at = row * picture.stride() + left * picture.channels;
      std::memcpy(picture.at + at, other + at,
                  static_cast<std::size_t>((end - left) * picture.channels));
    }
    return 1 - static_cast<double>((bottom - top) * (end - left)) /
                   static_cast<double>(picture.height * picture.width);
  }

 private:
  double alpha_;
};

template <typename Step>
std::unique_ptr<MixingStep> make_mixing(const LayerSettings& settings) {
  return std::make_unique<Step>(settings);
}

Key alpha_key() {
  return key::number("alpha", "1",
                     "The share is drawn from the beta distribution (alpha, "
                     "alpha); 1: any share is as likely.",
                     "(0, 1000]");
}

}  // namespace

const AugmentType& mixup() {
  static const AugmentType type{
      .name = "mixup",
      .words =
          "Mixes the picture with the one before it in the mini-batch, and the "
          "labels by the\nsame shares.",
      .other_names = {"randommixup"},
      .keys = {alpha_key(), chance("1")},
      .make_mixing = make_mixing<Mixup>};
  return type;
}

const AugmentType& cutmix() {
  static const AugmentType type{
      .name = "cutmix",
      .words =
          "Puts a rectangle of the picture before it in the mini-batch in its "
          "place, and mixes\nthe labels by the shares of the area.",
      .other_names = {"randomcutmix"},
      .keys = {alpha_key(), chance("1")},
      .make_mixing = make_mixing<Cutmix>};
  return type;
}

}  // namespace dl::nn::augment
