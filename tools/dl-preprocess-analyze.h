// dl-preprocess analyze: what the columns of a table hold.

#ifndef DL_TOOLS_DL_PREPROCESS_ANALYZE_H_
#define DL_TOOLS_DL_PREPROCESS_ANALYZE_H_

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/repeated.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/plot/analysis_page.h"
#include "libcore/vectorize/analysis/association.h"
#include "libcore/vectorize/analysis/infer_table.h"
#include "libcore/vectorize/analysis/propose.h"
#include "libcore/vectorize/analysis/report.h"
#include "libcore/vectorize/analysis/saved_analysis.h"
#include "libcore/vectorize/text.h"
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

// The options that say how examples are made.
inline void refuse_what_makes_examples(const Args& a, const char* why) {
  for (const std::string formats :
       {"fit", "series", "svmlight", "cifar", "raw"})
    a.options->refuse_section("Options for " + formats, why);
  a.options->refuse_section("Options for images, and recipes", why);
  a.options->refuse(
      {"force",    "batch",       "shape",     "dtype",   "bad-list",
       "examples", "id-bytes",    "part",      "threads", "store",
       "header",   "missing",     "sequence",  "steps",   "print-recipe",
       "longer",   "per-step",    "no-labels", "weight",  "no-provenance",
       "network",  "label-files", "align"},
      why);
}

// Tables, or saved analyses, whose rows are as of one table.
inline dl::vectorize::InferredTable analyzed(
    const Args& a, const std::vector<std::string>& inputs) {
  const auto saved =
      std::ranges::count_if(inputs, dl::vectorize::is_saved_analysis);
  if (saved == 0) return inferred_table(a, inputs);
  if (saved < std::ssize(inputs))
    dl::bad_usage(
        "tables and saved analyses (.json) do not go together: "
        "analyze the tables with -o FILE.json first");
  a.options->refuse({"delimiter", "decimal", "encoding", "widths", "query",
                     "table", "na", "max-bad"},
                    "is for tables, not for saved analyses");
  auto all = dl::vectorize::load_analysis(inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i)
    all.profile.merge(dl::vectorize::load_analysis(inputs[i]).profile);
  return all;
}

// The report, with the recipe that the table asks for.
inline dl::Json analysis_of(const Args& a,
                            const dl::vectorize::InferredTable& table,
                            const std::vector<std::string>& inputs) {
  const dl::Json recipe = proposed_recipe(a, table).recipe;
  std::string label;
  std::map<std::string, dl::vectorize::Association> with_label;
  if (!a.csv.label.empty() && a.csv.label != "none") {
    const auto& column = table.profile.find(a.csv.label, "--label");
    label = column.name();
    if (dl::vectorize::is_saved_analysis(inputs[0]))
      dl::cli::log()(dl::Level::kInfo,
                     "correlations with the label are of tables alone, and "
                     "saved analyses have none");
    else
      with_label = associations_with(
          column, is_number_to_predict(column, choices_of(a)), table.profile,
          *dl::vectorize::open_table(inputs, table.source));
  }
  dl::Json analysis = analysis_of(table.profile, label, with_label);
  analysis["recipe"] = recipe;
  return analysis;
}

inline std::string page_title(const std::vector<std::string>& operands) {
  std::string title = operands.empty() ? "-" : operands[0];
  if (operands.size() > 1)
    title += " and " + std::to_string(operands.size() - 1) + " more";
  return title;
}

inline void run_analyze(const Args& a) {
  refuse_what_makes_examples(a, "does not go with analyze");
  a.options->refuse_section("Options for compare", "is for compare");
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  const bool is_saved = a.output.ends_with(".json");
  const bool is_page = a.output.ends_with(".html");
  if (a.output != "-" && !is_saved && !is_page)
    dl::bad_usage("-o: want FILE.html or FILE.json, got " +
                  dl::in_quotes(a.output));
  const std::vector<std::string> operands(a.operands.begin() + 1,
                                          a.operands.end());
  std::vector<std::string> inputs = dl::io::expand_operands(operands);
  if (a.output != "-")
    dl::io::refuse_overwriting(a.output, inputs, "would be replaced, and is");
  keep_standard_input(inputs);
  if (const std::string again = dl::io::repeated(inputs); !again.empty())
    dl::cli::log()(dl::Level::kWarning,
                   "warning: " + again + ", and its rows count twice");
  const auto table = analyzed(a, inputs);
  for (const std::string& sentence : table.sentences)
    dl::cli::log()(dl::Level::kInfo, sentence);
  const dl::Json analysis = analysis_of(a, table, inputs);
  if (is_saved)
    dl::io::write_whole(a.output,
                        dl::dump_json(saved_analysis(analysis, table)) + "\n");
  else if (is_page)
    dl::io::write_whole(a.output, dl::plot::analysis_page(
                                      analysis, recipe_text(analysis["recipe"]),
                                      page_title(operands)));
  if (a.json)
    std::cout << dl::dump_json(analysis) << '\n';
  else if (a.output == "-")
    std::cout << dl::vectorize::analysis_text(analysis) << "\nrecipe\n"
              << recipe_text(analysis["recipe"]);
}

#endif  // DL_TOOLS_DL_PREPROCESS_ANALYZE_H_
