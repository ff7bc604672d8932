// A formula over the columns of a row, as "weight / (height / 100) ^ 2".

#ifndef DL_LIBCORE_VECTORIZE_STEPS_FORMULA_H_
#define DL_LIBCORE_VECTORIZE_STEPS_FORMULA_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/steps/step_columns.h"
#include "libcore/vectorize/steps/value.h"

namespace dl::vectorize {

// Values of a row, by slot.
struct Cells {
  Cells(const std::vector<std::string_view>& all_texts) : texts(all_texts) {}
  Cells(const std::vector<std::string_view>& all_texts,
        std::vector<double>& known)
      : texts(all_texts), numbers(known) {}
  std::span<const std::string_view> texts;
  // Numbers that are known, as Row has them; more become so.
  std::span<double> numbers = {};

  bool has_number(std::size_t slot) const {
    return slot < numbers.size() && !std::isnan(numbers[slot]);
  }
};

// A part of a formula: a column, a constant, or a function of others.
class FormulaNode {
 public:
  explicit FormulaNode(ValueType type) : type_(type) {}
  virtual ~FormulaNode() = default;
  ValueType type() const { return type_; }
  // Throws Error: kData, a column holds no value of the type that is wanted.
  virtual Value run(Cells row, Scratch& scratch) const = 0;
  // The text, of a constant text; else null.
  virtual const std::string* constant_text() const { return nullptr; }
  // The name, of a column; else null.
  virtual const std::string* column() const { return nullptr; }
  // The place of its text, of a column; else kNoSlot.
  static constexpr std::size_t kNoSlot = SIZE_MAX;
  virtual std::size_t slot() const { return kNoSlot; }

 private:
  ValueType type_;
};
using FormulaPart = std::unique_ptr<FormulaNode>;

class Formula {
 public:
  // Throws Error: kConfig, the formula is wrong: what is, and where; or a
  // column is not there.
  Formula(std::string_view text, StepColumns& columns);
  // The same, as one of this type.
  Formula(std::string_view text, StepColumns& columns, ValueType type);

  ValueType type() const { return root_->type(); }
  // The result lives as long as the row and the scratch do.
  Value run(Cells row, Scratch& scratch) const {
    return root_->run(row, scratch);
  }

 private:
  FormulaPart root_;
};

// A part as one of another type, where that can be.
// Throws Error: kConfig, "wants a number, got a text".
FormulaPart converted(FormulaPart part, ValueType type,
                      const std::string& wanted_by);

// Throws Error: kConfig, the text is no formula, whatever the columns are.
void check_formula(std::string_view text);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_FORMULA_H_
