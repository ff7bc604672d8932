// The run directory: opening, locking, checkpoints, cleaning up.

#include "libcore/cluster/run_dir/run_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/cluster/run_dir/run_files.h"
#include "libcore/cluster/run_dir/run_json.h"
#include "libcore/cluster/run_dir/update_log.h"
#include "libcore/io/own_file.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;
constexpr const char* kLearnOn =
    ", and either with --init MODEL learns on from a copy of the model";

// No FIFO, which would be waited for, and no link to itself.
bool can_be_read(const fs::directory_entry& entry) {
  std::error_code error;
  const bool other = entry.is_other(error);
  return !other && error != std::errc::too_many_symbolic_link_levels;
}

// Numbers of the checkpoints in the folder, ascending.
std::vector<std::int64_t> checkpoints(const std::string& path) {
  std::vector<std::int64_t> result;
  for (const auto& entry : fs::directory_iterator(path))
    if (const auto number = checkpoint_number(entry.path().filename().string());
        number >= 0 && can_be_read(entry))
      result.push_back(number);
  std::sort(result.begin(), result.end());
  return result;
}

std::string short_text(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

// Difference between two fixed parts in their training data.
std::string difference_of_data(const Json& before, const Json& now) {
  const Json::json_pointer where("/data/training");
  const Json then = before.value(where, Json::array());
  const Json these = now.value(where, Json::array());
  if (then.size() != these.size())
    return "they were " + std::to_string(then.size()) + " shards, now " +
           std::to_string(these.size());
  std::size_t i = 0;
  while (i + 1 < then.size() && then[i] == these[i]) ++i;
  const auto examples = [&](const Json& shards) {
    return dump_json(shards[i].value("examples", Json()));
  };
  const std::string shard =
      "shard " + std::to_string(i + 1) + " of " + std::to_string(then.size());
  if (examples(then) != examples(these))
    return shard + " had " + examples(then) + " examples, now it has " +
           examples(these);
  return shard + " has other records";
}

}  // namespace

std::vector<std::string> checkpoint_files(const std::string& folder) {
  if (!fs::is_directory(folder))
    throw Error{Code::kNoInput,
                "there is no run directory '" + displayed(folder) + "'"};
  std::vector<std::string> result;
  for (const std::int64_t number : checkpoints(folder))
    result.push_back(folder + "/" + checkpoint_name(number));
  return result;
}

bool has_learnt(const std::string& folder) {
  if (!fs::is_directory(folder)) return false;
  try {
    for (const LogFile& log : update_logs(folder)) {
      if (log.base > 0) return true;
      LogInMemory file(log);
      while (const auto entry = file.reader().next())
        if (entry->kind != EntryKind::kStart) return true;
    }
    for (const std::string& path : checkpoint_files(folder)) {
      nn::Model checkpoint = nn::load_model(path);
      const RunState state = state_of(checkpoint, path);
      if (state.version > 0 || state.epoch > 0) return true;
    }
  } catch (const Error&) {  // it is damaged, so there was something
    return true;
  }
  return false;
}

std::string first_difference(const Json& a, const Json& b, std::string* left,
                             std::string* right) {
  if (a == b) return "";
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key)) {
        *left = short_text(value);
        *right = "nothing";
        return key;
      }
      const std::string inner = first_difference(value, b.at(key), left, right);
      if (inner.empty() && value == b.at(key)) continue;
      if (inner.empty()) return key;
      std::string path = key;
      if (inner.front() != '[') path += '.';
      path += inner;
      return path;
    }
    for (const auto& [key, value] : b.items()) {
      if (a.contains(key)) continue;
      *left = "nothing";
      *right = short_text(value);
      return key;
    }
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      const std::string inner = first_difference(a[i], b[i], left, right);
      return "[" + std::to_string(i) + "]" +
             (inner.empty() || inner.front() == '[' ? "" : ".") + inner;
    }
  }
  if (a.is_array() && b.is_array() && a.size() != b.size()) {
    *left = std::to_string(a.size()) + " items";
    *right = std::to_string(b.size());
    return "";
  }
  *left = short_text(a);
  *right = short_text(b);
  return "";
}

RunDirectory::RunDirectory(const std::string& path) : path_(path) {
  io::require_own_folder(path, "the run directory");
  refuse_other_folder(path);
  std::error_code error;
  made_ = fs::create_directory(path, error);
  if (error)
    throw Error{Code::kCantCreate, "cannot create the run directory '" +
                                       displayed(path) +
                                       "': " + error.message()};
  io::require_own_folder(path, "the run directory");  // made meanwhile
  lock_.emplace(path);
  sweep();
}

// A start that was refused leaves nothing.
RunDirectory::~RunDirectory() {
  std::error_code ignored;
  if (made_ && !fs::exists(file("run.json"), ignored)) {
    fs::remove(file(kLockName), ignored);
    fs::remove(path_, ignored);  // unless somebody put something there
  }
}

std::string RunDirectory::file(const std::string& name) const {
  return path_ + "/" + name;
}

// Removes what a killed master left behind.
void RunDirectory::sweep() {
  std::error_code ignored;
  if (fs::is_socket(file("socket"), ignored))
    fs::remove(file("socket"), ignored);
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".") && name.ends_with(".tmp"))
      fs::remove(entry.path(), ignored);
  }
}

void RunDirectory::clear(const std::vector<std::string>& keep) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    const std::string path =
        fs::absolute(entry.path()).lexically_normal().string();
    if (is_of_run(name) && name != "run.json" &&
        std::ranges::find(keep, path) == keep.end())
      files.push_back(entry.path());
  }
  // Last: until then the folder holds a run.
  files.emplace_back(file("run.json"));
  for (const fs::path& path : files) {
    std::error_code error;
    if (!fs::remove(path, error) && error)
      throw Error{Code::kIo, "cannot remove '" + displayed(path.string()) +
                                 "': " + error.message()};
  }
}

Json RunDirectory::configuration() const { return read_configuration(path_); }

void RunDirectory::rewrite(const Json& configuration) const {
  const auto sink = io::open_sink(file("run.json"));
  std::string text = configuration.dump(
      2, ' ', false, nlohmann::json::error_handler_t::replace);
  text += '\n';
  sink->write(std::as_bytes(std::span(text)));
  sink->close();
}

void RunDirectory::settle(const Json& configuration) const {
  const Json before = this->configuration();
  if (before.is_null()) return rewrite(configuration);
  const Json then = fixed_part(before), now = fixed_part(configuration);
  if (then == now) return;
  std::string left, right;
  // Another mode has other settings as well.
  const auto mode_of = [](const Json& all) {
    const Json::json_pointer mode("/settings/mode");
    return Json{{"settings", {{"mode", all.value(mode, Json())}}}};
  };
  std::string where =
      first_difference(mode_of(then), mode_of(now), &left, &right);
  if (where.empty()) where = first_difference(then, now, &left, &right);
  if (where.starts_with("data."))
    throw Error{Code::kConfig,
                "the training data are others than those of the run in '" +
                    displayed(path_) + "': " + difference_of_data(then, now) +
                    "; --fresh starts over, --run takes another folder" +
                    kLearnOn};
  if (where == "init")
    throw Error{Code::kConfig,
                "'" + displayed(path_) +
                    "' holds a run that began with another --init than now; "
                    "--fresh starts over, --run takes another folder"};
  throw Error{Code::kConfig,
              "'" + displayed(path_) + "' holds a run with " + where + " = " +
                  left + ", now it is " + right +
                  "; --fresh starts over, --run takes another "
                  "folder" +
                  (where.starts_with("network.") ? kLearnOn : "")};
}

std::optional<RunDirectory::Checkpoint> RunDirectory::newest(
    const Log& log) const {
  auto numbers = checkpoints(path_);
  for (auto it = numbers.rbegin(); it != numbers.rend(); ++it) {
    const std::string name = checkpoint_name(*it);
    try {
      Checkpoint found{name, nn::load_model(file(name))};
      check_run(found.model, file(name));
      return found;
    } catch (const Error& error) {
      log(Level::kWarning, std::string(error.what()) +
                               "; going back to what was saved before it");
    }
  }
  const auto logs = update_logs(path_);
  const bool logged_whole = !logs.empty() && logs.front().base == 0;
  if (!numbers.empty() && !logged_whole)
    throw Error{Code::kData, "'" + displayed(path_) +
                                 "' has no checkpoint that can be read; "
                                 "--fresh starts over"};
  return std::nullopt;
}

std::string RunDirectory::save(const nn::Model& model, bool keep_first,
                               const std::string& kept) {
  failpoint("master.before_checkpoint");
  auto numbers = checkpoints(path_);
  std::string name = checkpoint_name(numbers.empty() ? 1 : numbers.back() + 1);
  nn::save_model(model, file(name));
  failpoint("master.after_checkpoint");
  if (keep_first && !numbers.empty()) numbers.erase(numbers.begin());
  while (numbers.size() >= kKept) {
    const std::string oldest = checkpoint_name(numbers.front());
    std::error_code ignored;
    if (oldest != kept) fs::remove(file(oldest), ignored);
    numbers.erase(numbers.begin());
  }
  return name;
}

void RunDirectory::keep_only(const std::vector<std::string>& names) const {
  for (const auto number : checkpoints(path_)) {
    const std::string name = checkpoint_name(number);
    std::error_code ignored;
    if (std::ranges::find(names, name) == names.end())
      fs::remove(file(name), ignored);
  }
}

}  // namespace dl::cluster
