// dl-preprocess table: examples of a table whose recipe follows from its rows.

#ifndef DL_TOOLS_DL_PREPROCESS_TABLE_H_
#define DL_TOOLS_DL_PREPROCESS_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/number_format.h"
#include "libcore/base/parallel.h"
#include "libcore/cli/tool.h"
#include "libcore/io/standard_input_file.h"
#include "libcore/vectorize/analysis/infer_table.h"
#include "libcore/vectorize/analysis/propose.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/fitting.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/recipe/share.h"
#include "libcore/vectorize/series/series_share.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-outputs.h"

inline bool reads_twice(const Args& a) {
  return a.format == "table" || a.format == "series";
}

// A table on standard input becomes a file, as it is read more than once.
inline void keep_standard_input(std::vector<std::string>& inputs) {
  if (inputs.empty()) inputs.emplace_back("-");
  for (std::string& input : inputs) {
    if (input != "-") continue;
    const dl::io::KeptInput kept = dl::io::keep_standard_input();
    input = dl::io::kStandardInputFile;
    if (!kept.folder.empty())
      dl::cli::log()(dl::Level::kInfo,
                     "standard input, " + dl::counted(kept.bytes, "byte") +
                         ", is kept in " + dl::in_quotes(kept.folder) +
                         " meanwhile");
  }
}

// A line for each column, with what becomes of it.
inline void report_columns(const dl::vectorize::InferredTable& table,
                           const dl::vectorize::ProposedRecipe& proposed) {
  constexpr std::size_t kMostLines = 200, kWidest = 30;
  const auto say = [](const std::string& line) {
    dl::cli::log()(dl::Level::kInfo, line);
  };
  for (const std::string& sentence : table.sentences) say(sentence);
  say("of all " + dl::counted(table.profile.rows, "row") + ", " +
      dl::counted(std::ssize(proposed.columns), "column") + ":");
  std::size_t width = 0, lines = 0;
  for (const auto& [name, sentence] : proposed.columns)
    width = std::max(width, std::min(dl::displayed(name).size(), kWidest));
  for (const auto& [name, sentence] : proposed.columns) {
    if (++lines > kMostLines)
      return say("  and " +
                 std::to_string(proposed.columns.size() - kMostLines) +
                 " columns more: --print-recipe");
    std::string shown = dl::displayed(name);
    shown.resize(std::max(shown.size(), width), ' ');
    say("  " + shown + "  " + sentence);
  }
}

// Tells the input that a network for these examples has.
inline void report_shape(const dl::vectorize::Reader& reader) {
  const auto schema = reader.metadata().schema;
  const auto field = schema.find("features");
  if (field == schema.end()) return;  // several inputs
  dl::cli::log()(dl::Level::kInfo,
                 "the input of a network for them: {\"shape\": " +
                     field->second.shape.to_string() + "}");
}

inline int threads_of(const Args& a) {
  return static_cast<int>(a.threads > 0 ? a.threads : dl::available_cores());
}

inline dl::vectorize::InferredTable inferred_table(
    const Args& a, const std::vector<std::string>& inputs) {
  dl::vectorize::BadRecords bad(a.max_bad);
  return dl::vectorize::infer_table(
      {.inputs = inputs,
       .delimiter = a.options->given("delimiter") ? a.csv.delimiter : "",
       .query = a.query,
       .table = a.table,
       .decimal = a.decimal,
       .encoding = a.csv.encoding,
       .widths = a.widths,
       .na = a.csv.na,
       .threads = threads_of(a)},
      bad);
}

inline dl::vectorize::TableChoices choices_of(const Args& a) {
  return {.label = a.csv.label.empty() ? "none" : a.csv.label,
          .id = a.csv.id,
          .drop = a.csv.drop,
          .classes = a.reader.classes,
          .regression = a.reader.regression};
}

inline dl::vectorize::ProposedRecipe proposed_recipe(
    const Args& a, const dl::vectorize::InferredTable& table) {
  return propose_recipe(table.profile, choices_of(a), table.source);
}

inline void check_label(const Args& a) {
  if (a.csv.label.empty())
    dl::bad_usage("table wants --label COLUMN, the one to predict; or none");
}

// The recipe that the rows ask for, which is told; unfitted.
inline dl::vectorize::Recipe inferred_recipe(
    const Args& a, const dl::vectorize::InferredTable& table) {
  const auto proposed = proposed_recipe(a, table);
  report_columns(table, proposed);
  return dl::vectorize::Recipe::from_json(proposed.recipe, "the recipe",
                                          dl::Code::kBug);
}
inline dl::Json inferred_recipe(const Args& a,
                                const std::vector<std::string>& inputs) {
  check_label(a);
  return inferred_recipe(a, inferred_table(a, inputs)).to_json(true);
}

// A recipe with all that it learns of the rows; of series that are split, of
// those of the first part, as the others are to come.
inline dl::vectorize::Recipe fitted(const dl::vectorize::Recipe& recipe,
                                    const Args& a,
                                    const std::vector<std::string>& inputs) {
  if (!is_to_be_fitted(recipe)) return recipe;
  dl::vectorize::BadRecords bad(a.max_bad);
  std::function<bool(const dl::vectorize::Record&)> takes;
  if (a.format == "series" && !a.split.empty()) {
    dl::vectorize::BadRecords same(a.max_bad);
    takes = records_of_share(recipe, inputs, shares_of(a)[0].share, same);
  }
  return dl::vectorize::Recipe::from_json(
      fit_recipe(recipe, inputs, bad, threads_of(a), takes), "the recipe",
      dl::Code::kBug);
}

// The recipe of a table.
inline dl::vectorize::Recipe fitted_table(
    const Args& a, const std::vector<std::string>& inputs) {
  check_label(a);
  const auto table = inferred_table(a, inputs);
  const auto recipe = dl::vectorize::Recipe::from_json(
      inferred_recipe(a, table).to_json(true), "the recipe", dl::Code::kBug);
  // Other texts than those of CSV may have blanks around them.
  if (table.source.at("type") != "csv" || !is_to_be_fitted(recipe))
    return fitted(recipe, a, inputs);
  dl::vectorize::BadRecords bad(a.max_bad);
  return dl::vectorize::Recipe::from_json(
      fit_recipe(recipe, inputs, table.profile, bad, threads_of(a)),
      "the recipe", dl::Code::kBug);
}

#endif  // DL_TOOLS_DL_PREPROCESS_TABLE_H_
