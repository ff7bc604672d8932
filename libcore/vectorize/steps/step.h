// Steps of a recipe: from the rows of a table to those of another, before the
// vectorizers.
//
// Each type is a constant of a file of its own, which holds all that is to be
// known of it: keys, words, and how it works; steps.inc names them all.  The
// key of its name comes first: {"let": "bmi", "be": "weight / height ^ 2"}.
//
// To add one: its file, its line in steps.inc, a test; scripts/generate then
// writes its part of dl-recipe(5).

#ifndef DL_LIBCORE_VECTORIZE_STEPS_STEP_H_
#define DL_LIBCORE_VECTORIZE_STEPS_STEP_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/record.h"
#include "libcore/vectorize/steps/step_columns.h"

namespace dl::vectorize {

// A row between two steps.
struct Row {
  // By slot; an empty text is missing.  What a step makes lives in `record`.
  std::vector<std::string_view> cells;
  // Numbers that are known, by slot, else NaN; or fewer of them.  Texts of
  // those that steps made are written when they are wanted, which is seldom.
  std::vector<double> numbers;
  std::vector<std::size_t> unwritten;  // slots
  Record record;                       // its place, and the memory of its texts

  void set(std::size_t slot, std::string_view text) {
    cells[slot] = record.columns.keep(text);
  }
  void set(std::size_t slot, double number);
  // Writes the texts of all numbers.
  void write();
};

class Step {
 public:
  using Next = std::function<void(Row&& row)>;

  virtual ~Step() = default;
  // Opens what it needs, before the first row; slots: of a row.
  // Throws Error: kData, kNoInput.
  virtual void start(std::size_t slots) { static_cast<void>(slots); }
  // Gives on what becomes of a row, which may be nothing, or several.
  // Throws Error: kData, the row is bad.
  virtual void take(Row&& row, const Next& next) = 0;
  // Gives on all that it held back, when there are no more rows.
  virtual void finish(const Next& next) { static_cast<void>(next); }
  // Whether it makes columns and nothing else, so that it is of no use where
  // they are not wanted.
  virtual bool only_makes_columns() const { return false; }
  // Whether what it makes of a row depends on that row alone.
  virtual bool is_row_wise() const { return false; }
  // Whether it takes numbers whose texts are not written.
  virtual bool takes_numbers() const { return false; }
  // Whether it does no more than leave rows out.
  virtual bool only_leaves_out() const { return false; }
};

// A step that makes of each row by itself one row.
class ColumnStep : public Step {
 public:
  void take(Row&& row, const Next& next) override {
    change(row);
    next(std::move(row));
  }
  bool only_makes_columns() const override { return true; }
  bool is_row_wise() const override { return true; }

 private:
  virtual void change(Row& row) = 0;
};

struct StepType {
  std::string_view name;        // "let", also of the key that is its own
  std::string_view words;       // its purpose, as dl-recipe(5) has it
  std::vector<RecipeKey> keys;  // its own first
  // Takes the columns that it reads, and makes its own.  Null: the step is done
  // with that.
  // Throws Error: kConfig.
  std::unique_ptr<Step> (*make)(const RecipeSettings& settings,
                                StepColumns& columns) = nullptr;
};

// All of them, in the order of dl-recipe(5).
std::span<const StepType* const> step_types();

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_STEP_H_
