// dl-preprocess analyze: what the columns of a table hold.

#ifndef DL_TOOLS_DL_PREPROCESS_ANALYZE_H_
#define DL_TOOLS_DL_PREPROCESS_ANALYZE_H_

#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/analysis/report.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-table.h"

inline bool is_analyze(const Args& a) {
  return a.recipe.empty() && !a.operands.empty() && a.operands[0] == "analyze";
}

// The recipe as people read it: a line for each vectorizer.
inline std::string recipe_text(const dl::Json& recipe) {
  std::string text = "{\"source\": " + dl::dump_json(recipe.at("source")) +
                     ",\n \"tensors\": {";
  bool first = true;
  for (const auto& [name, tensor] : recipe.at("tensors").items()) {
    text += first ? "\n   " : ",\n   ";
    text += dl::dump_json(dl::Json(name)) + ": ";
    first = false;
    if (!tensor.is_array()) {
      text += dl::dump_json(tensor);
      continue;
    }
    for (std::size_t i = 0; i < tensor.size(); ++i)
      text += (i == 0 ? "[\n     " : ",\n     ") + dl::dump_json(tensor[i]);
    text += "]";
  }
  return text + "}}\n";
}

inline void run_analyze(const Args& a) {
  constexpr const char* kWhy = "does not go with analyze";
  for (const std::string formats :
       {"fit", "series", "svmlight", "cifar", "raw"})
    a.options->refuse_section("Options for " + formats, kWhy);
  a.options->refuse_section("Options for images, and recipes", kWhy);
  a.options->refuse(
      {"output",        "force",        "batch",    "shape",   "dtype",
       "bad-list",      "examples",     "id-bytes", "part",    "threads",
       "store",         "print-recipe", "header",   "missing", "sequence",
       "no-provenance", "no-labels",    "steps",    "longer",  "per-step",
       "weight"},
      kWhy);
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  Args own = a;
  own.format = "table";
  std::vector<std::string> inputs =
      dl::io::expand_operands({a.operands.begin() + 1, a.operands.end()});
  keep_standard_input(own, inputs);
  const auto table = inferred_table(a, inputs);
  const bool has_label = !a.csv.label.empty() && a.csv.label != "none";
  dl::Json analysis = analysis_of(
      table.profile,
      has_label ? table.profile.find(a.csv.label, "--label").name() : "");
  analysis["recipe"] = proposed_recipe(a, table).recipe;
  for (const std::string& sentence : table.sentences)
    dl::cli::log()(dl::Level::kInfo, sentence);
  if (a.json)
    std::cout << dl::dump_json(analysis) << '\n';
  else
    std::cout << dl::vectorize::analysis_text(analysis) << "\nrecipe\n"
              << recipe_text(analysis["recipe"]);
}

#endif  // DL_TOOLS_DL_PREPROCESS_ANALYZE_H_
