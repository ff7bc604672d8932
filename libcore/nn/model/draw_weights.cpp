// The initial weights, by their formulas in dl-network(5).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "libcore/base/parallel.h"
#include "libcore/base/philox.h"
#include "libcore/nn/model/initialise.h"

namespace dl::nn {
namespace {

// Keeps the streams of weights apart from those of other uses of the seed.
constexpr std::uint64_t kWeightStreams = 0x7765696768747300;  // "weights"

// The standard deviation of a normal number of deviation 1 that is not more
// than 2 from 0.
constexpr double kTruncatedDeviation = 0.87962566103423978;

// Numbers that Philox::uniform() and normal() take of its stream.
constexpr std::uint64_t kOfUniform = 2, kOfNormal = 4;

constexpr std::size_t kWorthAThread = std::size_t{1} << 18;  // weights

// Fills one tensor.
class Draw {
 public:
  Draw(std::span<float> weights, const TensorSpec& tensor, Philox random)
      : weights_(weights), tensor_(tensor), random_(random) {}

  void fill(const WeightStart& start);

 private:
  void all(double value) {
    std::ranges::fill(weights_, static_cast<float>(value));
  }
  template <typename F>
  void each(std::uint64_t numbers, F value);
  void normal(double deviation) {
    each(kOfNormal,
         [=](Philox& random) { return deviation * random.normal(); });
  }
  void truncated_normal(double deviation);
  void uniform(double limit) {
    each(kOfUniform,
         [=](Philox& random) { return limit * (2 * random.uniform() - 1); });
  }
  void log_normal(double mean, double deviation) {
    each(kOfNormal, [=](Philox& random) {
      return std::exp(mean + deviation * random.normal());
    });
  }
  void scaled(const WeightStart& start);
  void orthogonal(double gain);
  void identity();

  std::span<float> weights_;
  const TensorSpec& tensor_;
  Philox random_;
};

// Weight i from the numbers [numbers i, numbers (i + 1)) of the stream, so that
// many threads draw what one would.
template <typename F>
void Draw::each(std::uint64_t numbers, F value) {
  const std::size_t size = weights_.size();
  const auto fill = [&](std::size_t from, std::size_t to) {
    Philox random = random_;
    random.seek(numbers * from);
    for (std::size_t i = from; i < to; ++i)
      weights_[i] = static_cast<float>(value(random));
  };
  const std::size_t threads = std::clamp<std::size_t>(
      size / kWorthAThread, 1, static_cast<std::size_t>(available_cores()));
  if (threads == 1) return fill(0, size);
  ThreadTeam team(static_cast<int>(threads));
  team.run([&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    fill(size * t / threads, size * (t + 1) / threads);
  });
}

void Draw::truncated_normal(double deviation) {
  for (float& w : weights_) {
    double z = random_.normal();
    while (std::abs(z) > 2) z = random_.normal();
    w = static_cast<float>(deviation * z);
  }
}

void Draw::scaled(const WeightStart& start) {
  const auto in = static_cast<double>(tensor_.fan_in);
  const auto out = static_cast<double>(tensor_.fan_out);
  const double fan = start.mode == FanMode::kIn    ? in
                     : start.mode == FanMode::kOut ? out
                                                   : (in + out) / 2;
  const double variance = start.scale / fan;
  switch (start.distribution) {
    case ScaledDistribution::kTruncatedNormal:
      return truncated_normal(std::sqrt(variance) / kTruncatedDeviation);
    case ScaledDistribution::kNormal:
      return normal(std::sqrt(variance));
    case ScaledDistribution::kUniform:
      return uniform(std::sqrt(3 * variance));
  }
}

// In four sums, of a written order: the same on every host.
double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Makes `count` vectors, of n numbers each, orthonormal: each loses what it has
// of those before it, again where little is left.
void orthonormalise(std::vector<double>& vectors, std::size_t count,
                    std::size_t n) {
  for (std::size_t i = 0; i < count; ++i) {
    double* const v = vectors.data() + i * n;
    double left = std::sqrt(dot(v, v, n)), before = 0;
    do {
      before = left;
      for (std::size_t j = 0; j < i; ++j) {
        const double* const u = vectors.data() + j * n;
        const double part = dot(u, v, n);
        for (std::size_t k = 0; k < n; ++k) v[k] -= part * u[k];
      }
      left = std::sqrt(dot(v, v, n));
    } while (left < before / 2);
    for (std::size_t k = 0; k < n; ++k) v[k] /= left;
  }
}

// Rows, or columns where these are fewer, of normal numbers made orthonormal:
// all directions are alike.
void Draw::orthogonal(double gain) {
  const auto rows = static_cast<std::size_t>(tensor_.shape[0]);
  const std::size_t columns = weights_.size() / rows;
  const std::size_t count = std::min(rows, columns);
  const std::size_t n = std::max(rows, columns);
  std::vector<double> vectors(weights_.size());
  for (double& v : vectors) v = random_.normal();
  orthonormalise(vectors, count, n);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      weights_[row * columns + column] = static_cast<float>(
          gain * (rows <= columns ? vectors[row * n + column]
                                  : vectors[column * n + row]));
}

// Output i is input i; of a window, that in its middle.
void Draw::identity() {
  all(0);
  const auto outputs = static_cast<std::size_t>(tensor_.shape[0]);
  const auto extents = tensor_.shape.extents();
  const std::size_t row = weights_.size() / outputs;
  std::size_t middle = 0;
  for (std::size_t d = 1; d + 1 < extents.size(); ++d)
    middle = middle * static_cast<std::size_t>(extents[d]) +
             static_cast<std::size_t>(extents[d] - 1) / 2;
  for (std::size_t i = 0; i < outputs; ++i)
    weights_[i * row + middle * outputs + i] = 1;
}

void Draw::fill(const WeightStart& start) {
  const auto in = static_cast<double>(tensor_.fan_in);
  const auto both = in + static_cast<double>(tensor_.fan_out);
  const double by_fan = start.value > 0 ? start.value : std::sqrt(1 / in);
  switch (start.kind) {
    case WeightInit::kXavier:
      return normal(std::sqrt(2 / both));
    case WeightInit::kXavierUniform:
      return uniform(std::sqrt(6 / both));
    case WeightInit::kHe:
      return normal(std::sqrt(2 / in));
    case WeightInit::kHeUniform:
      return uniform(std::sqrt(6 / in));
    case WeightInit::kLecun:
      return normal(std::sqrt(1 / in));
    case WeightInit::kLecunUniform:
      return uniform(std::sqrt(3 / in));
    case WeightInit::kNormal:
      return normal(by_fan);
    case WeightInit::kTruncatedNormal:
      return truncated_normal(by_fan);
    case WeightInit::kUniform:
      return uniform(by_fan);
    case WeightInit::kLogNormal:
      return log_normal(start.mean, start.value);
    case WeightInit::kVarianceScaling:
      return scaled(start);
    case WeightInit::kOrthogonal:
      return orthogonal(start.value);
    case WeightInit::kIdentity:
      return identity();
    case WeightInit::kZero:
      return all(0);
    case WeightInit::kOnes:
      return all(1);
    case WeightInit::kConstant:
      return all(start.value);
  }
}

}  // namespace

void draw_weights(std::span<float> weights, const WeightStart& start,
                  const TensorSpec& tensor, std::uint64_t seed,
                  std::uint64_t index) {
  Draw(weights, tensor, Philox(seed, mix({kWeightStreams, index}))).fill(start);
}

}  // namespace dl::nn
