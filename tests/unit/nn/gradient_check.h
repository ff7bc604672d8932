// Gradients against finite differences.

#ifndef DL_TESTS_UNIT_NN_GRADIENT_CHECK_H_
#define DL_TESTS_UNIT_NN_GRADIENT_CHECK_H_

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/nn/support.h"

namespace dl::nn::testing {

constexpr double kTolerance = 1e-6;

// Worst error of the gradient against a central difference of fourth order in
// up to `most` parameters of each tensor, relative to the larger of the two
// and, for those that are nearly zero, to the tensor's largest.
// `score`: the loss of the network as it is.  least: what is smaller than this
// counts as this; without it, every tensor must have a gradient.  kinks: counts
// the parameters near which the loss has one, where two steps say two things;
// null: there must be none.
template <typename Score>
double gradient_error(Network& network, const std::vector<double>& gradient,
                      std::int64_t most, const Score& score, double least = 0,
                      int* kinks = nullptr) {
  constexpr double kStep = 1e-4;
  std::vector<double> w = values(network, network.parameters());
  const auto score_at = [&](std::size_t i, double value) {
    const double before = std::exchange(w[i], value);
    assign(network, network.parameters(), w);
    w[i] = before;
    return score();
  };
  double worst = 0;
  for (const Segment& s : network.parameter_segments()) {
    if (network.config().layers[s.layer].training.frozen) continue;
    const std::int64_t n = s.elements();
    double largest = 0;
    for (std::int64_t i = s.offset; i < s.offset + n; ++i)
      largest =
          std::max(largest, std::abs(gradient[static_cast<std::size_t>(i)]));
    INFO(s.name << ": largest gradient " << largest);
    if (least == 0) CHECK(largest > 1e-8);  // else nothing is compared
    for (std::int64_t k = 0; k < std::min(n, most); ++k) {
      const auto i =
          static_cast<std::size_t>(s.offset + (n <= most ? k : k * n / most));
      const double x = w[i];
      const auto slope = [&](double h) {
        return (8 * (score_at(i, x + h) - score_at(i, x - h)) -
                (score_at(i, x + 2 * h) - score_at(i, x - 2 * h))) /
               (12 * h);
      };
      const double numeric = slope(kStep);
      const double size = std::max({std::abs(numeric), std::abs(gradient[i]),
                                    1e-3 * largest, 5e-6, least});
      const double error = std::abs(numeric - gradient[i]) / size;
      if (kinks != nullptr && error > kTolerance &&
          std::abs(numeric - slope(kStep / 3)) > kTolerance * size) {
        ++*kinks;
        continue;
      }
      if (!(error <= kTolerance)) {
        INFO("at " << k << ": " << gradient[i] << ", numerically " << numeric);
        CHECK(error <= kTolerance);
        return error;
      }
      worst = std::max(worst, error);
    }
  }
  assign(network, network.parameters(), w);
  return worst;
}

// Moves parameters off their start, where biases of 0 and gammas of 1 would
// hide mistakes.
inline void stir(Network& network) {
  Philox random(4, 4);
  std::vector<double> w = values(network, network.parameters());
  for (double& x : w) x += 0.1 * random.normal();
  assign(network, network.parameters(), w);
}

}  // namespace dl::nn::testing

#endif  // DL_TESTS_UNIT_NN_GRADIENT_CHECK_H_
