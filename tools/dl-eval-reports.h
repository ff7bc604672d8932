// dl-eval --merge and --spread: reports as operands.

#ifndef DL_TOOLS_DL_EVAL_REPORTS_H_
#define DL_TOOLS_DL_EVAL_REPORTS_H_

#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/eval/report.h"
#include "libcore/eval/shown_examples.h"
#include "libcore/eval/spread.h"
#include "tools/dl-eval-options.h"

struct Result {
  dl::eval::Evaluations all;
  dl::eval::ShownExamples examples;
};

inline std::vector<std::string> reports_of(const Args& a) {
  if (a.merge && a.spread)
    dl::bad_usage("--merge and --spread exclude each other");
  a.options->refuse(
      {"model", "evaluate", "top", "threshold", "batch", "threads", "local",
       "device", "precision", "raw", "max-bad", "encoding", "labels",
       "label-from", "label-pattern", "examples"},
      "does not go with --merge and --spread, which take reports");
  std::vector<std::string> specs = dl::inputs_of(a.operands, a.data_list);
  std::set<std::string> seen;
  for (const std::string& spec : specs) {
    std::error_code ignored;
    if (!seen.insert(std::filesystem::weakly_canonical(spec, ignored)).second)
      dl::bad_usage("'" + spec + "' is given twice, and would count twice");
  }
  return specs;
}

inline Result merge_all(const Args& a) {
  Result total;
  for (const std::string& spec : reports_of(a))
    dl::eval::merge(total.all, spec, &total.examples);
  return total;
}

inline void print_spread(const Args& a) {
  a.options->refuse({"min", "max"}, "does not go with --spread");
  std::vector<dl::eval::Evaluations> reports;
  for (const std::string& spec : reports_of(a))
    dl::eval::merge(reports.emplace_back(), spec);
  const auto all = dl::eval::spread_of(reports);
  if (a.json)
    std::cout << dl::dump_json(dl::eval::to_json(all)) << '\n';
  else
    dl::eval::print(std::cout, all);
}

#endif  // DL_TOOLS_DL_EVAL_REPORTS_H_
