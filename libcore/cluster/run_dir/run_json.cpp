// Comparison of run.json with the present configuration.

#include "libcore/cluster/run_dir/run_json.h"

#include <utility>

namespace dl::cluster {

namespace {

// The configuration without the run's own findings.
Json without_findings(Json configuration) {
  for (const char* key : {"log", "instructions"}) configuration.erase(key);
  return configuration;
}

}  // namespace

Json fixed_part(Json configuration) {
  configuration = without_findings(std::move(configuration));
  configuration.erase("keep");
  if (configuration.contains("settings"))
    for (const char* key :
         {"epochs", "prefetch", "evaluations", "metric", "patience", "target"})
      configuration["settings"].erase(key);
  if (configuration.contains("data")) configuration["data"].erase("evaluation");
  return configuration;
}

bool wants_otherwise(const Json& before, const Json& now) {
  return without_findings(before) != without_findings(now);
}

std::vector<std::string> instructions_in(const Json& configuration) {
  const JsonView view(configuration, Code::kData);
  if (!view.has("instructions")) return {};
  return view.at("instructions").strings();
}

bool judges_otherwise(const Json& before, const Json& now) {
  const auto differ = [&](const char* pointer) {
    const Json::json_pointer where(pointer);
    return before.value(where, Json()) != now.value(where, Json());
  };
  if (differ("/settings/metric")) return true;
  const bool by_loss =
      now.value(Json::json_pointer("/settings/metric"), "loss") == "loss";
  return !by_loss &&
         (differ("/settings/evaluations") || differ("/data/evaluation"));
}

}  // namespace dl::cluster
