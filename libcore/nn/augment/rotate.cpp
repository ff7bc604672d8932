// Turns pictures about their center.

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/warp.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

class Rotate final : public AugmentStep {
 public:
  explicit Rotate(const LayerSettings& settings)
      : degrees_(settings.number("degrees")), sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const double angle = degrees_ * (2 * random.uniform() - 1);
    warp(sample, matrix_of({.angle = angle}, sample.picture()), sampling_,
         room);
  }

 private:
  double degrees_;
  Sampling sampling_;
};

}  // namespace

const AugmentType& rotate() {
  static const AugmentType type{
      .name = "rotate",
      .words = "Turns the picture about its center.",
      .other_names = {"randomrotation", "rotation"},
      .keys = {key::number("degrees", "required",
                           "The angle is drawn between -degrees and degrees.",
                           "[0, 360]"),
               interpolation_key(R"("nearest")"), fill_key(), chance("1")},
      .make = make_step<Rotate>};
  return type;
}

}  // namespace dl::nn::augment
