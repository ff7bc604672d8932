// The step from the parameters that replicas started from, by their average.
//
// With G = mean of the replicas - parameters W:
//
//   plain      W += rate * G                                (rate 1: averaging)
//   momentum   D = momentum * D + rate * G;  W += D         (BMUF, classic)
//   nesterov   the same D;  W += rate * G + momentum * D    (BMUF, Nesterov;
//                                                            DiLoCo)
//   replace    W = G, which is no difference then: a replica's parameters
//
// Chen and Huo, ICASSP 2016; Douillard et al. 2023, whose v is D / rate.

#ifndef DL_LIBCORE_EXCHANGE_RULES_OUTER_OPTIMIZER_H_
#define DL_LIBCORE_EXCHANGE_RULES_OUTER_OPTIMIZER_H_

#include <span>

#include "libcore/base/names.h"

namespace dl::exchange {

struct OuterOptimizer {
  enum class Kind { kPlain, kMomentum, kNesterov, kReplace = 4 };
  Kind kind = Kind::kPlain;
  double rate = 1;      // step size, > 0
  double momentum = 0;  // in [0, 1)

  bool has_velocity() const {
    return kind == Kind::kMomentum || kind == Kind::kNesterov;
  }

  // One step, element by element: every replica gets the same bits from the
  // same operands.  velocity: D, as many elements, or none for plain.
  void step(std::span<float> parameters, std::span<const float> delta,
            std::span<float> velocity) const;

  bool operator==(const OuterOptimizer&) const = default;
};

// The kinds that can be chosen.
constexpr Names<OuterOptimizer::Kind, 3> kOuterNames{
    {{{OuterOptimizer::Kind::kPlain, "plain"},
      {OuterOptimizer::Kind::kMomentum, "momentum"},
      {OuterOptimizer::Kind::kNesterov, "nesterov"}}}};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_OUTER_OPTIMIZER_H_
