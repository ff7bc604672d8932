// The steps replace and split, which work on texts.

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/step.h"
#include "libcore/vectorize/table/pattern.h"

namespace dl::vectorize {
namespace {

// A column that is read as a text.
std::size_t text_column(const std::string& name, StepColumns& columns) {
  const StepColumn column = columns.need(name);
  if (column.type != ValueType::kAny && column.type != ValueType::kText)
    bad_config("column " + in_quotes(name) + " is " +
               std::string(name_of(column.type)) + ", want a text");
  return column.slot;
}

class ReplaceStep : public ColumnStep {
 public:
  ReplaceStep(const RecipeSettings& settings, StepColumns& columns)
      : pattern_(settings), by_(settings.text("by")) {
    pattern_.check_replacement(by_);
    for (const std::string& name : settings.list("replace")) {
      const std::size_t from = text_column(name, columns);
      columns_.emplace_back(from, columns.make(name, ValueType::kAny));
    }
  }

 private:
  void change(Row& row) override {
    for (const auto& [from, to] : columns_)
      row.set(to, pattern_.replaced(row.cells[from], by_));
  }

  Pattern pattern_;
  std::string by_;
  std::vector<std::pair<std::size_t, std::size_t>> columns_;
};

class SplitStep : public ColumnStep {
 public:
  SplitStep(const RecipeSettings& settings, StepColumns& columns)
      : from_(text_column(settings.text("split"), columns)),
        at_(settings.text("at")) {
    for (const std::string& name : settings.texts("into"))
      to_.push_back(columns.make(name, ValueType::kAny));
  }

 private:
  void change(Row& row) override {
    std::string_view rest = row.cells[from_];
    for (std::size_t i = 0; i < to_.size(); ++i) {
      const std::size_t end = i + 1 == to_.size()
                                  ? rest.size()
                                  : std::min(rest.find(at_), rest.size());
      row.cells[to_[i]] = rest.substr(0, end);
      rest.remove_prefix(std::min(end + at_.size(), rest.size()));
    }
  }

  std::size_t from_;
  std::string at_;
  std::vector<std::size_t> to_;
};

}  // namespace

extern const StepType replace_step, split_step;
const StepType replace_step = {
    .name = "replace",
    .words = "Another text in place of all that a regular expression finds.",
    .keys = {{"replace", KeyKind::kColumns, "", "The columns."},
             {"pattern", KeyKind::kPattern, "",
              "The regular expression, in RE2's syntax."},
             {"by", KeyKind::kAnyText, "",
              "The text; \\\\1 in it is what the first parentheses match."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<ReplaceStep>(settings, columns);
    }};
const StepType split_step = {
    .name = "split",
    .words = "Columns of the parts of a text.",
    .keys = {{"split", KeyKind::kText, "", "The column."},
             {"at", KeyKind::kText, "", "The text between the parts."},
             {"into", KeyKind::kTexts, "",
              "The columns to make. The last one has all the rest; one "
              "without a part is missing."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<SplitStep>(settings, columns);
    }};

}  // namespace dl::vectorize
