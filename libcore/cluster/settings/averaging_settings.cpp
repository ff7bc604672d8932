// Settings of averaging: checks, text and JSON.

#include "libcore/cluster/settings/averaging_settings.h"

#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

Json AveragingSettings::to_json() const {
  Json json = {
      {"frequency", frequency},
      {"workers", workers},
      {"updater_state", kUpdaterStateNames.of(updater_state)},
      {"outer", exchange::kOuterNames.of(outer.kind)},
      {"outer_rate", outer.rate},
      {"outer_momentum", outer.momentum},
      {"momentum_of_replicas", momentum_of_replicas},
      {"delta", delta.to_text()},
      {"overlap", overlap},
  };
  // Absent in runs of version 0.1.
  if (alone) json["alone"] = true;
  return json;
}

AveragingSettings AveragingSettings::from_json(const JsonView& json) {
  json.only({"frequency", "workers", "updater_state", "outer", "outer_rate",
             "outer_momentum", "momentum_of_replicas", "delta", "overlap",
             "alone"});
  AveragingSettings s;
  s.frequency = json.at("frequency").integer(1, kMostCounted);
  s.workers = json.at("workers").integer(0, kMostCounted);
  s.updater_state = enum_of(json.at("updater_state"), kUpdaterStateNames);
  s.outer.kind = enum_of(json.at("outer"), exchange::kOuterNames);
  s.outer.rate = json.at("outer_rate").number();
  if (!(s.outer.rate > 0)) json.at("outer_rate").fail("a positive number");
  s.outer.momentum = at_least_zero(json.at("outer_momentum"));
  if (!(s.outer.momentum < 1)) json.at("outer_momentum").fail("less than 1");
  s.momentum_of_replicas = json.at("momentum_of_replicas").boolean();
  s.delta = rule_of<exchange::DeltaFormat>(json.at("delta"));
  s.overlap = json.at("overlap").boolean();
  if (s.overlap && s.updater_state == UpdaterState::kAverage)
    json.at("updater_state").fail("keep or reset, as rounds overlap");
  if (json.has("alone")) s.alone = json.at("alone").boolean();
  if (s.alone && (s.keeps_history() || s.outer != exchange::OuterOptimizer() ||
                  s.updater_state != UpdaterState::kAverage))
    json.at("alone").fail("false, as rounds change what replicas learn");
  return s;
}

}  // namespace dl::cluster
