#include "libcore/cluster/master.h"

#include <filesystem>

#include "libcore/cluster/master_address.h"
#include "libcore/cluster/master_run.h"
#include "libcore/cluster/passing_folder.h"
#include "libcore/cluster/plan.h"
#include "libcore/cluster/replay.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

// Nothing is kept, so the run directory is a passing one.
Outcome estimate(MasterOptions options, const Log& log) {
  const PassingFolder folder;
  options.run = folder.path().string();
  options.output = (folder.path() / "model").string();
  return train(options, log);
}

Outcome dry_run(const MasterOptions& options, const Log& log) {
  for (const auto* operands : {&options.data, &options.eval_data})
    for (const std::string& operand : *operands)
      if (!io::names_file(operand))
        throw Error{Code::kUsage, "--dry-run looks at shards, not at a stream"};
  const Plan plan = make_plan(options, "", log);
  limits_of(options);
  return {plan.to_text(), plan.to_json()};
}

// Writes an earlier model of a run, or lists those that there are.
Outcome replay_run(const MasterOptions& options, const Log& log) {
  if (options.list) {
    Outcome outcome{"", Json::array()};
    for (const auto& [first, last] : replayable_steps(options.replay, log)) {
      outcome.text +=
          std::to_string(first) + "\t" + std::to_string(last) + "\n";
      outcome.json.push_back({{"first", first}, {"last", last}});
    }
    return outcome;
  }
  if (options.output.empty() || options.output == "-")
    throw Error{Code::kUsage, "want --output MODEL, a file for the model"};
  if (options.step < -1)
    throw Error{Code::kUsage, "--step: want the number of an update"};
  const std::uint64_t wanted =
      options.step < 0 ? kLastUpdate : static_cast<std::uint64_t>(options.step);
  const std::uint64_t step =
      replay_model(options.replay, wanted, options.output, log);
  log(Level::kInfo, "the model after update " + std::to_string(step) +
                        " is in '" + options.output + "'");
  return {"", {{"step", step}, {"model", options.output}}};
}

}  // namespace

Outcome run_master(const MasterOptions& options, const Log& log) {
  if (!options.bind.empty()) check_bind(options.bind);
  if (options.dry_run) return dry_run(options, log);
  if (options.estimate) {
    limits_of(options);
    return estimate(options, log);
  }
  if (!options.replay.empty()) return replay_run(options, log);
  if (options.list || options.step >= 0)
    throw Error{Code::kUsage, "--list and --step go with --replay RUN"};
  if (options.output.empty() || options.output == "-")
    throw Error{Code::kUsage, "want --output MODEL, a file for the model"};
  if (options.net.empty() && options.init.empty())
    throw Error{Code::kUsage, "want --net NETWORK.json, or --init MODEL"};
  if (options.data.empty())
    throw Error{Code::kUsage, "want --data SHARD..., the training data"};
  limits_of(options);
  io::refuse_overwriting(options.output, {options.net});
  for (const auto* operands : {&options.data, &options.eval_data})
    io::refuse_overwriting(options.output, io::expand_operands(*operands));
  const auto folder = std::filesystem::path(options.output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw Error{Code::kCantCreate, "cannot create '" + options.output +
                                       "': there is no folder '" +
                                       folder.string() + "'"};
  return train(options, log);
}

}  // namespace dl::cluster
