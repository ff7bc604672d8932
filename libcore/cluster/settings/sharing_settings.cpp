// Settings of sharing: checks, text and JSON.

#include "libcore/cluster/settings/sharing_settings.h"

#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

Json SharingSettings::to_json() const {
  return {
      {"threshold", threshold.to_json()},
      {"per_tensor", per_tensor},
      {"warmup", warmup},
      {"clip_multiple", clip_multiple},
      {"clip_every", clip_every},
      {"share", kShareNames.of(share)},
      {"masking", masking},
      {"combine", kCombineNames.of(combine)},
      {"in_flight", in_flight},
      {"staleness_rule", staleness_rule.to_text()},
      {"staleness", staleness ? Json(*staleness) : Json()},
      {"push", push},
      {"fetch", fetch},
      {"agree_every", agree_every},
  };
}

SharingSettings SharingSettings::from_json(const JsonView& json) {
  json.only({"threshold", "per_tensor", "warmup", "clip_multiple", "clip_every",
             "share", "masking", "combine", "in_flight", "staleness_rule",
             "staleness", "push", "fetch", "agree_every"});
  SharingSettings s;
  s.threshold = exchange::ThresholdRule::from_json(json.at("threshold"));
  s.per_tensor = json.at("per_tensor").boolean();
  s.warmup = json.at("warmup").integer(0, kMostCounted);
  s.clip_multiple = at_least_zero(json.at("clip_multiple"));
  s.clip_every = json.at("clip_every").integer(0, kMostCounted);
  s.share = enum_of(json.at("share"), kShareNames);
  s.masking = json.at("masking").boolean();
  s.combine = enum_of(json.at("combine"), kCombineNames);
  s.in_flight = json.at("in_flight").integer(1, kMostCounted);
  s.staleness_rule =
      rule_of<exchange::StalenessRule>(json.at("staleness_rule"));
  if (!json.at("staleness").raw().is_null())
    s.staleness = json.at("staleness").integer(0, kMostCounted);
  s.push = json.at("push").integer(1, kMostCounted);
  s.fetch = json.at("fetch").integer(1, kMostCounted);
  s.agree_every = json.at("agree_every").integer(0, kMostCounted);
  return s;
}

}  // namespace dl::cluster
