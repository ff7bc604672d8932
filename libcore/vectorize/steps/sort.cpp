// The steps sort, shift and diff: the order of rows, and what came before.

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/key.h"
#include "libcore/vectorize/steps/step.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Values of the input are numbers where all are.
int order_of_texts(std::string_view a, std::string_view b, bool as_numbers) {
  if (!as_numbers) return a.compare(b);
  double x = 0, y = 0;
  (void)parse_number(trim(a), x);
  (void)parse_number(trim(b), y);
  return x < y ? -1 : x > y ? 1 : 0;
}

class SortStep : public Step {
 public:
  SortStep(const RecipeSettings& settings, StepColumns& columns)
      : descending_(settings.flag("descending")) {
    for (const std::string& name : settings.list("sort"))
      by_.push_back(columns.need(name));
  }

  void take(Row&& row, const Next&) override {
    rows_.push_back(std::move(row));
  }

  void finish(const Next& next) override {
    std::vector<bool> as_numbers;
    as_numbers.reserve(by_.size());
    for (const StepColumn& column : by_)
      as_numbers.push_back(are_numbers(column));
    std::ranges::stable_sort(rows_, [&](const Row& a, const Row& b) {
      for (std::size_t i = 0; i < by_.size(); ++i) {
        const std::string_view x = a.cells[by_[i].slot];
        const std::string_view y = b.cells[by_[i].slot];
        if (x.empty() || y.empty()) {
          if (x.empty() != y.empty()) return y.empty();  // missing ones last
          continue;
        }
        const int order = order_of_texts(x, y, as_numbers[i]);
        if (order != 0) return descending_ ? order > 0 : order < 0;
      }
      return false;
    });
    for (Row& row : rows_) next(std::move(row));
    rows_.clear();
  }

 private:
  bool are_numbers(const StepColumn& column) const {
    if (column.type != ValueType::kAny)
      return column.type == ValueType::kNumber;
    return std::ranges::all_of(rows_, [&](const Row& row) {
      double number = 0;
      const std::string_view text = trim(row.cells[column.slot]);
      return text.empty() || parse_number(text, number);
    });
  }

  bool descending_;
  std::vector<StepColumn> by_;
  std::vector<Row> rows_;
};

// Values of the rows before, of each key by itself.
class Before {
 public:
  Before(const RecipeSettings& settings, StepColumns& columns)
      : rows_(static_cast<std::size_t>(settings.integer("rows"))),
        key_(settings.has("within") ? settings.list("within")
                                    : std::vector<std::string>{},
             columns) {}

  // The text so many rows before this one, which is `text`; "": there is none.
  std::string swap(const Row& row, std::string_view text) {
    std::deque<std::string>& held = held_[key_.of(row)];
    held.emplace_back(text);
    if (held.size() <= rows_) return "";
    std::string before = std::move(held.front());
    held.pop_front();
    return before;
  }

 private:
  std::size_t rows_;
  RowKey key_;
  std::unordered_map<std::string, std::deque<std::string>> held_;
};

class ShiftStep : public ColumnStep {
 public:
  bool is_row_wise() const override { return false; }
  ShiftStep(const RecipeSettings& settings, StepColumns& columns,
            bool is_difference)
      : before_(settings, columns),
        is_difference_(is_difference),
        from_(columns.need(settings.text(is_difference ? "diff" : "shift"))) {
    if (is_difference && from_.type != ValueType::kAny &&
        from_.type != ValueType::kNumber && from_.type != ValueType::kDate)
      bad_config("diff wants numbers or dates, and column " +
                 in_quotes(from_.name) + " has " +
                 std::string(name_of(from_.type)));
    if (is_difference && from_.type == ValueType::kAny)
      from_.type = ValueType::kNumber;
    to_ =
        columns.make(settings.has("into") ? settings.text("into") : from_.name,
                     is_difference ? ValueType::kNumber : from_.type);
  }

 private:
  void change(Row& row) override {
    const std::string_view now = row.cells[from_.slot];
    if (!is_difference_) return row.set(to_, before_.swap(row, now));
    scratch_.reset();
    Value a;
    try {
      a = value_of(now, from_.type);
    } catch (Error& e) {
      e.add_context("column " + in_quotes(from_.name));
      throw;
    }
    const Value b = value_of(before_.swap(row, now), from_.type);
    constexpr double kDay = 86400;
    const double scale = from_.type == ValueType::kDate ? kDay : 1;
    row.set(to_, a.missing || b.missing
                     ? ""
                     : text_of(Value::of_result((a.number - b.number) / scale),
                               ValueType::kNumber, scratch_));
  }

  Before before_;
  bool is_difference_;
  StepColumn from_;
  std::size_t to_ = 0;
  Scratch scratch_;
};

constexpr std::int64_t kMostRows = 1 << 20;
const RecipeKey kRowsKey = {.name = "rows",
                            .kind = KeyKind::kInteger,
                            .fallback = "1",
                            .doc = "How many rows before.",
                            .low = 1,
                            .high = kMostRows};
const RecipeKey kWithinKey = {
    .name = "within",
    .kind = KeyKind::kColumns,
    .doc =
        "Columns that tell series apart, each of which has rows of its own "
        "before."};
const RecipeKey kIntoKey = {
    .name = "into", .doc = "The column to make, in place of the same one."};

}  // namespace

extern const StepType sort_step, shift_step, diff_step;
const StepType sort_step = {
    .name = "sort",
    .words =
        "Rows in the order of columns, of which numbers count as such; "
        "rows that are alike keep theirs, and missing values are last. It "
        "holds the whole table in memory.",
    .keys = {{"sort", KeyKind::kColumns, "", "The columns."},
             {"descending", KeyKind::kBoolean, "false",
              "Whether the largest comes first."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<SortStep>(settings, columns);
    }};
const StepType shift_step = {
    .name = "shift",
    .words =
        "The value of a row before (the lag); missing where there is "
        "none.",
    .keys = {{"shift", KeyKind::kText, "", "The column."},
             kRowsKey,
             kWithinKey,
             kIntoKey},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<ShiftStep>(settings, columns, false);
    }};
const StepType diff_step = {
    .name = "diff",
    .words = "The difference from the value of a row before, of dates in days.",
    .keys = {{"diff", KeyKind::kText, "", "The column."},
             kRowsKey,
             kWithinKey,
             kIntoKey},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<ShiftStep>(settings, columns, true);
    }};

}  // namespace dl::vectorize
