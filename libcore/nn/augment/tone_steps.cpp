// Steps that change the values of pictures in one way, if at all.

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/tones.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

template <void (*kChange)(const Picture&)>
class Changed final : public AugmentStep {
 public:
  explicit Changed(const LayerSettings&) {}
  void apply(Sample& sample, Philox&, Room&) const override {
    kChange(sample.picture());
  }
};

class Posterize final : public AugmentStep {
 public:
  explicit Posterize(const LayerSettings& settings)
      : bits_(static_cast<int>(settings.integer("bits"))) {}
  void apply(Sample& sample, Philox&, Room&) const override {
    keep_bits(sample.picture(), bits_);
  }

 private:
  int bits_;
};

class Solarize final : public AugmentStep {
 public:
  explicit Solarize(const LayerSettings& settings)
      : threshold_(settings.number("threshold")) {}
  void apply(Sample& sample, Philox&, Room&) const override {
    invert_from(sample.picture(), threshold_);
  }

 private:
  double threshold_;
};

class Sharpness final : public AugmentStep {
 public:
  explicit Sharpness(const LayerSettings& settings)
      : factor_(settings.number("sharpness_factor")) {}
  void apply(Sample& sample, Philox&, Room&) const override {
    adjust_sharpness(sample.pictures[0], factor_);
  }

 private:
  double factor_;
};

}  // namespace

const AugmentType& grayscale() {
  static const AugmentType type{
      .name = "grayscale",
      .words = "Makes three channels equal, as grey as the eye sees them.",
      .other_names = {"randomgrayscale", "togray", "greyscale"},
      .keys = {chance("0.1")},
      .make = make_step<Changed<make_grey>>};
  return type;
}

const AugmentType& invert() {
  static const AugmentType type{.name = "invert",
                                .words = "Makes a negative of the picture.",
                                .other_names = {"randominvert", "invertimg"},
                                .keys = {chance("0.5")},
                                .make = make_step<Changed<invert_values>>};
  return type;
}

const AugmentType& autocontrast() {
  static const AugmentType type{
      .name = "autocontrast",
      .words = "Stretches each channel to values from 0 to 255.",
      .other_names = {"randomautocontrast"},
      .keys = {chance("0.5")},
      .make = make_step<Changed<stretch_contrast>>};
  return type;
}

const AugmentType& equalize() {
  static const AugmentType type{
      .name = "equalize",
      .words =
          "Spreads the values of each channel so that all are as frequent.",
      .other_names = {"randomequalize", "equalizehist"},
      .keys = {chance("0.5")},
      .make = make_step<Changed<spread_values>>};
  return type;
}

const AugmentType& posterize() {
  static const AugmentType type{
      .name = "posterize",
      .words = "Keeps the upper bits of each value.",
      .other_names = {"randomposterize"},
      .keys = {key::integer("bits", "4", "Bits that are kept.", "1..8"),
               chance("0.5")},
      .make = make_step<Posterize>};
  return type;
}

const AugmentType& solarize() {
  static const AugmentType type{
      .name = "solarize",
      .words = "Inverts values from a threshold on.",
      .other_names = {"randomsolarize"},
      .keys = {key::number("threshold", "128", "The least that is inverted.",
                           "[0, 256]"),
               chance("0.5")},
      .make = make_step<Solarize>};
  return type;
}

const AugmentType& sharpness() {
  static const AugmentType type{
      .name = "sharpness",
      .words = "Blurs the picture, or sharpens it.",
      .other_names = {"randomadjustsharpness", "adjustsharpness", "sharpen"},
      .keys = {key::number("sharpness_factor", "2",
                           "0 is blurred, 1 as it is, more is sharper.",
                           kAtLeast0),
               chance("0.5")},
      .make = make_step<Sharpness>};
  return type;
}

}  // namespace dl::nn::augment
