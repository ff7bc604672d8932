// Arrays on a device for tests, and the comparison of the cpu device with the
// reference: the same function runs on both, with the same inputs.

#ifndef DL_TESTS_UNIT_DEVICE_LAB_H_
#define DL_TESTS_UNIT_DEVICE_LAB_H_

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/device/api/device.h"
#include "libcore/device/open.h"
#ifdef DL_EMULATED
#include "tests/unit/device/emulated/emulated_device.h"
#endif

namespace dl::device::test {

using device::Device;
using device::Precision;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::View;
using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// The device that is held against the reference: "cpu", or what DL_TEST_DEVICE
// says, "emulated" or "cuda:0".
inline const char* tested() {
  static const char* const named = std::getenv("DL_TEST_DEVICE");
  return named == nullptr ? "cpu" : named;
}

// In what precision it is tested where a test does not say: float32, or what
// DL_TEST_PRECISION says, "tf32" or "bfloat16".  With the last, views are of
// bfloat16, and inputs numbers that it has, on the reference, too.
inline Precision tested_precision() {
  static const char* const named = std::getenv("DL_TEST_PRECISION");
  return named == nullptr ? Precision::kFloat32 : precision_of(named);
}
inline bool halves() { return tested_precision() == Precision::kBfloat16; }

// The nearest that bfloat16 has.
inline double rounded(double value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) &
                              0xffff0000U);
}

inline std::unique_ptr<Device> open_tested(std::string_view name,
                                           Precision precision) {
#ifdef DL_EMULATED
  if (name == "emulated") return emulated_device(precision);
#endif
  return open_device(name, precision);
}

// Uniform in [low, high), rounded to float32: the same on every device.
inline Values random_values(std::int64_t n, std::uint64_t seed, double low = -1,
                            double high = 1) {
  Philox random(seed, 1);
  Values values(static_cast<std::size_t>(n));
  for (double& value : values)
    value = static_cast<float>(low + (high - low) * random.uniform());
  return values;
}

inline Tensor tensor_of(const Shape& shape, const Values& values) {
  Tensor t(DType::kF64, shape);
  std::ranges::copy(values, t.as<double>().begin());
  return t;
}

// Result of f(number) for a number that was 0.
template <typename F>
double number_of(Device& device, F f) {
  const auto buffer = device.allocate(Shape{1}, DType::kF64);
  f(buffer->view());
  double number = 0;
  device.read({&number, 1}, buffer->view());
  return number;
}

inline bool all_finite(Device& device, View x) {
  return number_of(device, [&](View n) { device.check_finite(n, x); }) == 0;
}

class Lab {
 public:
  explicit Lab(std::string_view name)
      : Lab(name, name == tested() ? tested_precision() : Precision::kFloat32) {
  }
  Lab(std::string_view name, Precision precision)
      : owned_(open_tested(name, precision)) {}

  Device& device() { return *owned_; }

  View put(const Shape& shape, Values values) {
    if (halves()) std::ranges::transform(values, values.begin(), rounded);
    buffers_.push_back(device().allocate(
        shape, halves() ? device().activations() : device().real()));
    device().upload(buffers_.back()->view(), tensor_of(shape, values));
    return buffers_.back()->view();
  }
  View random(const Shape& shape, std::uint64_t seed, double low = -1,
              double high = 1) {
    return put(shape, random_values(shape.elements(), seed, low, high));
  }
  // For results: NaN, so that what a primitive leaves out shows.
  View blank(const Shape& shape) {
    return put(shape, Values(static_cast<std::size_t>(shape.elements()), kNan));
  }
  Values get(View view) {
    Tensor t(DType::kF64, Shape{});
    device().download(t, view);
    return {t.as<double>().begin(), t.as<double>().end()};
  }

 private:
  std::unique_ptr<Device> owned_;
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
};

// Every |actual - expected| is at most tolerance times the largest expected
// value, which counts as `least` where it is smaller.  NaN fails.
inline void check_close(const Values& actual, const Values& expected,
                        double tolerance, double least = 1e-3) {
  REQUIRE(actual.size() == expected.size());
  // Enough for any wrong index to show.
  if (tested_precision() != Precision::kFloat32) {
    tolerance = std::max(tolerance, halves() ? 1.0 / 16 : 1.0 / 256);
    least = std::max(least, 1e-2);
  }
  double scale = least;
  bool finite = true;
  for (const double value : expected) {
    finite = finite && std::isfinite(value);
    scale = std::max(scale, std::abs(value));
  }
  REQUIRE(finite);
  std::size_t worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <=
          std::abs(actual[worst] - expected[worst])))
      worst = i;
  if (actual.empty()) return;
  CAPTURE(worst, actual[worst], expected[worst], scale);
  CHECK(std::abs(actual[worst] - expected[worst]) <= tolerance * scale);
}

// Runs f(lab) -> Values on the tested device and on reference.
template <typename F>
void check_like_reference(F f, double tolerance = 2e-6, double least = 1e-3) {
  Lab lab(tested()), reference("reference");
  check_close(f(lab), f(reference), tolerance, least);
}

// d sum(weights * f(x)) / dx by central differences.
template <typename F>
Values numeric_gradient(F f, Values x, const Values& weights,
                        double step = 1e-5) {
  const auto weighted = [&] {
    const Values y = f(x);
    REQUIRE(y.size() == weights.size());
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
    return sum;
  };
  Values gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = x[i];
    x[i] = here + step;
    const double above = weighted();
    x[i] = here - step;
    gradient[i] = (above - weighted()) / (2 * step);
    x[i] = here;
  }
  return gradient;
}

}  // namespace dl::device::test

#endif  // DL_TESTS_UNIT_DEVICE_LAB_H_
