// Schedules: numbers that change in the course of training.

#include <cmath>

#include "libcore/nn/config.h"

namespace dl::nn {

double Schedule::at(std::int64_t iteration, std::int64_t epoch) const {
  const auto i = static_cast<double>(by_epoch ? epoch : iteration);
  switch (kind) {
    case Kind::kFixed:
      return initial;
    case Kind::kStep:
      return initial * std::pow(decay, std::floor(i / every));
    case Kind::kExponential:
      return initial * std::pow(decay, i);
    case Kind::kPolynomial:
      return i >= limit ? 0 : initial * std::pow(1 - i / limit, power);
  }
  return initial;
}

tensor::UpdaterStep UpdaterConfig::step(std::int64_t iteration,
                                        std::int64_t epoch) const {
  return {.kind = kind,
          .learning_rate = learning_rate.at(iteration, epoch),
          .momentum = momentum,
          .beta1 = beta1,
          .beta2 = beta2,
          .epsilon = epsilon,
          .step = iteration + 1};
}

}  // namespace dl::nn
