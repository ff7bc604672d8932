// Names and protection of the files of a run.

#include "libcore/cluster/run_dir/run_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cluster/run_dir/numbered_name.h"
#include "libcore/cluster/run_dir/run_json.h"
#include "libcore/cluster/run_dir/run_lock.h"
#include "libcore/cluster/run_dir/update_log_format.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

namespace fs = std::filesystem;

constexpr NumberedName kCheckpoint{"checkpoint-", ".safetensors", 6};

// Whether the file is one of the run's that are in the folder now.
bool is_file_of_run(const std::string& file, const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((is_of_run(name) || name == kLockName) &&
        fs::equivalent(entry.path(), file, ignored))
      return true;
  }
  return false;
}

// They may not be there yet.
bool is_same_place(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  const auto place = [&](const fs::path& path) {
    return (fs::weakly_canonical(fs::absolute(path), ignored) / "")
        .lexically_normal();
  };
  return place(a) == place(b);
}

// Whether the run would write a file of this name.
bool has_name_of_run(const fs::path& file, const std::string& folder) {
  const std::string name = file.filename().string();
  if (!is_of_run(name) && name != kLockName) return false;
  const fs::path parent = file.has_parent_path() ? file.parent_path() : ".";
  return is_same_place(parent, folder);
}

bool is_list_of_objects(const Json& list) {
  return list.is_array() && std::ranges::all_of(list, [](const Json& item) {
           return item.is_object();
         });
}

}  // namespace

std::int64_t checkpoint_number(const std::string& name) {
  return kCheckpoint.parse(name).value_or(-1);
}

std::string checkpoint_name(std::int64_t number) {
  return kCheckpoint.of(number);
}

bool is_of_run(const std::string& name) {
  static constexpr NumberedName kNumbered[] = {kCheckpoint,
                                               kUpdateLogName,
                                               {"data-train-", ".dls"},
                                               {"data-eval-", ".dls"}};
  return name == "run.json" || name == "events.jsonl" ||
         name == "best.safetensors" ||
         std::ranges::any_of(kNumbered, [&](const NumberedName& numbered) {
           return numbered.parse(name).has_value();
         });
}

namespace {

Json parse_configuration(const std::string& name) {
  const auto source = io::open_file(name);
  Json json = parse_json(io::read_all(*source, kMaxRunJson),
                         "'" + displayed(name) + "'", Code::kData);
  const JsonView view(json, Code::kData, "'" + displayed(name) + "'");
  if (!json.is_object()) view.fail("an object");
  for (const char* key : {"settings", "network", "data"})
    if (json.contains(key) && !json[key].is_object())
      view.at(key).fail("an object");
  for (const char* key : {"training", "evaluation"}) {
    const Json::json_pointer where(std::string("/data/") + key);
    if (json.contains(where) && !is_list_of_objects(json[where]))
      view.at("data").at(key).fail("a list of shards");
  }
  return json;
}

}  // namespace

Json read_configuration(const std::string& folder) {
  const std::string name = folder + "/run.json";
  if (!fs::exists(name)) return {};
  try {
    if (fs::is_other(name)) bad_data("'" + displayed(name) + "' is no file");
    return parse_configuration(name);
  } catch (const Error& error) {
    if (error.code() != Code::kData) throw;
    throw Error{
        Code::kData,
        error.what() + std::string("; put back a copy of it, or --fresh "
                                   "starts over")};
  }
}

bool holds_run(const std::string& folder) {
  const Json json = read_configuration(folder);
  return json.is_object() && json.contains("settings") &&
         json.contains("network");
}

namespace {

// Called like what a master has while it runs, and none of it.
bool is_foreign(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (name == "socket") return !entry.is_socket();
  return name == kLockName && !may_be_lock(entry);
}

}  // namespace

void refuse_other_folder(const std::string& folder) {
  if (!fs::is_directory(folder) || holds_run(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!is_of_run(name) && !is_foreign(entry)) continue;
    const char* lost =
        name == "run.json"
            ? ""
            : "if run.json was lost, put back a copy of it; else ";
    throw Error{Code::kCantCreate,
                "'" + displayed(folder) + "' holds no run, but a file '" +
                    displayed(name) + "', which a run would replace; " + lost +
                    "move it away, or give another --run"};
  }
}

void refuse_overwriting_run(const std::string& output,
                            const std::string& folder) {
  if (output == "-") return;
  if (is_same_place(output, folder))
    throw Error{Code::kUsage, "'" + displayed(output) +
                                  "' is the output and also the folder of the "
                                  "run; give one of them another name"};
  if (has_name_of_run(output, folder) || is_file_of_run(output, folder))
    throw Error{Code::kUsage, "'" + displayed(output) +
                                  "' is the output and also a file of the run "
                                  "in '" +
                                  displayed(folder) +
                                  "'; give it another name"};
}

void refuse_removing(const std::vector<std::string>& inputs,
                     const std::string& folder, const std::string& what) {
  for (const std::string& input : inputs)
    if (io::names_file(input) && is_file_of_run(input, folder))
      throw Error{Code::kUsage,
                  what + " the input '" + displayed(input) +
                      "', a file of the run in '" + displayed(folder) +
                      "'; copy it to another place, or give another --run"};
}

}  // namespace dl::cluster
