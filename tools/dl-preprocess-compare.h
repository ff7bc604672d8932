// dl-preprocess compare: whether the columns of two tables have drifted apart.

#ifndef DL_TOOLS_DL_PREPROCESS_COMPARE_H_
#define DL_TOOLS_DL_PREPROCESS_COMPARE_H_

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/number_format.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/analysis/drift.h"
#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/text.h"
#include "tools/dl-preprocess-analyze.h"
#include "tools/dl-preprocess-options.h"

inline bool is_compare(const Args& a) {
  return a.recipe.empty() && !a.operands.empty() && a.operands[0] == "compare";
}

// Leaves the columns of --drop out, which one of the tables has.
inline void drop_columns(const Args& a, dl::vectorize::TableProfile& before,
                         dl::vectorize::TableProfile& after) {
  if (a.csv.drop.empty()) return;
  for (const std::string& name :
       dl::vectorize::split_list(a.csv.drop, "--drop")) {
    const auto is_named = [&](const auto& column) {
      return column.name() == name;
    };
    if (std::erase_if(before.columns, is_named) +
            std::erase_if(after.columns, is_named) ==
        0)
      (void)before.find(name, "--drop");  // says what is wrong
  }
}

inline void run_compare(const Args& a) {
  constexpr const char* kWhy = "does not go with compare";
  refuse_what_makes_examples(a, kWhy);
  a.options->refuse({"output", "label", "id", "classes", "regression"}, kWhy);
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  if (!(a.bound > 0)) dl::bad_usage("--bound must be over 0");
  if (a.operands.size() != 3)
    dl::bad_usage(
        "compare wants two tables, or saved analyses of such: the one before "
        "and the one after");
  auto before = analyzed(a, dl::io::expand_operands({a.operands[1]})).profile;
  auto after = analyzed(a, dl::io::expand_operands({a.operands[2]})).profile;
  drop_columns(a, before, after);
  if (before.columns.empty() && after.columns.empty())
    dl::bad_usage("--drop leaves no column to compare");
  const dl::Json drift = drift_of(before, after, a.bound);
  if (a.json)
    std::cout << dl::dump_json(drift) << '\n';
  else
    std::cout << dl::vectorize::drift_text(drift);
  const auto drifted = drift.at("drifted").get<std::int64_t>();
  if (drifted > 0)
    throw dl::Error{dl::Code::kNo,
                    dl::counted(drifted, "column") + " of " +
                        std::to_string(drift.at("columns").size()) +
                        (drifted == 1 ? " has" : " have") +
                        " drifted, by a population stability index above " +
                        dl::format("%g", a.bound) +
                        " or being in one table alone"};
}

#endif  // DL_TOOLS_DL_PREPROCESS_COMPARE_H_
