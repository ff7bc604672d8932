// The steps let and where: a column by a formula, and rows by one.

#include "libcore/vectorize/steps/formula.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {
namespace {

class LetStep : public ColumnStep {
 public:
  LetStep(const RecipeSettings& settings, StepColumns& columns)
      : formula_(settings.text("be"), columns),
        slot_(columns.make(settings.text("let"), formula_.type())) {}

 private:
  void change(Row& row) override {
    scratch_.reset();
    const Value value = formula_.run({row.cells, row.numbers}, scratch_);
    if (formula_.type() == ValueType::kNumber && !value.missing)
      row.set(slot_, value.number);
    else
      row.set(slot_, text_of(value, formula_.type(), scratch_));
  }
  bool takes_numbers() const override { return true; }

  Formula formula_;
  std::size_t slot_;
  Scratch scratch_;
};

class WhereStep : public Step {
 public:
  WhereStep(const RecipeSettings& settings, StepColumns& columns)
      : formula_(settings.text("where"), columns, ValueType::kTruth) {}

  void take(Row&& row, const Next& next) override {
    scratch_.reset();
    const Value value = formula_.run({row.cells, row.numbers}, scratch_);
    if (!value.missing && value.number != 0) next(std::move(row));
  }
  bool only_leaves_out() const override { return true; }
  bool takes_numbers() const override { return true; }
  bool is_row_wise() const override { return true; }

 private:
  Formula formula_;
  Scratch scratch_;
};

}  // namespace

extern const StepType let_step, where_step;
const StepType let_step = {
    .name = "let",
    .words = "A column that a formula makes, in place of one of that name.",
    .keys = {{"let", KeyKind::kText, "", "The column."},
             {"be", KeyKind::kFormula, "", "Its formula."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<LetStep>(settings, columns);
    }};
const StepType where_step = {
    .name = "where",
    .words =
        "The rows for which a formula is true; one for which it is "
        "missing is left out, as by SQL. For predictions it does not "
        "count where it reads columns that only labels take.",
    .keys = {{"where", KeyKind::kFormula, "", "The formula."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<WhereStep>(settings, columns);
    }};

}  // namespace dl::vectorize
