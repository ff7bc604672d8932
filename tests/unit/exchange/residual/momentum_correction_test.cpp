// Tests of libcore/exchange/residual/momentum_correction.h.

#include "libcore/exchange/residual/momentum_correction.h"

#include <catch2/catch.hpp>

#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::momentum_correction_test {

TEST_CASE("momentum goes on, and is masked where something was sent") {
  for (const bool masking : {true, false}) {
    MomentumCorrection correction(3, 0.5, masking);
    ThresholdEncoder encoder({3});
    const std::vector<float> gradient = {1, -0.25F, 0};
    std::vector<std::byte> message;
    // u = 1, -1/4, 0; of v the first is sent.
    CHECK(encoder.encode(correction.add(gradient), std::vector<float>{1},
                         message) == 1);
    correction.sent(message);
    const auto u = correction.add(gradient);
    CHECK(u[0] == (masking ? 1.0F : 1.5F));
    CHECK(u[1] == -0.375F);
    CHECK(u[2] == 0);
  }
  CHECK_THROWS_AS(MomentumCorrection(3, 1, true), dl::Error);
  CHECK_THROWS_AS(MomentumCorrection(3, 0.5, true).add({}), dl::Error);
}

}  // namespace dl::exchange::momentum_correction_test
