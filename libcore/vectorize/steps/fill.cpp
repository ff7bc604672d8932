// The step fill: something in place of missing values.

#include <optional>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kFillWays[] = {"previous"};

struct FilledColumn {
  std::size_t from, to;
  std::string text;  // that stands in
};

class FillStep : public ColumnStep {
 public:
  FillStep(const RecipeSettings& settings, StepColumns& columns)
      : carries_(settings.has("by")) {
    if (carries_ == settings.has("with"))
      bad_config("fill wants either \"with\", a value, or \"by\"");
    const std::string with = carries_ ? "" : settings.scalar("with");
    for (const std::string& name : settings.list("fill")) {
      const StepColumn column = columns.need(name);
      if (!carries_) check(with, column);
      columns_.push_back({column.slot, columns.make(name, column.type), with});
    }
  }

  bool is_row_wise() const override { return !carries_; }

 private:
  static void check(const std::string& text, const StepColumn& column) try {
    (void)value_of(text, column.type);
  } catch (const Error& e) {
    bad_config("column " + in_quotes(column.name) + ": " + e.what());
  }

  void change(Row& row) override {
    for (FilledColumn& column : columns_) {
      const std::string_view text = row.cells[column.from];
      if (text.empty())
        row.set(column.to, column.text);
      else
        row.cells[column.to] = text;
      if (carries_ && !text.empty()) column.text = text;
    }
  }

  bool carries_;
  std::vector<FilledColumn> columns_;
};

}  // namespace

extern const StepType fill_step;
const StepType fill_step = {
    .name = "fill",
    .words =
        "Something in place of missing values. Means, medians and most "
        "frequent values are *missing* of the vectorizers, which learn "
        "them.",
    .keys = {{"fill", KeyKind::kColumns, "", "The columns."},
             {.name = "with", .kind = KeyKind::kScalar, .doc = "The value."},
             {.name = "by",
              .kind = KeyKind::kOneOf,
              .doc = "In its place: *previous*, that of the row before.",
              .words = kFillWays}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<FillStep>(settings, columns);
    }};

}  // namespace dl::vectorize
