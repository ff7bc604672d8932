// The choice of a run's normalizers.

#include "libcore/cluster/run_config/choose_normalizers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/run_dir/run_directory.h"
#include "libcore/cluster/run_dir/run_files.h"
#include "libcore/data/statistics/outliers.h"
#include "libcore/nn/data/fit_decorrelation.h"
#include "libcore/nn/data/targets.h"

namespace dl::cluster {
namespace {

// run.json of a run that goes on, or null: one that has learnt nothing yet
// begins anew.
Json begun(const MasterOptions& options, const std::string& folder) {
  if (options.fresh || !has_learnt(folder)) return {};
  return read_configuration(folder);
}

}  // namespace

void read_all(MasterData& data, const MasterOptions& options,
              const std::string& what, const Log& log,
              const CheckRecord& take) {
  std::int64_t bad = 0;
  for (std::uint32_t shard = 0; shard < data.shards().size(); ++shard) try {
      for (std::uint32_t record = 0;
           record < data.shards()[shard].records.size(); ++record)
        data.examine(shard, record, take);
    } catch (const Error& error) {
      if (error.code() != Code::kData || ++bad > options.skip_bad_shards) throw;
      log(Level::kWarning,
          std::string(error.what()) + "; " + what + " goes without its shard");
    }
}

void read_some(MasterData& data, std::int64_t examples,
               const CheckRecord& take) {
  const auto stride = static_cast<double>(data.examples()) /
                      static_cast<double>(std::max<std::int64_t>(1, examples));
  double seen = 0, next = 0;  // examples
  for (std::uint32_t shard = 0; shard < data.shards().size(); ++shard) {
    const std::vector<std::int64_t>& records = data.shards()[shard].records;
    for (std::uint32_t record = 0; record < records.size(); ++record) {
      const auto size = static_cast<double>(records[record]);
      if (seen >= next) {
        next += size * std::max(1.0, stride);
        try {
          data.examine(shard, record, take);
        } catch (const Error& error) {
          if (error.code() != Code::kData) throw;
        }
      }
      seen += size;
    }
  }
}

namespace {

// pca and whiten, for which all data are read.
std::vector<data::Normalizer> fit_decorrelation(
    const data::Decorrelation& wanted, const MasterOptions& options,
    const nn::Model& model, MasterData& data, const Log& log) {
  log(Level::kInfo,
      "reading the training data once, for how their columns "
      "vary together");
  return nn::fit_decorrelation(
      wanted, model.config, data.metadata(),
      [&](const auto& take) {
        read_all(data, options, "--normalize", log, take);
      },
      log);
}

std::vector<data::Normalizer> fit_inputs(const MasterOptions& options,
                                         const nn::Model& model,
                                         MasterData& data, const Log& log) {
  if (const auto wanted = data::Decorrelation::of(options.normalize))
    return fit_decorrelation(*wanted, options, model, data, log);
  return nn::fit_inputs(options.normalize, model.config, data.metadata());
}

// Keeps the normalization of a resumed run as it was when the run began, if it
// cannot be read off the statistics again: "auto" under whichever version, pca
// and whiten on whichever processor.
bool is_as_begun(const std::string& kind, const JsonView& run) {
  if (run.raw().is_null()) return false;
  if (kind == "auto") return true;
  const auto wanted = data::Decorrelation::of(kind);
  if (!wanted) return false;
  const auto before = data::normalizers_from_json(run.at("normalizer"));
  return std::ranges::all_of(before, [&](const data::Normalizer& n) {
    return wanted->components
               ? n.kind == "pca" && n.outputs() == *wanted->components
               : n.kind == "whiten";
  });
}

std::string column_of(const std::vector<std::string>& names, std::size_t c) {
  return ", column " +
         (c < names.size() ? in_quotes(names[c]) : std::to_string(c + 1));
}

// One or two absurd values make all others alike, where they decide the scale.
// names: of the columns, or empty.
void warn_of_outliers(const std::optional<data::Statistics>& statistics,
                      const std::string& name,
                      const std::vector<std::string>& names, const char* option,
                      const Log& log) {
  if (!statistics) return;
  const auto columns = data::columns_of_outliers(*statistics);
  if (columns.empty()) return;
  const std::size_t c = columns.front();
  log(Level::kWarning,
      name + column_of(names, c) +
          (columns.size() > 1
               ? " and " + std::to_string(columns.size() - 1) + " more"
               : "") +
          ": one or two values, from " + format("%.3g", statistics->min[c]) +
          " to " + format("%.3g", statistics->max[c]) +
          ", decide how the others are scaled; look at the data, or take "
          "another " +
          option);
}

// Binary64 has numbers that the floats of training have not.
// Throws Error: kConfig.
void check_range(const std::optional<data::Statistics>& statistics,
                 const std::string& name, const std::vector<std::string>& names,
                 const Log& log) {
  if (!statistics) return;
  constexpr double kLargest = std::numeric_limits<float>::max(),
                   kSmallest = std::numeric_limits<float>::min();
  bool told = false;  // of one, as all may be alike
  for (std::size_t c = 0; c < statistics->max.size(); ++c) {
    const double low = statistics->min[c], high = statistics->max[c];
    const double size = std::max(std::abs(low), std::abs(high));
    if (size > kLargest)
      bad_config(name + column_of(names, c) + " has numbers up to " +
                 format("%.3g", size) + ", and training computes with up to " +
                 format("%.3g", kLargest) + ": scale them before");
    if (low < high && size < kSmallest && !std::exchange(told, true))
      log(Level::kWarning,
          name + column_of(names, c) + " has numbers up to " +
              format("%.3g", size) + ", which training, that computes with " +
              format("%.3g", kSmallest) + " and more, cannot tell apart");
  }
}

bool standardizes(const std::vector<data::Normalizer>& normalizers) {
  return std::ranges::any_of(normalizers, [](const data::Normalizer& n) {
    return n.kind == "standardize" || n.kind == "minmax";
  });
}

}  // namespace

void choose_normalizers(nn::Model& model, Kept kept,
                        const MasterOptions& options, MasterData& data,
                        const std::string& folder, const Log& log) {
  const data::Metadata& metadata = data.metadata();
  const Json run = begun(options, folder);
  const JsonView view(run, Code::kData, "run.json");
  check_range(metadata.statistics, "features", metadata.columns, log);
  check_range(metadata.label_statistics, "labels", metadata.targets, log);
  auto& [inputs, outputs] = model.normalizers;
  if (!kept.inputs)
    inputs = is_as_begun(options.normalize, view)
                 ? data::normalizers_from_json(view.at("normalizer"))
                 : fit_inputs(options, model, data, log);
  if (run.is_null() && standardizes(inputs))
    warn_of_outliers(metadata.statistics, "features", metadata.columns,
                     "--normalize", log);
  if (kept.outputs) return;
  outputs.assign(model.config.outputs.size(), {});
  if (options.normalize_targets == "auto" && !run.is_null()) {
    if (view.has("target_normalizer"))
      outputs = data::normalizers_from_json(view.at("target_normalizer"));
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string note;
    outputs[i] = nn::fit_targets(options.normalize_targets, model.config,
                                 metadata, note, i);
    if (!note.empty()) log(Level::kInfo, note);
  }
  if (run.is_null() && standardizes(outputs))
    warn_of_outliers(metadata.label_statistics, "labels", metadata.targets,
                     "--normalize-targets", log);
}

}  // namespace dl::cluster
