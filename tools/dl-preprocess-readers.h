// The readers of dl-preprocess, one for each format.

#ifndef DL_TOOLS_DL_PREPROCESS_READERS_H_
#define DL_TOOLS_DL_PREPROCESS_READERS_H_

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/series/ts_file.h"
#include "tools/dl-preprocess-images.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-outputs.h"
#include "tools/dl-preprocess-series.h"
#include "tools/dl-preprocess-table.h"

inline std::unique_ptr<dl::vectorize::Reader> open_reader(
    const Args& a, const std::vector<std::string>& inputs, const Output& output,
    dl::vectorize::Ledger* ledger, dl::vectorize::BadRecords& bad) {
  const std::string& format = a.format;
  if (format == "images" || format == "table" || format == "series")
    return open_by_recipe(a, inputs, output, ledger, bad);
  dl::vectorize::ReaderOptions options = a.reader;
  options.threads = threads_of(a);
  std::tie(options.part, options.parts) = part_of(a.part);
  if (format == "idx") return open_idx(inputs, !a.no_labels, options, bad);
  if (format == "csv") {
    dl::vectorize::CsvOptions csv = a.csv;
    csv.log = dl::cli::log();
    return open_csv(inputs, options, csv, bad);
  }
  if (format == "ts") return open_ts(inputs, options, a.csv.steps, bad);
  if (format == "svmlight")
    return open_svmlight(inputs, options, a.svmlight, bad);
  if (format == "cifar") return open_cifar(inputs, a.variant, options, bad);
  dl::vectorize::RawOptions raw = a.raw;
  raw.labels = !a.no_labels;
  raw.examples = a.examples;
  return open_raw(inputs, options, raw, bad);
}

// Tables say themselves which columns they have.
inline dl::Json shown_recipe(const Args& a,
                             const std::vector<std::string>& inputs) {
  if (a.format == "images") return recipe_of(a).to_json(true);
  if (a.format == "table") return inferred_recipe(a, inputs);
  if (a.format == "series") return inferred_series(a, inputs).to_json(true);
  dl::vectorize::BadRecords bad(0);
  dl::Json recipe = known_recipe(
      open_reader(a, inputs, Output{}, nullptr, bad)->metadata().recipe);
  if (!a.reader.classes.empty())
    recipe["tensors"]["labels"]["classes"] =
        dl::vectorize::ClassLabels(a.reader.classes).names();
  return recipe;
}

// The inputs, and all that says what becomes of them.
inline std::vector<std::string> files_of(const Args& a,
                                         std::vector<std::string> inputs) {
  const std::vector<std::string> labels = label_files_of(a, inputs);
  inputs.insert(inputs.end(), labels.begin(), labels.end());
  for (const std::string& file : {a.recipe, a.labels})
    if (!file.empty() && !inputs.empty()) inputs.push_back(file);
  return inputs;
}

#endif  // DL_TOOLS_DL_PREPROCESS_READERS_H_
