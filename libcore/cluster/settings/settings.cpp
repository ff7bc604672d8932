// Settings of a run as JSON.

#include "libcore/cluster/settings/settings.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kBig = std::numeric_limits<std::int64_t>::max();

// Seeds use all 64 bits, which JSON numbers of other programs do not keep.
std::uint64_t seed_from(const JsonView& view) {
  const std::string text = view.string();
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last)
    view.fail("a decimal number of 64 bits in a string");
  return value;
}

}  // namespace

Json Settings::to_json() const {
  Json json = {
      {"mode", kModeNames.of(mode)},
      {"batch", batch},
      {"epochs", epochs},
      {"seed", std::to_string(seed)},
      {"prefetch", prefetch},
      {"averaging", averaging.to_json()},
      {"sharing", sharing.to_json()},
      {"evaluations", evaluations},
      {"metric", metric},
      {"patience", patience},
      {"target", target},
  };
  // Absent in runs of version 0.1.
  if (deterministic) json["deterministic"] = true;
  if (lr_warmup > 0) json["lr_warmup"] = lr_warmup;
  return json;
}

Settings Settings::from_json(const JsonView& json) {
  json.only({"mode", "batch", "epochs", "seed", "prefetch", "averaging",
             "sharing", "evaluations", "metric", "patience", "target",
             "deterministic", "lr_warmup"});
  Settings s;
  s.mode = enum_of(json.at("mode"), kModeNames);
  s.batch = json.at("batch").integer(1, kMostCounted);
  s.epochs = json.at("epochs").integer(1, kBig);
  s.seed = seed_from(json.at("seed"));
  s.prefetch = json.at("prefetch").integer(0, kMostCounted);
  s.averaging = AveragingSettings::from_json(json.at("averaging"));
  s.sharing = SharingSettings::from_json(json.at("sharing"));
  s.evaluations = json.at("evaluations").strings();
  s.metric = json.at("metric").string();
  s.patience = json.at("patience").integer(0, kMostCounted);
  s.target = json.at("target").string();
  if (json.has("deterministic"))
    s.deterministic = json.at("deterministic").boolean();
  if (json.has("lr_warmup"))
    s.lr_warmup = json.at("lr_warmup").integer(0, kMostCounted);
  return s;
}

}  // namespace dl::cluster
