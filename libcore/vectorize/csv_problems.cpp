// All columns of a table that are of no use, where the first one ends the run.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

// The user mends all columns at once, not one a run.  What lies far behind the
// first would take long to find.
std::string CsvFields::all_problems(ParsedBlock& parsed, std::int64_t number,
                                    const std::string& first,
                                    const NextBlock& next) {
  constexpr int kRows = 100'000;
  std::optional<CsvRows> row;
  row.emplace(parsed.block, parsed.block.delimiter);
  for (std::int64_t i = 0; i <= number; ++i) row->next();
  const auto is_whole = [&] { return row->size() == table_.names().size(); };
  if (!is_whole() || names_columns(*row) ||
      (sequence_ && is_missing(csv_field(*row, *sequence_))))
    return first;
  std::map<std::size_t, std::string> problems;
  data::DataSet one = make_record(schema_, 1);
  Row to(one);
  std::optional<ParsedBlock> more;
  const auto next_row = [&] {
    while (!row->next()) {
      if ((more ? more->block : parsed.block).error) return false;
      if (!(more = next())) return false;
      row.emplace(more->block, more->block.delimiter);
    }
    return true;
  };
  try {
    for (int i = 0; i < kRows && is_whole(); ++i) {
      add_problems(*row, to, problems);
      if (!next_row()) break;
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

void CsvFields::add_problems(const CsvRows& row, Row& to,
                             std::map<std::size_t, std::string>& problems) {
  std::map<std::size_t, std::string> found;
  to.skip = false;
  const auto look = [&](std::size_t column, auto&& parse) {
    if (to.skip || problems.contains(column)) return;
    if (std::string problem = parse(); !problem.empty())
      found.emplace(column, std::move(problem));
  };
  for (std::size_t c = 0; c < features_.size(); ++c)
    look(features_[c], [&] { return number(row, to, false, c); });
  if (has_classes())
    look(labels_[0], [&] {
      std::string problem = class_label(row, to);
      const std::string_view name = csv_field(row, labels_[0]);
      if (problem.empty() && !to.skip && classes_.index(name) < 0)
        problem = table_.place(row, labels_[0]) + classes_.complaint(name);
      return problem;
    });
  for (std::size_t t = 0; options_.regression && t < labels_.size(); ++t)
    look(labels_[t], [&] { return number(row, to, true, t); });
  if (weight_) look(*weight_, [&] { return weight(row, to); });
  if (id_) look(*id_, [&] { return id(row, to); });
  if (!to.skip) problems.merge(found);
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
