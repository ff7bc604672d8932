// The decision of --mode auto.

#include "libcore/cluster/run_config/choose_mode.h"

#include <algorithm>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/cluster/run_dir/run_json.h"
#include "libcore/cluster/settings/option_values.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

// Settings of the run that is there; null: none, or none that can be read, of
// which RunStore tells more.
Json settings_before(const MasterOptions& options) {
  const std::string path = run_folder(options) + "/run.json";
  if (options.fresh || !std::filesystem::is_regular_file(path)) return {};
  try {
    const auto source = io::open_file(path);
    const std::string text = io::read_all(*source, kMaxRunJson);
    const Json json = parse_json(text, path, Code::kData);
    return json.value("settings", Json());
  } catch (const Error&) {
    return {};
  } catch (const Json::exception&) {
    return {};
  }
}

// Workers of other hosts are not expected, and no GPU is shared out.
bool is_one_host(const MasterOptions& options) {
  return options.local > 0 && options.hosts_listed.empty() &&
         options.min_workers <= options.local &&
         (options.device == "cpu" || options.local == 1);
}

// Its threads split each mini-batch, with the cores of all.
void train_alone(MasterOptions& options) {
  options.mode = kModeNames.of(Mode::kAveraging);
  options.averaging.alone = true;
  if (!is_one_host(options)) return;
  options.merged = options.local;
  constexpr std::int64_t kMostThreads = 4096;
  options.threads = std::min(
      in_range("--threads", options.threads, 0, kMostThreads) * options.local,
      kMostThreads);
  options.local = 1;
  options.min_workers = std::min<std::int64_t>(options.min_workers, 1);
}

}  // namespace

void choose_mode(MasterOptions& options, const Log& log) {
  if (options.mode != "auto") {
    if (!kModeNames.find(options.mode))
      bad_usage("--mode: want auto, " + kModeNames.list() + ", got '" +
                displayed(options.mode) + "'");
    return;
  }
  const Json before = settings_before(options);
  const Json mode = before.is_object() ? before.value("mode", Json()) : Json();
  if (mode.is_string() && kModeNames.find(mode.get<std::string>())) {
    options.mode = mode.get<std::string>();
    const Json::json_pointer alone("/averaging/alone");
    if (before.value(alone, Json()) == Json(true)) return train_alone(options);
    log(Level::kInfo, "auto: the run goes on in its mode, " + options.mode);
  } else if (options.estimate) {  // of every mode
    options.mode = kModeNames.of(Mode::kSharing);
  } else if (is_one_host(options)) {
    train_alone(options);
  } else {
    options.mode = kModeNames.of(Mode::kSharing);
    options.measure = true;
  }
}

}  // namespace dl::cluster
