// Conditions and filters of DataVec.

#include <array>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/datavec/process.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize::datavec {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOrders =
    {{{"LessThan", "<"},
      {"LessOrEqual", "<="},
      {"GreaterThan", ">"},
      {"GreaterOrEqual", ">="},
      {"Equal", "=="},
      {"NotEqual", "!="}}};

// Milliseconds of DataVec are a date of ours.
std::string operand(const Json& value, ColumnKind kind) {
  if (kind != ColumnKind::kTime || !value.is_number()) return constant(value);
  constexpr double kMilliseconds = 1000;
  return "date(" +
         text_literal(date_text(static_cast<Seconds>(
             std::floor(value.get<double>() / kMilliseconds)))) +
         ")";
}

std::string compared_column(const Column& column) {
  return column.kind == ColumnKind::kTime && column.is_raw
             ? "date(" + in_formula(column.name) + ")"
             : in_formula(column.name);
}

std::string comparison_of(Process& process, const JsonView& of) {
  const Column& column = process.column(of.at("columnName").string());
  const std::string op = of.at("op").string();
  const std::string left = compared_column(column);
  for (const auto& [theirs, ours] : kOrders)
    if (op == theirs)
      return left + " " + std::string(ours) + " " +
             operand(of.at("value").raw(), column.kind);
  if (op != "InSet" && op != "NotInSet") of.at("op").fail("a condition");
  std::string set;
  for (std::size_t i = 0; i < of.at("set").size(); ++i)
    set += (set.empty() ? "" : ", ") +
           operand(of.at("set").at(i).raw(), column.kind);
  return left + (op == "InSet" ? " in (" : " not in (") + set + ")";
}

std::string boolean_of(Process& process, const JsonView& of) {
  const std::string type = of.at("type").string();
  const JsonView all = of.at("conditions");
  std::vector<std::string> parts;
  parts.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    parts.push_back("coalesce(" + condition(process, all.at(i)) + ", false)");
  if (parts.empty()) all.fail("conditions");
  if (type == "NOT") return "not " + parts[0];
  const std::string word = type == "AND"   ? " and "
                           : type == "OR"  ? " or "
                           : type == "XOR" ? " != "
                                           : "";
  if (word.empty() || (type == "XOR" && parts.size() != 2))
    of.at("type").fail("AND, OR, NOT, or XOR of two");
  std::string text = "(" + parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) text += word + parts[i];
  return text + ")";
}

}  // namespace

std::string is_valid(const Column& column) {
  const std::string name = in_formula(column.name);
  const auto within = [&](std::string text, const std::string& value) {
    for (const auto& [key, sign] :
         {std::pair{"minAllowedValue", ">="}, {"maxAllowedValue", "<="}})
      if (const Json bound = column.bounds.value(key, Json());
          bound.is_number())
        text += " and " + value + " " + sign + " " + constant(bound);
    return text;
  };
  switch (column.kind) {
    case ColumnKind::kInteger:
    case ColumnKind::kReal: {
      const std::string number = column.is_raw ? "number(" + name + ")" : name;
      std::string text = column.is_raw ? "is_number(" + name + ")"
                                       : "not is_missing(" + name + ")";
      if (column.kind == ColumnKind::kInteger)
        text += " and " + number + " % 1 == 0";
      return within(text, number);
    }
    case ColumnKind::kCategory: {
      if (column.states.empty()) return "not is_missing(" + name + ")";
      std::string set;
      for (const std::string& state : column.states)
        set += (set.empty() ? "" : ", ") + text_literal(state);
      return name + " in (" + set + ")";
    }
    case ColumnKind::kText:
      return "true";
    case ColumnKind::kTime:
    case ColumnKind::kTruth:
      return "not is_missing(" + name + ")";
  }
  return "true";
}

std::string condition(Process& process, const JsonView& object) {
  const auto [name, of] = named(object);
  if (name == "BooleanCondition") return boolean_of(process, of);
  for (const char* type :
       {"Double", "Float", "Integer", "Long", "String", "Categorical", "Time"})
    if (name == std::string(type) + "ColumnCondition")
      return comparison_of(process, of);
  const bool has_column = of.has("columnName");
  if (!has_column) bad_data("there is no formula for the condition " + name);
  const Column& column = process.column(of.at("columnName").string());
  if (name == "NullWritableColumnCondition" || name == "NaNColumnCondition")
    return "is_missing(" + in_formula(column.name) + ")";
  if (name == "InvalidValueColumnCondition")
    return "not coalesce(" + is_valid(column) + ", false)";
  if (name == "StringRegexColumnCondition")
    return "matches(" + in_formula(column.name) + ", " +
           text_literal("^(?:" + of.at("regex").string() + ")$") + ")";
  bad_data("there is no formula for the condition " + name);
}

// A filter of DataVec says which rows go.
void take_filter(Process& process, const JsonView& object) {
  const auto [name, of] = named(object);
  if (name == "ConditionFilter") {
    process.step(
        {{"where", "not coalesce(" + condition(process, of.at("condition")) +
                       ", false)"}});
    return;
  }
  if (name != "FilterInvalidValues")
    bad_data("there is no step for the filter " + name);
  std::string all;
  const auto add = [&](const Column& column) {
    if (column.kind == ColumnKind::kText) return;
    all += (all.empty() ? "" : " and ") + is_valid(column);
  };
  const bool is_any =
      of.has("filterAnyInvalid") && of.at("filterAnyInvalid").boolean();
  if (is_any)
    for (const Column& column : process.columns) add(column);
  else
    for (const std::string& column :
         of.at("columnsToFilterIfInvalid").strings())
      add(process.column(column));
  if (!all.empty()) process.step({{"where", all}});
}

}  // namespace dl::vectorize::datavec
