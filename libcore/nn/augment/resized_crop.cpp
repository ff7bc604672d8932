// Cuts a part of pictures out and enlarges it to their size.

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/stretch.h"
#include "libcore/nn/augment/warp.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

class ResizedCrop final : public AugmentStep {
 public:
  explicit ResizedCrop(const LayerSettings& settings)
      : scale_(settings.at("scale").get<std::array<double, 2>>()),
        ratio_(settings.at("ratio").get<std::array<double, 2>>()),
        sampling_(settings) {}

  void apply(Sample& sample, Philox& random, Room& room) const override {
    const Picture& picture = sample.picture();
    const Box part = box(picture, random);
    if (sampling_.bilinear && sample.pictures.size() == 1)
      return stretch(sample.pictures[0], part, room);
    Matrix m;
    m.a = part.width / static_cast<double>(picture.width);
    m.c = part.left;
    m.e = part.height / static_cast<double>(picture.height);
    m.f = part.top;
    warp(sample, m, sampling_, room);
  }

 private:
  // Where no rectangle drawn fits, the middle.
  Box box(const Picture& picture, Philox& random) const {
    constexpr int kTries = 10;
    const double area = static_cast<double>(picture.height * picture.width);
    const double low = std::log(ratio_[0]), high = std::log(ratio_[1]);
    for (int i = 0; i < kTries; ++i) {
      const double share =
          scale_[0] + (scale_[1] - scale_[0]) * random.uniform();
      const double ratio = std::exp(low + (high - low) * random.uniform());
      const std::int64_t width = std::llround(std::sqrt(area * share * ratio)),
                         height = std::llround(std::sqrt(area * share / ratio));
      if (width < 1 || height < 1 || width > picture.width ||
          height > picture.height)
        continue;
      const auto place = [&](std::int64_t most) {
        return static_cast<double>(
            random.below(static_cast<std::uint64_t>(most + 1)));
      };
      const double top = place(picture.height - height);
      const double left = place(picture.width - width);
      return {top, left, static_cast<double>(height),
              static_cast<double>(width)};
    }
    const auto width = static_cast<double>(picture.width),
               height = static_cast<double>(picture.height);
    const double ratio = std::clamp(width / height, ratio_[0], ratio_[1]);
    const double w = std::min(width, std::round(height * ratio)),
                 h = std::min(height, std::round(width / ratio));
    return {std::floor((height - h) / 2), std::floor((width - w) / 2), h, w};
  }

  std::array<double, 2> scale_, ratio_;
  Sampling sampling_;
};

}  // namespace

const AugmentType& resized_crop() {
  static const AugmentType type{
      .name = "resized_crop",
      .words =
          "Cuts a rectangle of an area, a ratio and a place drawn out of the "
          "picture and resizes\nit to the picture's size.",
      .other_names = {"randomresizedcrop", "randomsizedcrop"},
      .keys = {key::pair("scale", "[0.08, 1]",
                         "Range of its area, as a share of the picture's.",
                         "[low, high]", "(0, 1]"),
               key::pair("ratio", "[0.75, 1.3333333333333333]",
                         "Range of width / height.", "[low, high]", kOver0),
               interpolation_key(R"("bilinear")"), chance("1")},
      .make = make_step<ResizedCrop>};
  return type;
}

}  // namespace dl::nn::augment
