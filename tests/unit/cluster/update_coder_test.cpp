#include "libcore/cluster/update_coder.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace dl::cluster;

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
