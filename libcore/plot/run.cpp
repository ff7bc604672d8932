// A run's files.

#include "libcore/plot/run.h"

#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/io/source.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostConfiguration = std::size_t{64} << 20;
constexpr std::size_t kMostSettings = 20000;

std::string events_of(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  const std::string events = (fs::path(path) / "events.jsonl").string();
  if (!fs::exists(events, ignored))
    throw Error{Code::kNoInput, in_quotes(path) +
                                    " has no events.jsonl: want a run "
                                    "directory of dl-master"};
  return events;
}

void flatten(const Json& value, const std::string& path,
             std::vector<std::pair<std::string, std::string>>& rows) {
  if (rows.size() >= kMostSettings) return;
  const bool nested =
      value.is_object() ||
      (value.is_array() && !value.empty() && value[0].is_object());
  if (!nested) {
    rows.emplace_back(
        path, value.is_string() ? value.get<std::string>() : dump_json(value));
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    std::string name = key;
    if (value.is_array()) {  // of layers: by name
      const std::string own = text(inner, "name");
      if (!own.empty()) name = own;
    }
    flatten(inner, path.empty() ? name : path + "." + name, rows);
  }
}

}  // namespace

Run::Run(const std::string& path)
    : contents_(std::make_shared<Contents>(
          Contents{run_name(path), HistoryReader(events_of(path)), {}})) {
  read();
  if (history().damaged > 0 && !history().has_events())
    throw Error{Code::kData,
                in_quotes(events_of(path)) + " has no event of dl-master"};
}

std::string Run::folder() const {
  const fs::path folder = fs::path(contents_->reader.path()).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool Run::read() {
  const bool any = contents_->reader.read();
  if (!contents_->configuration.is_null()) return any;
  const auto file =
      fs::path(contents_->reader.path()).parent_path() / "run.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return any;
  const auto source = io::open_file(file.string());
  contents_->configuration =
      parse_json(io::read_all(*source, kMostConfiguration),
                 in_quotes(file.string()), Code::kData);
  return true;
}

std::string run_name(const std::string& path) {
  fs::path folder = fs::path(path).lexically_normal();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) folder = folder.parent_path();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.empty() || folder == "." || folder == "..")
    folder = fs::weakly_canonical(folder.empty() ? "." : folder, ignored);
  std::string name = folder.filename().string();
  for (const std::string ending : {".run", ".safetensors"})
    if (name.size() > ending.size() && name.ends_with(ending))
      name.resize(name.size() - ending.size());
  // It becomes a folder's name: never one above.
  const bool is_dots = name.find_first_not_of('.') == std::string::npos;
  return is_dots ? folder.filename().string() : name;
}

bool is_run(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored)
             ? fs::exists(fs::path(path) / "events.jsonl", ignored)
             : path.ends_with(".jsonl");
}

std::vector<std::pair<std::string, std::string>> Run::settings() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const char* key : {"settings", "normalizer", "network"})
    if (const Json value = part(contents_->configuration, key);
        !value.is_null())
      flatten(value, std::string(key) == "settings" ? "" : key, rows);
  return rows;
}

}  // namespace dl::plot
