#include "libcore/vectorize/analysis/saved_analysis.h"

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kAnalysisVersion = 1;
constexpr std::size_t kMostAnalysisBytes = std::size_t{1} << 30;
constexpr std::size_t kMostAnalysisValues = std::size_t{1} << 26;

}  // namespace

bool is_saved_analysis(const std::string& path) {
  return path.ends_with(".json");
}

Json saved_analysis(Json report, const InferredTable& table) {
  report["state"] = table.profile.state();
  report["state"]["version"] = kAnalysisVersion;
  report["state"]["source"] = table.source;
  return report;
}

InferredTable load_analysis(const std::string& path) {
  const auto source = io::open_file(path);
  const Json json =
      parse_json(io::read_all(*source, kMostAnalysisBytes), in_quotes(path),
                 Code::kData, kMostAnalysisValues);
  if (!json.is_object() || !json.contains("state") ||
      !json["state"].is_object() || !json["state"].contains("version"))
    bad_data(in_quotes(path) +
             " is no saved analysis: want the file of dl-preprocess analyze "
             "TABLE -o FILE.json");
  try {
    const JsonView state = JsonView(json, Code::kData).at("state");
    const std::int64_t version =
        state.at("version").integer(1, std::int64_t{1} << 31);
    if (version > kAnalysisVersion)
      bad_data("it is of version " + std::to_string(version) +
               ", and this program reads up to " +
               std::to_string(kAnalysisVersion) +
               ": use a later dl-preprocess");
    return {.source = state.at("source").raw(),
            .sentences = {},
            .profile = TableProfile::of_state(state)};
  } catch (Error& e) {
    e.add_context(in_quotes(path));
    throw;
  }
}

}  // namespace dl::vectorize
