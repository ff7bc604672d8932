// Covers a part of pictures.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kFillings[] = {"constant", "random"};

// Rows from top to bottom, columns from left to right, cut off at the edge.
void cover(const Picture& picture, std::int64_t top, std::int64_t left,
           std::int64_t height, std::int64_t width, std::uint8_t value) {
  const std::int64_t begin = std::max<std::int64_t>(0, left),
                     end = std::min(picture.width, left + width);
  if (begin >= end) return;
  for (std::int64_t y = std::max<std::int64_t>(0, top);
       y < std::min(picture.height, top + height); ++y)
    std::memset(picture.row(y) + begin * picture.channels, value,
                static_cast<std::size_t>((end - begin) * picture.channels));
}

class Erase final : public AugmentStep {
 public:
  explicit Erase(const LayerSettings& settings)
      : scale_(settings.at("scale").get<std::array<double, 2>>()),
        ratio_(settings.at("ratio").get<std::array<double, 2>>()),
        value_(static_cast<std::uint8_t>(settings.integer("value"))),
        random_(settings.text("filling") == kFillings[1]) {}

  void apply(Sample& sample, Philox& random, Room&) const override {
    constexpr int kTries = 10;
    const Picture& picture = sample.picture();
    for (int i = 0; i < kTries; ++i) {
      const double area =
          static_cast<double>(picture.height * picture.width) *
          (scale_[0] + (scale_[1] - scale_[0]) * random.uniform());
      const double low = std::log(ratio_[0]), high = std::log(ratio_[1]);
      const double ratio = std::exp(low + (high - low) * random.uniform());
      const auto height = std::llround(std::sqrt(area * ratio)),
                 width = std::llround(std::sqrt(area / ratio));
      if (height < 1 || width < 1 || height >= picture.height ||
          width >= picture.width)
        continue;
      const auto place = [&](std::int64_t most) {
        return static_cast<std::int64_t>(
            random.below(static_cast<std::uint64_t>(most + 1)));
      };
      const std::int64_t top = place(picture.height - height),
                         left = place(picture.width - width);
      if (!random_) return cover(picture, top, left, height, width, value_);
      return scatter(picture, top, left, height, width, random);
    }
  }

 private:
  // Four random bytes at a time.
  static void scatter(const Picture& picture, std::int64_t top,
                      std::int64_t left, std::int64_t height,
                      std::int64_t width, Philox& random) {
    for (std::int64_t y = top; y < top + height; ++y) {
      std::uint8_t* out = picture.row(y) + left * picture.channels;
      for (std::int64_t i = 0; i < width * picture.channels; i += 4) {
        const std::uint32_t word = random();
        std::memcpy(out + i, &word,
                    static_cast<std::size_t>(std::min<std::int64_t>(
                        4, width * picture.channels - i)));
      }
    }
  }

  std::array<double, 2> scale_, ratio_;
  std::uint8_t value_;
  bool random_;
};

class Cutout final : public AugmentStep {
 public:
  explicit Cutout(const LayerSettings& settings)
      : size_(settings.integer("size")),
        value_(static_cast<std::uint8_t>(settings.integer("value"))) {}

  void apply(Sample& sample, Philox& random, Room&) const override {
    const Picture& picture = sample.picture();
    const auto place = [&](std::int64_t extent) {
      return static_cast<std::int64_t>(
                 random.below(static_cast<std::uint64_t>(extent))) -
             size_ / 2;
    };
    const std::int64_t top = place(picture.height), left = place(picture.width);
    cover(picture, top, left, size_, size_, value_);
  }

 private:
  std::int64_t size_;
  std::uint8_t value_;
};

Key value_key() {
  return key::integer("value", "0", "Value of the pixels that are covered.",
                      "0..255");
}

}  // namespace

const AugmentType& erase() {
  static const AugmentType type{
      .name = "erase",
      .words = "Covers a rectangle of a size, a ratio and a place drawn.",
      .other_names = {"randomerasing", "randomerase", "erasing"},
      .keys = {key::pair("scale", "[0.02, 0.33]",
                         "Range of its area, as a share of the picture's.",
                         "[low, high]", "(0, 1]"),
               key::pair("ratio", "[0.3, 3.3]", "Range of height / width.",
                         "[low, high]", kOver0),
               key::one_of("filling", R"("constant")",
                           "The *value*, or random pixels.", kFillings),
               value_key(), chance("0.5")},
      .make = make_step<Erase>};
  return type;
}

const AugmentType& cutout() {
  static const AugmentType type{
      .name = "cutout",
      .words =
          "Covers a square around a pixel drawn; what lies beyond the edge is "
          "cut off.",
      .other_names = {"coarsedropout", "randomcutout"},
      .keys = {key::integer("size", "16", "Pixels of its side.", "1..65535"),
               value_key(), chance("1")},
      .make = make_step<Cutout>};
  return type;
}

}  // namespace dl::nn::augment
