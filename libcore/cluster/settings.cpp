#include "libcore/cluster/settings.h"

#include <limits>

namespace dl::cluster {

namespace {

constexpr std::int64_t kBig = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kCount = std::numeric_limits<std::int32_t>::max();

Mode mode_from(const JsonView& view) {
  const std::string name = view.string();
  if (name == "averaging") return Mode::kAveraging;
  if (name == "sharing") return Mode::kSharing;
  view.fail("averaging or sharing");
}

// Seeds use all 64 bits, which JSON numbers of other programs do not keep.
std::uint64_t seed_from(const JsonView& view) {
  const std::string text = view.string();
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > (UINT64_MAX - 9) / 10)
      view.fail("a decimal number in a string");
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (text.empty()) view.fail("a decimal number in a string");
  return value;
}

double at_least_zero(const JsonView& view) {
  const double value = view.number();
  if (!(value >= 0)) view.fail("a number of at least 0");
  return value;
}

}  // namespace

Json Settings::to_json() const {
  return {
      {"mode", mode == Mode::kAveraging ? "averaging" : "sharing"},
      {"batch", batch},
      {"epochs", epochs},
      {"seed", std::to_string(seed)},
      {"prefetch", prefetch},
      {"frequency", frequency},
      {"workers", workers},
      {"average_updater", average_updater},
      {"threshold", threshold.to_json()},
      {"clip_multiple", clip_multiple},
      {"clip_every", clip_every},
      {"combine_mean", combine_mean},
      {"in_flight", in_flight},
      {"evaluations", evaluations},
      {"metric", metric},
      {"patience", patience},
      {"target", target},
  };
}

Settings Settings::from_json(const JsonView& json) {
  json.only({"mode", "batch", "epochs", "seed", "prefetch", "frequency",
             "workers", "average_updater", "threshold", "clip_multiple",
             "clip_every", "combine_mean", "in_flight", "evaluations", "metric",
             "patience", "target"});
  Settings s;
  s.mode = mode_from(json.at("mode"));
  s.batch = json.at("batch").integer(1, kCount);
  s.epochs = json.at("epochs").integer(1, kBig);
  s.seed = seed_from(json.at("seed"));
  s.prefetch = json.at("prefetch").integer(0, kCount);
  s.frequency = json.at("frequency").integer(1, kCount);
  s.workers = json.at("workers").integer(0, kCount);
  s.average_updater = json.at("average_updater").boolean();
  s.threshold = exchange::ThresholdRule::from_json(json.at("threshold"));
  s.clip_multiple = at_least_zero(json.at("clip_multiple"));
  s.clip_every = json.at("clip_every").integer(0, kCount);
  s.combine_mean = json.at("combine_mean").boolean();
  s.in_flight = json.at("in_flight").integer(1, kCount);
  s.evaluations = json.at("evaluations").strings();
  s.metric = json.at("metric").string();
  s.patience = json.at("patience").integer(0, kCount);
  s.target = json.at("target").string();
  return s;
}

}  // namespace dl::cluster
