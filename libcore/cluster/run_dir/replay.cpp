// Replay of an update log from a checkpoint.

#include "libcore/cluster/run_dir/replay.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/health/step_bound.h"
#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/run_dir/rollback.h"
#include "libcore/cluster/run_dir/run_directory.h"
#include "libcore/cluster/run_dir/run_json.h"
#include "libcore/cluster/run_dir/update_step.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/exchange/rules/fasgd.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"
#include "libcore/nn/update/warmup.h"

namespace dl::cluster {

namespace {

// Older versions of dl-tools accepted such.
[[noreturn]] void fail_overflow(const LogEntry& entry, const char* kind) {
  const std::string number = std::to_string(entry.sequence);
  bad_data(std::string(kind) + " " + number +
           " makes the parameters overflow; remove this log to go on from the "
           "checkpoint before it, or see --replay for the model of step " +
           std::to_string(entry.sequence - 1));
}

// reach: an upper bound of |parameter|.
void replay_update(const LogEntry& entry, RunState& state, double& reach) {
  if (entry.epoch != state.epoch)
    bad_data("update " + std::to_string(entry.sequence) + " is of epoch " +
             std::to_string(entry.epoch + 1) + ", the run is at epoch " +
             std::to_string(state.epoch + 1));
  if (!add_range(state.committed, entry.first, entry.count))
    bad_data("update " + std::to_string(entry.sequence) +
             " is for mini-batches that are committed already");
  double size = 0;
  if (!entry.payload.empty()) {
    const auto info = exchange::inspect_threshold(entry.payload);
    if (info.elements != state.parameters.size())
      bad_data("update " + std::to_string(entry.sequence) + " is for " +
               std::to_string(info.elements) + " elements, not " +
               std::to_string(state.parameters.size()));
    reach += exchange::kFasgdGrowth *
             std::fabs(static_cast<double>(entry.scale)) * info.largest;
    size = info.mass.size;
  }
  apply_update(entry, size, state);
  if (!(reach <= StepBound::kRoom)) {
    reach = static_cast<double>(largest_magnitude(state.parameters));
    if (!std::isfinite(reach)) fail_overflow(entry, "update");
  }
}

void end_epoch(const LogEntry& entry, RunState& state) {
  if (entry.epoch < state.epoch) return;  // the checkpoint is from after it
  RunState next = state;
  restore_epoch_record(entry.payload, next);
  if (entry.epoch != state.epoch || next.epoch != entry.epoch + 1 ||
      next.version != state.version)
    bad_data("the end of epoch " + std::to_string(entry.epoch + 1) +
             " does not fit what was trained");
  state = std::move(next);
}

void apply(const LogEntry& entry, RunState& state, double& reach) {
  if (entry.kind == EntryKind::kUpdate && entry.sequence > state.version)
    replay_update(entry, state, reach);
  if (entry.kind == EntryKind::kRound && entry.sequence > state.version)
    apply_round(entry, state);
  if (entry.kind == EntryKind::kSetback && entry.sequence > state.version) {
    apply_setback(entry, state);
    reach = static_cast<double>(largest_magnitude(state.parameters));
  }
  if (entry.kind == EntryKind::kEpochEnd && entry.sequence >= state.version)
    end_epoch(entry, state);
}

std::string configuration_text(const std::string& folder) {
  const auto source = io::open_file(folder + "/run.json");
  return io::read_all(*source, kMaxRunJson);
}

// Throws Error: kNoInput, there is none.
std::vector<Saved> saved_in(const std::string& folder, const Log& log) {
  std::vector<Saved> result = saved_checkpoints(folder, log);
  if (result.empty()) {
    const auto logs = update_logs(folder);
    const bool whole = !logs.empty() && logs.front().base == 0;
    throw Error{Code::kNoInput,
                "'" + displayed(folder) +
                    "' has no checkpoint that can be read" +
                    (whole ? ", but a log of updates from the start on; the "
                             "command of the run goes on from it"
                           : "")};
  }
  return result;
}

// A master at work removes what a reader has listed.
bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// One replay: what each file of the log adds to the state.
struct ReplayOfFiles {
  const LogIdentity& identity;
  RunState& state;
  std::uint64_t until;
  const Log& log;
  const std::function<void(const RunState&)>& at_epoch_end;
  double reach = static_cast<double>(largest_magnitude(state.parameters));
  std::uint64_t seen = 0;  // the last update that a log says something about

  // Returns where the file is damaged, as an error: what is before that was
  // applied.  "": it is not.
  // Throws Error: kData, it is of another run, or sound and makes no sense.
  std::string file(const LogFile& file);
  void gap();
  void lost(const std::string& damage);
  void miss(std::uint64_t before) const;

 private:
  void apply_entry(const LogEntry& entry, const LogFile& file,
                   std::uint64_t offset);
  void warn(const std::string& what) const { log(Level::kWarning, what); }
};

void ReplayOfFiles::apply_entry(const LogEntry& entry, const LogFile& file,
                                std::uint64_t offset) {
  const std::int64_t epoch = state.epoch;
  try {
    apply(entry, state, reach);
  } catch (const Error& error) {
    if (error.code() == Code::kIo) throw;
    bad_data("'" + displayed(file.path) + "': offset " +
             std::to_string(offset) + ": " + error.what());
  }
  if (state.epoch > epoch && at_epoch_end) at_epoch_end(state);
}

std::string ReplayOfFiles::file(const LogFile& file) {
  seen = std::max(seen, file.base);
  if (is_cut_short(file)) {
    warn("'" + displayed(file.path) +
         "' is cut short: there is no update in it");
    return "";
  }
  std::optional<LogInMemory> memory;
  try {
    memory.emplace(file);
  } catch (const Error& error) {
    if (error.code() != Code::kData) throw;
    return error.what();
  }
  UpdateLogReader& reader = memory->reader();
  if (reader.header().identity != identity)
    bad_data("'" + displayed(file.path) + "' is the log of another run");
  for (;;) {
    const std::uint64_t offset = reader.offset();
    std::optional<LogEntry> entry;
    try {
      entry = reader.next();
    } catch (const Error& error) {
      return error.what();
    }
    seen = std::max(seen, reader.sequence());
    if (!entry || entry->sequence > until) break;
    apply_entry(*entry, file, offset);
  }
  if (reader.torn())
    warn("'" + displayed(file.path) + "': offset " +
         std::to_string(reader.offset()) +
         ": the last entry is cut short and passed over");
  return "";
}

void ReplayOfFiles::gap() {
  if (state.version < until)
    warn("the update log has a gap after update " +
         std::to_string(state.version));
  seen = std::max(seen, state.version);
}

void ReplayOfFiles::lost(const std::string& damage) {
  if (state.version < until)
    warn(damage + "; the run goes on from update " +
         std::to_string(state.version) + ", what came after it is lost");
  seen = std::max(seen, state.version);
}

// before: the update of the checkpoint.
void ReplayOfFiles::miss(std::uint64_t before) const {
  if (seen < before && before < until)
    warn("the update log after the checkpoint, update " +
         std::to_string(before) +
         ", is missing; the run goes on from there, and what came after it is "
         "lost");
}

std::string text_of(const Steps& steps) {
  std::string text;
  for (const auto& [first, last] : steps) {
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last != first) text += " to " + std::to_string(last);
  }
  return text;
}

}  // namespace

std::vector<Saved> saved_checkpoints(const std::string& folder,
                                     const Log& log) {
  std::vector<Saved> result;
  for (const std::string& path : checkpoint_files(folder)) {
    try {
      const nn::Model model = nn::open_model(path);
      check_run(model, path);
      const JsonView training(model.training, Code::kData, "training");
      result.push_back({path,
                        static_cast<std::uint64_t>(
                            training.at("version").integer(0, INT64_MAX)),
                        model.weights().size()});
    } catch (const Error& error) {
      if (is_there(path))
        log(Level::kWarning, std::string(error.what()) + "; passed over");
    }
  }
  return result;
}

RunState state_of(nn::Model& model, const std::string& name) {
  RunState state;
  try {
    state.restore(JsonView(model.training, Code::kData, "training"));
  } catch (Error& error) {
    error.add_context("'" + displayed(name) + "'");
    throw;
  }
  state.constrain = nn::Constrainer(model.config);
  state.updater = std::make_shared<nn::HostUpdater>(
      nn::with_warmup(model.config, state.lr_warmup));
  state.parameters = std::move(model.parameters);
  state.statistics = std::move(model.statistics);
  state.updater_state = std::move(model.updater_state);
  state.velocity = std::move(model.training_vectors["velocity"]);
  state.residual = std::move(model.training_vectors["residual"]);
  if (const auto& kept = model.training_vectors["fasgd"]; !kept.empty())
    state.fasgd.emplace(state.parameters.size()).restore(kept);
  return state;
}

std::uint64_t replay(const std::string& folder, const LogIdentity& identity,
                     RunState& state, std::uint64_t until, const Log& log,
                     const std::function<void(const RunState&)>& at_epoch_end) {
  const std::uint64_t before = state.version;
  const auto files = update_logs(folder);
  ReplayOfFiles replay{identity, state, until, log, at_epoch_end};
  for (std::size_t i = 0; i < files.size() && state.version <= until; ++i) {
    // All of it is in the checkpoint, except perhaps the end of an epoch.
    if (i + 1 < files.size() && files[i + 1].base < state.version) continue;
    if (files[i].base > state.version) {
      replay.gap();
      break;
    }
    const std::string damage = replay.file(files[i]);
    if (damage.empty()) continue;
    // Whether it can have what follows: the next one does not begin there.
    if (i + 1 == files.size() || files[i + 1].base > state.version) {
      replay.lost(damage);
      break;
    }
    log(Level::kWarning, damage + "; the checkpoint has what was in it");
  }
  replay.miss(before);
  return state.version - before;
}

LogIdentity log_identity(const std::string& folder, std::size_t parameters) {
  const std::string text = configuration_text(folder);
  const Json json = parse_json(text, "'" + folder + "/run.json'", Code::kData);
  std::uint64_t digest = io::digest(std::as_bytes(std::span(text)));
  if (json.contains("log")) {
    const auto kept =
        io::parse_hex(JsonView(json, Code::kData).at("log").string());
    if (!kept)
      bad_data("'" + folder + "/run.json': log: want 16 hexadecimal digits");
    digest = *kept;
  }
  return {parameters, digest};
}

void check_run(const nn::Model& checkpoint, const std::string& path) {
  const JsonView training(checkpoint.training, Code::kData, "training");
  if (!training.has("log")) return;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const LogIdentity own = log_identity(folder, 0);
  if (training.at("log").string() != io::hex(own.directory))
    bad_data("'" + displayed(path) + "' is the checkpoint of another run");
}

Steps replayable_steps(const std::string& folder, const Log& log) {
  const std::vector<Saved> checkpoints = saved_in(folder, log);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> logs;
  for (const LogFile& file : update_logs(folder)) {
    if (is_cut_short(file)) continue;
    std::optional<LogInMemory> memory;
    try {
      memory.emplace(file);
      while (memory->reader().next()) {
      }
    } catch (const Error& error) {
      if (!is_there(file.path)) continue;
      if (error.code() != Code::kData) throw;
      log(Level::kWarning, error.what());
    }
    if (memory) logs.emplace_back(file.base, memory->reader().sequence());
  }
  Steps steps;
  for (const Saved& saved : checkpoints) {
    std::uint64_t reached = saved.version;
    for (const auto& [base, last] : logs)
      if (base <= reached) reached = std::max(reached, last);
    if (!steps.empty() && saved.version <= steps.back().second + 1)
      steps.back().second = std::max(steps.back().second, reached);
    else
      steps.emplace_back(saved.version, reached);
  }
  return steps;
}

namespace {

// The model after an update that the folder could give; nothing: not any more.
std::optional<nn::Model> rebuilt(const std::string& folder,
                                 std::uint64_t step) {
  std::optional<Saved> from;
  for (const Saved& saved : saved_in(folder, silent()))
    if (saved.version <= step) from = saved;
  if (!from) return std::nullopt;
  nn::Model model = nn::load_model(from->path);
  RunState state = state_of(model, from->path);
  if (state.version < step)
    replay(folder, log_identity(folder, from->parameters), state, step,
           silent());
  if (state.version != step) return std::nullopt;
  // The first checkpoint is from before there were workers.
  if (!model.provenance.empty())
    model.provenance.back().instructions = instructions_in(
        parse_json(configuration_text(folder), "run.json", Code::kData));
  model.parameters = std::move(state.parameters);
  model.statistics = std::move(state.statistics);
  model.updater_state.clear();
  model.training = Json();
  model.training_vectors.clear();
  return model;
}

}  // namespace

// Beside a master at work a step may be gone before it is rebuilt.
std::uint64_t replay_model(const std::string& folder, std::uint64_t wanted,
                           const std::string& output, const Log& log) {
  constexpr int kTries = 20;
  for (int tries = 1;; ++tries) {
    const Steps steps = replayable_steps(folder, log);
    const std::uint64_t step =
        wanted == kLastUpdate ? steps.back().second : wanted;
    if (std::ranges::none_of(steps, [&](const auto& range) {
          return range.first <= step && step <= range.second;
        }))
      throw Error{Code::kNoInput,
                  "'" + displayed(folder) + "' cannot give step " +
                      std::to_string(step) + "; it can give " + text_of(steps)};
    failpoint("replay.after_list");
    try {
      if (const auto model = rebuilt(folder, step)) {
        nn::save_model(*model, output);
        return step;
      }
    } catch (const Error& error) {
      const bool gone =
          error.code() == Code::kNoInput || error.code() == Code::kIo;
      if (!gone || tries == kTries) throw;
    }
    if (tries == kTries)
      throw Error{Code::kTryAgain,
                  "the run in '" + displayed(folder) +
                      "' goes on faster than its steps are rebuilt; run this "
                      "again, or once it has ended"};
  }
}

}  // namespace dl::cluster
