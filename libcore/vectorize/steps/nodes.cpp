#include "libcore/vectorize/steps/nodes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class ColumnNode : public FormulaNode {
 public:
  explicit ColumnNode(StepColumn column)
      : FormulaNode(column.type), column_(std::move(column)) {}
  Value run(Cells row, Scratch&) const override {
    if (type() == ValueType::kNumber && row.has_number(column_.slot))
      return Value::of_number(row.numbers[column_.slot]);
    const std::string_view text = row.texts[column_.slot];
    // A text of a step stands for what the step made of it.
    return value_of(text, type());
  }
  const std::string* column() const override { return &column_.name; }
  std::size_t slot() const override { return column_.slot; }

 private:
  StepColumn column_;
};

class ConstantNode : public FormulaNode {
 public:
  ConstantNode(ValueType type, Value value, std::string text = {})
      : FormulaNode(type), value_(value), text_(std::move(text)) {
    if (type == ValueType::kText) value_ = Value::of_text(text_);
  }
  Value run(Cells, Scratch&) const override { return value_; }
  const std::string* constant_text() const override {
    return type() == ValueType::kText ? &text_ : nullptr;
  }

 private:
  Value value_;
  std::string text_;
};

// A text as what it stands for.
class ConvertedNode : public FormulaNode {
 public:
  ConvertedNode(FormulaPart part, ValueType type, std::string place = {})
      : FormulaNode(type),
        part_(std::move(part)),
        place_(std::move(place)),
        slot_(type == ValueType::kNumber ? part_->slot() : kNoSlot) {}
  Value run(Cells row, Scratch& scratch) const override {
    if (row.has_number(slot_)) return Value::of_number(row.numbers[slot_]);
    const Value value = part_->run(row, scratch);
    if (value.missing) return value;
    try {
      const Value made = value_of(value.text, type());
      if (slot_ < row.numbers.size() && !made.missing && !is_word(value.text))
        row.numbers[slot_] = made.number;
      return made;
    } catch (Error& e) {
      const std::string* name = part_->column();
      e.add_context(name != nullptr ? "column " + in_quotes(*name) : place_);
      throw;
    }
  }
  const std::string* column() const override { return part_->column(); }

 private:
  // Whether it is true or false, which other columns may call so.
  static bool is_word(std::string_view text) {
    return std::isalpha(static_cast<unsigned char>(trim(text)[0])) != 0;
  }

  FormulaPart part_;
  std::string place_;  // where it stands, if in no column
  std::size_t slot_;   // of the text, where it becomes a number
};

class CallNode : public FormulaNode {
 public:
  CallNode(ValueType type, const FormulaFunction& function,
           std::vector<FormulaPart> arguments)
      : FormulaNode(type),
        function_(function),
        arguments_(std::move(arguments)) {}
  Value run(Cells row, Scratch& scratch) const override {
    return function_.run(Arguments(arguments_, row, scratch));
  }

 private:
  const FormulaFunction& function_;
  std::vector<FormulaPart> arguments_;
};

class PatternNode : public FormulaNode {
 public:
  PatternNode(bool extracts, FormulaPart text, const std::string& pattern)
      : FormulaNode(extracts ? ValueType::kText : ValueType::kTruth),
        extracts_(extracts),
        text_(std::move(text)),
        pattern_(pattern, Code::kConfig) {}
  Value run(Cells row, Scratch& scratch) const override {
    const Value text = text_->run(row, scratch);
    if (text.missing) return text;
    std::string& part = scratch.next();
    const bool is_there = pattern_.find(text.text, part);
    if (!extracts_) return Value::of_truth(is_there);
    return is_there ? Value::of_text(part) : Value();
  }

 private:
  bool extracts_;
  FormulaPart text_;
  Pattern pattern_;
};

// The type that all of these arguments can have.
ValueType common_type(std::span<const FormulaPart> parts,
                      const std::vector<std::size_t>& which,
                      const std::string& called) {
  ValueType type = ValueType::kAny;
  bool has_dates = false;
  for (const std::size_t i : which)
    has_dates = has_dates || parts[i]->type() == ValueType::kDate;
  for (const std::size_t i : which) {
    ValueType own = parts[i]->type();
    // '2024-12-31' beside a date is one.
    if (has_dates && parts[i]->constant_text() != nullptr)
      own = ValueType::kDate;
    if (type == ValueType::kAny) type = own;
    if (own != ValueType::kAny && own != type)
      bad_config(in_quotes(called) + " has " + std::string(name_of(type)) +
                 " and " + std::string(name_of(own)));
  }
  return type;
}

bool makes_of_texts(const FormulaFunction& function) {
  return function.name == "number" || function.name == "date";
}

// An argument of a function that makes something of any text.
FormulaPart made_of_text(FormulaPart part, ValueType type,
                         const std::string& called) {
  const ValueType own = part->type();
  if (own == ValueType::kTruth && type == ValueType::kNumber) return part;
  if (own != ValueType::kText) return converted(std::move(part), type, called);
  if (const std::string* text = part->constant_text()) try {
      (void)value_of(*text, type);
    } catch (const Error& e) {
      bad_config(called + "(): " + e.what());
    }
  return std::make_unique<ConvertedNode>(std::move(part), type, called + "()");
}

bool wants_order(const FormulaFunction& function) {
  return function.name == "min" || function.name == "max";
}

const char* remedy_for(ValueType own, ValueType want) {
  if (want == ValueType::kText) return "; text() makes one of it";
  if (own != ValueType::kText) return "";
  return want == ValueType::kNumber ? "; number() makes one of it"
         : want == ValueType::kDate ? "; date() makes one of it"
                                    : "";
}

}  // namespace

FormulaPart column_part(const StepColumn& column) {
  return std::make_unique<ColumnNode>(column);
}
FormulaPart number_part(double number) {
  return std::make_unique<ConstantNode>(ValueType::kNumber,
                                        Value::of_number(number));
}
FormulaPart text_part(std::string text) {
  return std::make_unique<ConstantNode>(ValueType::kText, Value(),
                                        std::move(text));
}

FormulaPart converted(FormulaPart part, ValueType type,
                      const std::string& wanted_by) {
  const ValueType own = part->type();
  if (type == own || type == ValueType::kAny) return part;
  const bool is_date_text =
      type == ValueType::kDate && part->constant_text() != nullptr;
  if (own != ValueType::kAny && !is_date_text)
    bad_config(in_quotes(wanted_by) + " wants " + std::string(name_of(type)) +
               ", got " + std::string(name_of(own)) + remedy_for(own, type));
  if (!is_date_text)
    return std::make_unique<ConvertedNode>(std::move(part), type);
  try {
    return std::make_unique<ConstantNode>(
        type, value_of(*part->constant_text(), type));
  } catch (const Error& e) {
    bad_config(in_quotes(wanted_by) + ": " + e.what());
  }
}

FormulaPart call_part(const FormulaFunction& function,
                      std::vector<FormulaPart> arguments,
                      const std::string& called) {
  const std::size_t most = function.repeats         ? SIZE_MAX
                           : function.wants.empty() ? function.least
                                                    : function.wants.size();
  if (arguments.size() < function.least || arguments.size() > most)
    bad_config(called + "() takes (" + std::string(function.arguments) +
               "), got " + std::to_string(arguments.size()) + " of them");
  std::vector<std::size_t> of_any;
  for (std::size_t i = 0; i < arguments.size() && !function.wants.empty();
       ++i) {
    const ValueType want =
        function.wants[std::min(i, function.wants.size() - 1)];
    if (want == ValueType::kAny)
      of_any.push_back(i);
    else if (makes_of_texts(function))
      arguments[i] = made_of_text(std::move(arguments[i]), want, called);
    else
      arguments[i] = converted(std::move(arguments[i]), want, called);
  }
  ValueType common = common_type(arguments, of_any, called);
  if (wants_order(function)) {
    if (common == ValueType::kAny) common = ValueType::kNumber;
    if (common != ValueType::kNumber && common != ValueType::kDate)
      bad_config(in_quotes(called) + " wants numbers or dates, got " +
                 std::string(name_of(common)));
  }
  for (const std::size_t i : of_any)
    arguments[i] = converted(std::move(arguments[i]), common, called);
  const ValueType gives =
      function.gives == ValueType::kAny ? common : function.gives;
  return std::make_unique<CallNode>(gives, function, std::move(arguments));
}

bool is_pattern_function(std::string_view name) {
  return name == "matches" || name == "extract";
}

FormulaPart pattern_part(const std::string& name,
                         std::vector<FormulaPart> arguments) {
  if (arguments.size() != 2 || arguments[1]->constant_text() == nullptr)
    bad_config(name + "() takes (text, 'regular expression')");
  FormulaPart text = converted(std::move(arguments[0]), ValueType::kText, name);
  return std::make_unique<PatternNode>(name == "extract", std::move(text),
                                       *arguments[1]->constant_text());
}

}  // namespace dl::vectorize
