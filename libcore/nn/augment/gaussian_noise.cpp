// Adds a normal number to each value.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::size_t kPlaces = 4096;  // of the table of normal numbers

// The quantile at p, by bisection of the error function.
double quantile(double p) {
  double low = -9, high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double below = std::erfc(-middle / std::numbers::sqrt2) / 2;
    (below < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Normal numbers, one as likely as the other.
const std::vector<double>& normal_numbers() {
  static const std::vector<double> numbers = [] {
    std::vector<double> all(kPlaces);
    for (std::size_t i = 0; i < kPlaces; ++i)
      all[i] = quantile((static_cast<double>(i) + 0.5) / kPlaces);
    return all;
  }();
  return numbers;
}

class GaussianNoise final : public AugmentStep {
 public:
  explicit GaussianNoise(const LayerSettings& settings) {
    const double mean = settings.number("mean"),
                 sigma = settings.number("sigma");
    for (std::size_t i = 0; i < kPlaces; ++i)
      noise_[i] = static_cast<std::int16_t>(
          std::clamp(std::round(255 * (mean + sigma * normal_numbers()[i])),
                     -255.0, 255.0));
  }

  // 12 of 16 random bits choose a number.
  void apply(Sample& sample, Philox& random, Room&) const override {
    const std::uint64_t key = random.next64();
    const auto values = sample.picture().all();
    std::uint64_t block = 0;
    for (std::size_t i = 0; i < values.size(); i += 8) {
      const auto words = philox(key, block++, 0);
      const std::size_t n = std::min<std::size_t>(8, values.size() - i);
      for (std::size_t j = 0; j < n; ++j) {
        const std::uint32_t bits = words[j / 2] >> (16 * (j % 2));
        const int value = values[i + j] + noise_[bits % kPlaces];
        values[i + j] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }

 private:
  std::array<std::int16_t, kPlaces> noise_;
};

}  // namespace

const AugmentType& gaussian_noise() {
  static const AugmentType type{
      .name = "gaussian_noise",
      .words =
          "Adds a normal number to each value; 1 is the whole range of "
          "bytes.",
      .other_names = {"gaussnoise", "gaussiannoise", "noise", "randomnoise"},
      .keys = {key::number("mean", "0", "The mean of the noise.", "[-1, 1]"),
               key::number("sigma", "0.1",
                           "The standard deviation of the noise.", "[0, 1]"),
               chance("1")},
      .make = make_step<GaussianNoise>};
  return type;
}

}  // namespace dl::nn::augment
