#include "libcore/cluster/master/master.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/web_address.h"
#include "libcore/cluster/master/epoch/pretraining.h"
#include "libcore/cluster/master/master_run.h"
#include "libcore/cluster/run_config/choose_mode.h"
#include "libcore/cluster/run_config/draw_augmented.h"
#include "libcore/cluster/run_config/host_list.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/cluster/run_dir/run_files.h"
#include "libcore/cluster/transport/master_address.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/io/temporary_folder.h"

namespace dl::cluster {

namespace {

// A model that cannot be written is known before hours of training.
void check_output(const std::string& output, const std::string& run) {
  namespace fs = std::filesystem;
  refuse_overwriting_run(output, run);
  const auto fail = [&](const std::string& why) {
    throw Error{Code::kCantCreate,
                "cannot create '" + displayed(output) + "': " + why};
  };
  std::error_code ignored;
  if (fs::path(run).filename().native().size() > NAME_MAX)
    fail("'" + displayed(run) +
         "' is too long a name for its run directory; --run DIR " +
         "gives another");
  if (fs::is_directory(output, ignored)) fail("it is a folder");
  if (fs::is_fifo(output, ignored))
    fail("it is a FIFO, for whose reader the run would wait at its end");
  if (fs::is_character_file(output, ignored) && run == output + ".run")
    fail(
        "it is a device, and no place for a run; --run DIR is where it is "
        "kept");
  const fs::path folder = fs::path(output).parent_path();
  // The master makes the run directory.
  const bool in_run = (folder / "").lexically_normal() ==
                      (fs::path(run) / "").lexically_normal();
  if (!folder.empty() && !in_run && !fs::is_directory(folder, ignored))
    fail("there is no folder '" + displayed(folder.string()) + "'");
  // Made, and removed again.
  if (!in_run &&
      (fs::is_regular_file(output, ignored) || !fs::exists(output, ignored)))
    io::open_sink(output);
}

// One of an earlier run is replaced, and what a shell has just made.
void check_master_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) == 0)
    return;
  const MasterAddress::Seen seen = MasterAddress{"", path}.look();
  if (seen.endpoint.empty() && seen.over.empty())
    throw Error{Code::kCantCreate, "'" + displayed(path) +
                                       "' is no file of a master; move it "
                                       "away, or give another --master-file"};
}

// No output replaces an input or a file of the run, and --fresh removes no
// input.
void check_files(const MasterOptions& options) {
  namespace fs = std::filesystem;
  std::vector<std::string> inputs;
  for (const auto* operands : {&options.data, &options.eval_data})
    for (const std::string& input : io::expand_operands(*operands))
      inputs.push_back(input);
  for (const std::string& input : {options.net, options.init})
    if (!input.empty()) inputs.push_back(input);
  if (std::ranges::count(inputs, "-") > 1)
    throw Error{Code::kUsage,
                "standard input is given for more than one input"};
  const std::string run = run_folder(options);
  for (const std::string& output : {options.output, options.master_file}) {
    if (output.empty()) continue;
    io::refuse_overwriting(output, inputs);
    check_output(output, run);
  }
  std::error_code ignored;
  if (!options.master_file.empty() &&
      fs::weakly_canonical(options.master_file, ignored) ==
          fs::weakly_canonical(options.output, ignored))
    throw Error{Code::kUsage, "--master-file and --output are both '" +
                                  displayed(options.output) + "'"};
  if (!options.master_file.empty()) check_master_file(options.master_file);
  if (options.fresh) refuse_removing(inputs, run, "--fresh would remove");
  if (!std::ranges::all_of(inputs, io::names_file))
    refuse_removing(inputs, run, "what is read as a stream may replace");
}

// Nothing is kept, so the run directory is a passing one.
Outcome estimate(MasterOptions options, const Log& log) {
  const io::TemporaryFolder folder;
  options.run = folder.path().string();
  options.output = (folder.path() / "model").string();
  check_files(options);
  return train(options, log);
}

Outcome dry_run(MasterOptions options, const Log& log) {
  for (const auto* operands : {&options.data, &options.eval_data})
    for (const std::string& operand : *operands)
      if (!io::names_file(operand))
        throw Error{Code::kUsage, "--dry-run looks at shards, not at a stream"};
  choose_mode(options, log);
  const RunConfig plan = make_run_config(options, "", log);
  limits_of(options);
  return {plan.to_text(), plan.to_json()};
}

// Draws the first training pictures, and trains nothing.
Outcome preview_augmentation(MasterOptions options, const Log& log) {
  if (options.data.empty())
    throw Error{Code::kUsage, "want --data SHARD..., the training data"};
  for (const std::string& operand : options.data)
    if (!io::names_file(operand))
      throw Error{Code::kUsage,
                  "--preview-augment looks at shards, not at a stream"};
  io::refuse_overwriting(options.preview_augment, options.data);
  io::refuse_overwriting(options.preview_augment, options.eval_data);
  for (const std::string& input : {options.net, options.init})
    if (!input.empty())
      io::refuse_overwriting(options.preview_augment, {input});
  options.dry_run = true;
  options.eval_data.clear();
  choose_mode(options, log);
  const RunConfig plan = make_run_config(options, "", log);
  draw_augmented(plan.model.config, *plan.training, options.preview_augment);
  return {};
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
  check_output(options.output, options.replay);
  const std::uint64_t wanted =
      options.step < 0 ? kLastUpdate : static_cast<std::uint64_t>(options.step);
  const std::uint64_t step =
      replay_model(options.replay, wanted, options.output, log);
  log(Level::kInfo, "the model after update " + std::to_string(step) +
                        " is in '" + displayed(options.output) + "'");
  return {"", {{"step", step}, {"model", options.output}}};
}

}  // namespace

Outcome run_master(const MasterOptions& given, const Log& log) {
  MasterOptions options = given;
  if (!options.hosts.empty()) {
    options.hosts_listed = parse_hosts(options.hosts);
    // The name of the host would be the command.
    if (options.rsh.find_first_not_of(" \t\n") == std::string::npos)
      throw Error{Code::kUsage, "--rsh: want a command, got '" +
                                    displayed(options.rsh) +
                                    "'; without the option it is ssh"};
  }
  if (!options.bind.empty()) check_bind(options.bind);
  if (options.summary < 0)
    throw Error{Code::kUsage, "--summary: want 0 or more, got " +
                                  std::to_string(options.summary)};
  if (!options.plot.empty()) parse_web_address("--plot", options.plot);
  check_network(options.network);
  if (options.dry_run) return dry_run(options, log);
  if (!options.preview_augment.empty())
    return preview_augmentation(options, log);
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
  check_files(options);
  if (options.pretrain > 0) return pretrain_and_train(options, log);
  refuse_pretrained(options);
  return train(options, log);
}

}  // namespace dl::cluster
