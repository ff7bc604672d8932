// The ledger of sharing balances: given + returned = sent + clipped + residual,
// and each column is what a naive count says.

#include "libcore/cluster/protocol/mass_ledger.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/cluster/report/report.h"
#include "libcore/cluster/worker/update_coder.h"

namespace dl::cluster::mass_ledger_test {

using exchange::Mass;

namespace {

const std::vector<std::size_t> kTensors = {300, 5000, 10, 2000};
constexpr std::size_t kElements = 7310;

struct Way {
  const char* threshold;
  double momentum;
  bool by_pieces;
};

// Counts what goes in and comes out, element by element.
struct Naive {
  double given = 0, all = 0;
  Mass sent, returned;

  void take(std::span<const float> update) {
    const Mass mass = exchange::mass_of(update);
    given += mass.sum;
    all += mass.size;
  }
  static Mass of(std::span<const std::byte> message) {
    std::vector<float> dense(kElements);
    exchange::decode_threshold(message, 1, dense);
    return exchange::mass_of(dense);
  }
};

// A mean that is not 0, so that sums are not noise alone.
std::vector<float> random_update(Philox& random) {
  std::vector<float> update(kElements);
  for (float& x : update)
    x = static_cast<float>(0.004 * (random.uniform() - 0.45));
  return update;
}

void take_pieces(UpdateCoder& coder, std::span<const float> update) {
  coder.begin();
  std::size_t at = 0;
  for (const std::size_t part : exchange::parts_of(kTensors, true)) {
    coder.take(at, update.subspan(at, part / 3));
    coder.take(at + part / 3, update.subspan(at + part / 3, part - part / 3));
    at += part;
  }
}

void balances(const Way& way) {
  INFO(way.threshold << ", momentum " << way.momentum);
  SharingSettings settings;
  settings.threshold = exchange::ThresholdRule::parse(way.threshold);
  settings.clip_multiple = 0.5;
  UpdateCoder coder(settings, kTensors, way.momentum);
  REQUIRE((coder.by_pieces() || !way.by_pieces));
  Philox random(7, 1);
  Naive naive;
  for (int step = 0; step < 60; ++step) {
    const std::vector<float> update = random_update(random);
    std::vector<std::byte> message;
    if (way.by_pieces) {
      take_pieces(coder, update);
      if (random.below(6) == 0) {
        coder.undo(update);  // a fault: as if it had never been
        continue;
      }
      naive.take(update);
      coder.finish(1, message);
    } else {
      const auto prepared = coder.prepare(update);
      naive.take(prepared);
      if (random.below(4) == 0) {
        coder.keep(prepared);
        continue;
      }
      coder.encode(prepared, 1, message);
    }
    const Mass sent = Naive::of(message);
    naive.sent.add(sent);
    if (random.below(5) > 0) continue;
    coder.give_back(message);
    naive.returned.add(sent);
  }
  const MassLedger ledger = coder.ledger();
  const double rounding = 1e-6 * naive.all;
  const auto close = [&](double a, double b) {
    return std::fabs(a - b) < rounding;
  };
  CHECK(close(ledger.given, naive.given));
  CHECK(close(ledger.sent.sum, naive.sent.sum));
  CHECK(close(ledger.sent.size, naive.sent.size));
  CHECK(close(ledger.returned.sum, naive.returned.sum));
  CHECK(close(ledger.returned.size, naive.returned.size));
  CHECK(close(ledger.given + ledger.returned.sum,
              ledger.sent.sum + ledger.clipped.sum + ledger.residual.sum));
  // None of them is missing unseen.
  for (const Mass& mass :
       {ledger.sent, ledger.returned, ledger.clipped, ledger.residual})
    CHECK(mass.size > 10 * rounding);
}

MassLedger some() {
  return {1, {2, 3}, {0.5, 0.75}, {-0.25, 0.25}, {-1, 4}, {0.5, 6}};
}

}  // namespace

TEST_CASE("the ledger of sharing balances, whatever is refused and clipped") {
  for (const char* threshold : {"fixed:2e-3", "adaptive:2e-3", "target:0.05"})
    for (const bool by_pieces : {false, true})
      balances({threshold, 0, by_pieces});
  balances({"quantile:0.05", 0, false});
  // With momentum: what goes into the residual, and masking changes nothing.
  balances({"quantile:0.05", 0.9, false});
  balances({"fixed:2e-3", 0.5, false});
}

TEST_CASE("ledgers survive the way and add up") {
  const auto from = [](const Json& json) {
    return MassLedger::from_json(JsonView(json, Code::kProtocol, "mass"));
  };
  MassLedger sum = from(some().to_json());
  CHECK(sum.to_json() == some().to_json());
  sum.add(some());
  CHECK(sum.given == 2);
  CHECK(sum.sent.size == 6);
  CHECK(sum.residual.sum == 1);
  const auto refused = [&](const char* key, const Json& value) {
    Json json = some().to_json();
    json[key] = value;
    CHECK_THROWS_AS(from(json), Error);
  };
  refused("given", std::nan(""));
  refused("sent", 3);
  refused("sent", Json::array({1}));
  refused("clipped", Json::array({1, -1}));
  refused("surplus", 1);
}

TEST_CASE("the report says what was lost and what was learnt twice") {
  Report report;
  const RunState state;
  CHECK(report.to_text(state).find("mass") == std::string::npos);
  report.masses[1] = some();
  report.masses[2] = some();
  report.applied = {3, 5};
  CHECK(report.to_text(state).find(
            "mass         6 sent, 1.5 refused and learnt again, 0.5 dropped, "
            "8 clipped, 12 left in residuals; what is left is not in the "
            "model: --mode averaging suits short runs\n") != std::string::npos);
  report.masses[1].sent.size = 100;
  CHECK(report.to_text(state).find("left in residuals\n") != std::string::npos);
  const Json mass = report.to_json(state)["mass"];
  CHECK(mass["applied"] == Json({3.0, 5.0}));
  CHECK(mass["given"] == 2.0);
}

TEST_CASE("the report says when the model lacks much of what was learnt") {
  const auto lacking = [](double sent, double clipped, double left,
                          std::uint64_t batches = 64) {
    Report report;
    report.batches = batches;
    report.masses[1].sent.size = sent;
    report.masses[1].clipped.size = clipped;
    report.masses[2].residual.size = left;
    return report.lacking();
  };
  CHECK(Report().lacking().empty());
  CHECK(lacking(100, 390, 49).empty());
  CHECK(lacking(100, 0, 51) == "100 sent, 51 left in residuals");
  CHECK(lacking(100, 410, 1) == "100 sent, 410 clipped, 1 left in residuals");
  CHECK(lacking(0, 0, 1) == "0 sent, 1 left in residuals");
  CHECK(lacking(100, 0, 51, 63).empty());  // nobody expects a model yet
  CHECK(lacking(0, 0, 1, 3) == "0 sent, 1 left in residuals");
}

}  // namespace dl::cluster::mass_ledger_test
