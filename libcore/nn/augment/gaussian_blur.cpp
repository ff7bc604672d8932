// Blurs pictures by a bell curve, rows first and then columns.

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/blur.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

class GaussianBlur final : public AugmentStep {
 public:
  explicit GaussianBlur(const LayerSettings& settings)
      : size_(settings.integer("kernel_size")),
        sigma_(settings.at("sigma").get<std::array<double, 2>>()) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const double sigma = sigma_[0] + (sigma_[1] - sigma_[0]) * random.uniform();
    blur(sample.pictures[0], bell(size_, sigma), room);
  }

 private:
  std::int64_t size_;
  std::array<double, 2> sigma_;
};

void check_blur(const LayerSettings& settings, const tensor::Shape& shape,
                const Complaint& complain) {
  const std::int64_t size = settings.integer("kernel_size");
  if (size % 2 == 0)
    complain("kernel_size", "want an odd number, got " + std::to_string(size));
  if (size / 2 >= std::min(shape[0], shape[1]))
    complain("kernel_size",
             "is too large for the picture " + shape.to_string());
}

}  // namespace

const AugmentType& gaussian_blur() {
  static const AugmentType type{
      .name = "gaussian_blur",
      .words =
          "Blurs the picture by a bell curve; beyond its edge it is "
          "mirrored.",
      .other_names = {"gaussianblur", "randomgaussianblur", "blur"},
      .keys = {key::integer("kernel_size", "3",
                            "Pixels that the curve is wide and high, an odd "
                            "number.",
                            "1..255"),
               key::pair("sigma", "[0.1, 2]",
                         "Range of the standard deviation, in pixels.",
                         "[low, high]", kOver0),
               chance("1")},
      .check = check_blur,
      .make = make_step<GaussianBlur>};
  return type;
}

}  // namespace dl::nn::augment
