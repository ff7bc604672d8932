// All columns of a table that are of no use, where the first one ends the run.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

// The user mends all columns at once, not one a run.  What lies far behind the
// first would take long to find.
std::string CsvFields::all_problems(const std::string& first) {
  constexpr int kRows = 100'000;
  if (names_columns()) return first;
  std::map<std::size_t, std::string> problems;
  try {
    for (int row = 0; row < kRows && table_.size() == table_.names().size();
         ++row) {
      add_problems(problems);
      if (!table_.next()) break;
    }
  } catch (const Error&) {  // of a row, which is said once it is its turn
  }
  constexpr std::size_t kTold = 10;
  std::string text;
  std::size_t told = 0;
  for (const auto& [column, problem] : problems)
    if (told++ < kTold) text += (text.empty() ? "" : "\n") + problem;
  if (told > kTold)
    text += "\nand " + std::to_string(told - kTold) + " columns more";
  return text + drop_hint(problems);
}

void CsvFields::add_problems(std::map<std::size_t, std::string>& problems) {
  std::map<std::size_t, std::string> found;
  bool skip = false;
  const auto look = [&](std::size_t column, auto&& parse) {
    if (skip || problems.contains(column)) return;
    if (std::string problem = parse(); !problem.empty())
      found.emplace(column, std::move(problem));
  };
  for (std::size_t c = 0; c < features_.size(); ++c)
    look(features_[c], [&] {
      return number(features_row_, static_cast<std::int64_t>(c), features_[c],
                    skip);
    });
  if (!labels_.empty() && !options_.regression)
    look(labels_[0], [&] { return class_label(skip); });
  for (std::size_t t = 0; options_.regression && t < labels_.size(); ++t)
    look(labels_[t], [&] {
      return number(label_row_, static_cast<std::int64_t>(t), labels_[t], skip);
    });
  if (weight_) look(*weight_, [&] { return weight(skip); });
  if (id_) look(*id_, [&] { return id(); });
  if (!skip) problems.merge(found);
}

// The option that leaves out all features that are no numbers, if they are
// several.
std::string CsvFields::drop_hint(
    const std::map<std::size_t, std::string>& problems) const {
  std::string list;
  int count = 0;
  for (const auto& [column, problem] : problems) {
    if (problem.find("(--drop") == std::string::npos) continue;
    const std::string& name = table_.names()[column];
    const bool by_name = table_.has_header() && !name.empty() &&
                         name.find('\'') == std::string::npos &&
                         std::ranges::count(table_.names(), name) == 1;
    list += (list.empty() ? "" : ",") +
            (by_name ? list_word(name) : std::to_string(column + 1));
    ++count;
  }
  return count < 2
             ? ""
             : "\nto leave these columns out: --drop '" + displayed(list) +
                   "'; to make numbers of them: OTHER FORMATS in "
                   "dl-preprocess(1)";
}

}  // namespace dl::vectorize
