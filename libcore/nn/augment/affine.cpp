// Turns, moves, scales and shears pictures at once.

#include <array>
#include <cmath>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/warp.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

class Affine final : public AugmentStep {
 public:
  explicit Affine(const LayerSettings& settings)
      : degrees_(settings.number("degrees")),
        shear_(settings.number("shear")),
        translate_(settings.at("translate").get<std::array<double, 2>>()),
        scale_(settings.at("scale").get<std::array<double, 2>>()),
        sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const auto around = [&](double most) {
      return most * (2 * random.uniform() - 1);
    };
    const Picture& picture = sample.picture();
    Affinity affinity;
    affinity.angle = around(degrees_);
    affinity.right =
        std::round(around(translate_[0] * static_cast<double>(picture.width)));
    affinity.down =
        std::round(around(translate_[1] * static_cast<double>(picture.height)));
    affinity.scale = scale_[0] + (scale_[1] - scale_[0]) * random.uniform();
    affinity.shear_x = around(shear_);
    warp(sample, matrix_of(affinity, picture), sampling_, room);
  }

 private:
  double degrees_, shear_;
  std::array<double, 2> translate_, scale_;
  Sampling sampling_;
};

}  // namespace

const AugmentType& affine() {
  static const AugmentType type{
      .name = "affine",
      .words =
          "Turns the picture about its center, scales, shears and moves it, by "
          "amounts drawn\none by one.",
      .other_names = {"randomaffine", "translate", "shear", "shiftscalerotate",
                      "randomzoom", "randomtranslation"},
      .keys = {key::number("degrees", "0",
                           "The angle is drawn between -degrees and degrees.",
                           "[0, 360]"),
               key::pair("translate", "[0, 0]",
                         "The most by which it moves, as shares of its sides.",
                         "[width, height]", "[0, 1]"),
               key::pair("scale", "[1, 1]", "Range of the factor of its size.",
                         "[low, high]", "(0, 100]"),
               key::number("shear", "0",
                           "The angle by which columns lean is drawn between "
                           "-shear and shear.",
                           "[0, 80]"),
               interpolation_key(R"("nearest")"), fill_key(), chance("1")},
      .make = make_step<Affine>};
  return type;
}

}  // namespace dl::nn::augment
