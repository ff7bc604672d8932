#include "libcore/cluster/worker/update_coder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace dl::cluster::update_coder_test {

namespace {

std::vector<std::byte> message_of(UpdateCoder& coder, float value) {
  const std::vector<float> update(1000, value);
  std::vector<std::byte> message;
  coder.encode(coder.prepare(update), 1, message);
  return message;
}

}  // namespace

TEST_CASE("a coder that forgets begins as it did") {
  for (const double momentum : {0.0, 0.9})
    for (const char* rule : {"adaptive", "adaptive:1e-3", "quantile:0.01"}) {
      INFO(rule << ", momentum " << momentum);
      SharingSettings settings;
      settings.threshold = dl::exchange::ThresholdRule::parse(rule);
      const std::vector<std::size_t> tensors = {600, 400};
      UpdateCoder coder(settings, tensors, momentum);
      const auto first = message_of(coder, 0.01F);
      for (int i = 0; i < 20; ++i) message_of(coder, 1e6F);
      CHECK(coder.residual_norm() > 1e5);
      coder.forget();
      CHECK(coder.residual_norm() == 0);
      CHECK(message_of(coder, 0.01F) == first);
      const MassLedger ledger = coder.ledger();
      CHECK(ledger.given ==
            Approx(ledger.sent.sum + ledger.clipped.sum + ledger.residual.sum));
    }
}

TEST_CASE("what is left of updates shrinks with their learning rate") {
  SharingSettings settings;
  settings.threshold = dl::exchange::ThresholdRule::parse("adaptive:8");
  const std::vector<std::size_t> tensors = {600, 400};
  UpdateCoder coder(settings, tensors, 0);
  const auto left = [&](double a, double b) {
    return Approx(std::sqrt(600 * a * a + 400 * b * b));
  };
  coder.follow(std::vector{0.5, 0.1});
  message_of(coder, 4);
  CHECK(coder.residual_norm() == left(4, 4));
  const double decay = settings.threshold.decay;  // nothing was sent

  // Thresholds of parts of 600 and 400; those of `adaptive` fall as well.
  int sent = 0;
  const auto threshold = [&](double a, double b) {
    message_of(coder, 0);
    return Approx((0.6 * a + 0.4 * b) * std::pow(decay, ++sent));
  };
  coder.follow(std::vector{0.25, 0.1});
  CHECK(coder.residual_norm() == left(2, 4));
  auto want = threshold(4, 8);
  CHECK(coder.threshold() == want);
  coder.follow(std::vector{0.5, 0.2});  // as before; and higher
  CHECK(coder.residual_norm() == left(2, 4));
  want = threshold(8, 8);
  CHECK(coder.threshold() == want);
  coder.follow(std::vector{0.5, 1e-6});
  coder.follow(std::vector{0.5, 0.2});  // not at once
  want = threshold(8, 8 * 1e-6 / 0.2 * 10);
  CHECK(coder.threshold() == want);
  coder.follow(std::vector{0.0, 0.0});
  CHECK(coder.residual_norm() == 0);

  const MassLedger ledger = coder.ledger();
  CHECK(ledger.clipped.sum == Approx(1000 * 4));
  CHECK(ledger.given ==
        Approx(ledger.sent.sum + ledger.clipped.sum + ledger.residual.sum));
}

}  // namespace dl::cluster::update_coder_test
