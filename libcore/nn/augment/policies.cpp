// Operations drawn from a list, with no tuning of each.

#include <array>
#include <cmath>
#include <numbers>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/tones.h"
#include "libcore/nn/augment/warp.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

// In the order of torchvision.
enum class Operation {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutocontrast,
  kEqualize
};
constexpr std::uint64_t kOperations = 14;

// The greatest strength of each.
struct Strengths {
  double shear, rotate, tone;
  double translate;  // pixels, or where it is below 1 a share of the side
  int bits;          // that posterize takes away
};
constexpr Strengths kOfRandAugment = {0.3, 30, 0.9, 150.0 / 331, 4};
constexpr Strengths kOfTrivialAugment = {0.99, 135, 0.99, 32, 6};

void move(Sample& sample, const Affinity& affinity, const Sampling& sampling,
          Room& room) {
  warp(sample, matrix_of(affinity, sample.picture()), sampling, room);
}

// strength: a share of the greatest, 0..1.
void apply_operation(Operation operation, double strength, bool negative,
                     const Strengths& most, const Sampling& sampling,
                     Sample& sample, Room& room) {
  const Picture& picture = sample.picture();
  const double sign = negative ? -1 : 1;
  const auto lean = [&] {
    return std::atan(sign * strength * most.shear) * 180 / std::numbers::pi;
  };
  const auto pixels = [&](std::int64_t side) {
    const double whole = most.translate < 1
                             ? most.translate * static_cast<double>(side)
                             : most.translate;
    return std::trunc(sign * strength * whole);
  };
  const double factor = 1 + sign * strength * most.tone;
  switch (operation) {
    case Operation::kIdentity:
      return;
    case Operation::kShearX:
      return move(sample, {.shear_x = lean(), .centered = false}, sampling,
                  room);
    case Operation::kShearY:
      return move(sample, {.shear_y = lean(), .centered = false}, sampling,
                  room);
    case Operation::kTranslateX:
      return move(sample, {.right = pixels(picture.width)}, sampling, room);
    case Operation::kTranslateY:
      return move(sample, {.down = pixels(picture.height)}, sampling, room);
    case Operation::kRotate:
      return move(sample, {.angle = -sign * strength * most.rotate}, sampling,
                  room);
    case Operation::kBrightness:
      return adjust_brightness(picture, factor);
    case Operation::kColor:
      return adjust_saturation(picture, factor);
    case Operation::kContrast:
      return adjust_contrast(picture, factor);
    case Operation::kSharpness:
      return adjust_sharpness(sample.pictures[0], factor);
    case Operation::kPosterize:
      return keep_bits(
          picture, 8 - static_cast<int>(std::nearbyint(strength * most.bits)));
    case Operation::kSolarize:
      return invert_from(picture, 255 * (1 - strength));
    case Operation::kAutocontrast:
      return stretch_contrast(picture);
    case Operation::kEqualize:
      return spread_values(picture);
  }
}

class RandAugment final : public AugmentStep {
 public:
  explicit RandAugment(const LayerSettings& settings)
      : operations_(settings.integer("num_ops")),
        strength_(
            static_cast<double>(settings.integer("magnitude")) /
            static_cast<double>(settings.integer("num_magnitude_bins") - 1)),
        sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    for (std::int64_t i = 0; i < operations_; ++i) {
      const auto operation = static_cast<Operation>(random.below(kOperations));
      apply_operation(operation, strength_, random.below(2) == 1,
                      kOfRandAugment, sampling_, sample, room);
    }
  }

 private:
  std::int64_t operations_;
  double strength_;
  Sampling sampling_;
};

class TrivialAugment final : public AugmentStep {
 public:
  explicit TrivialAugment(const LayerSettings& settings)
      : bins_(settings.integer("num_magnitude_bins")), sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const auto operation = static_cast<Operation>(random.below(kOperations));
    const auto bin = random.below(static_cast<std::uint64_t>(bins_));
    apply_operation(
        operation, static_cast<double>(bin) / static_cast<double>(bins_ - 1),
        random.below(2) == 1, kOfTrivialAugment, sampling_, sample, room);
  }

 private:
  std::int64_t bins_;
  Sampling sampling_;
};

Key bins_key() {
  return key::integer("num_magnitude_bins", "31",
                      "Number of strengths, from 0 to the greatest.",
                      "2..1000");
}

void check_magnitude(const LayerSettings& settings, const tensor::Shape&,
                     const Complaint& complain) {
  const std::int64_t bins = settings.integer("num_magnitude_bins");
  if (settings.integer("magnitude") >= bins)
    complain("magnitude", "want 0.." + std::to_string(bins - 1) +
                              ", below num_magnitude_bins, got " +
                              std::to_string(settings.integer("magnitude")));
}

}  // namespace

const AugmentType& rand_augment() {
  static const AugmentType type{
      .name = "rand_augment",
      .words =
          "Applies operations drawn from fourteen, one after the other, all "
          "with the same\nstrength: identity, shear_x, shear_y, translate_x, "
          "translate_y, rotate, brightness,\ncolor, contrast, sharpness, "
          "posterize, solarize, autocontrast, equalize.",
      .other_names = {"randaugment", "randaug"},
      .keys = {key::integer("num_ops", "2", "Operations applied.", "0..100"),
               key::integer("magnitude", "9",
                            "Strength of each, of num_magnitude_bins.",
                            "0..999"),
               bins_key(), interpolation_key(R"("nearest")"), fill_key(),
               chance("1")},
      .check = check_magnitude,
      .make = make_step<RandAugment>};
  return type;
}

const AugmentType& trivial_augment() {
  static const AugmentType type{
      .name = "trivial_augment",
      .words =
          "Applies one operation drawn from those of *rand_augment*, with a "
          "strength drawn from a\nwider range; nothing is to be tuned.",
      .other_names = {"trivialaugment", "trivialaugmentwide", "ta"},
      .keys = {bins_key(), interpolation_key(R"("nearest")"), fill_key(),
               chance("1")},
      .make = make_step<TrivialAugment>};
  return type;
}

}  // namespace dl::nn::augment
