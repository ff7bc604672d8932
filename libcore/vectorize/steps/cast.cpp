// The step cast: columns of one type.

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/step.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kCastTypes[] = {"number", "integer", "text",
                                           "boolean", "date"};
enum class CastTo { kNumber, kInteger, kText, kBoolean, kDate };

ValueType type_of_cast(CastTo to) {
  switch (to) {
    case CastTo::kNumber:
    case CastTo::kInteger:
      return ValueType::kNumber;
    case CastTo::kText:
      return ValueType::kText;
    case CastTo::kBoolean:
      return ValueType::kTruth;
    case CastTo::kDate:
      return ValueType::kDate;
  }
  return ValueType::kAny;
}

struct CastColumn {
  StepColumn from;
  std::size_t to;
};

class CastStep : public ColumnStep {
 public:
  CastStep(const RecipeSettings& settings, StepColumns& columns)
      : to_(static_cast<CastTo>(settings.word("to", kCastTypes))),
        lenient_(settings.flag("lenient")) {
    if (settings.has("format")) {
      if (to_ != CastTo::kDate) bad_config("format is for \"to\": \"date\"");
      format_.emplace(settings.text("format"));
    }
    for (const std::string& name : settings.list("cast")) {
      const StepColumn from = columns.need(name);
      check_types(from);
      columns_.push_back({from, columns.make(name, type_of_cast(to_))});
    }
  }

 private:
  void check_types(const StepColumn& from) const {
    const bool dates = to_ == CastTo::kDate;
    const bool numbers = to_ == CastTo::kNumber || to_ == CastTo::kInteger;
    if ((dates &&
         (from.type == ValueType::kNumber || from.type == ValueType::kTruth)) ||
        (numbers && from.type == ValueType::kDate) ||
        (to_ == CastTo::kBoolean && from.type == ValueType::kDate))
      bad_config("column " + in_quotes(from.name) + " is " +
                 std::string(name_of(from.type)) + ", which is none");
  }

  void change(Row& row) override {
    for (const CastColumn& column : columns_) try {
        scratch_.reset();
        const std::string_view text = row.cells[column.from.slot];
        const Value made = value(text);
        if (type_of_cast(to_) == ValueType::kNumber && !made.missing)
          row.set(column.to, made.number);
        else
          row.set(column.to, text_of(made, type_of_cast(to_), scratch_));
      } catch (Error& e) {
        if (e.code() != Code::kData) throw;
        if (lenient_) {
          row.cells[column.to] = {};
          continue;
        }
        e.add_context("column " + in_quotes(column.from.name));
        throw;
      }
  }

  Value value(std::string_view text) const {
    const std::string_view trimmed = trim(text);
    if (trimmed.empty()) return {};
    if (format_) {
      const auto time = format_->parse(trimmed);
      if (!time)
        bad_data("want a date as " + format_->text() + ", got " +
                 in_quotes(clipped(text)));
      return Value::of_number(static_cast<double>(*time));
    }
    const Value value = value_of(text, type_of_cast(to_));
    if (to_ == CastTo::kInteger && !value.missing &&
        value.number != std::trunc(value.number))
      bad_data("want an integer, got " + in_quotes(clipped(text)));
    return value;
  }

  CastTo to_;
  bool lenient_;
  std::optional<DateFormat> format_;
  std::vector<CastColumn> columns_;
  Scratch scratch_;
};

}  // namespace

extern const StepType cast_step;
const StepType cast_step = {
    .name = "cast",
    .words =
        "Columns of one type, in one way of writing; a value that is none "
        "makes the record bad.",
    .keys = {{"cast", KeyKind::kColumns, "", "The columns."},
             {.name = "to",
              .kind = KeyKind::kOneOf,
              .fallback = "",
              .doc = "The type.",
              .words = kCastTypes},
             {.name = "format",
              .doc = "The format of dates, as of the vectorizer date; they "
                     "become as 2024-12-31, which the vectorizer takes."},
             {"lenient", KeyKind::kBoolean, "false",
              "Whether such a value is missing instead."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<CastStep>(settings, columns);
    }};

}  // namespace dl::vectorize
