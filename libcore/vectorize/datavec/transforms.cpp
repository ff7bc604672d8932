// Transforms of DataVec, each as steps of ours.

#include <algorithm>
#include <map>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/datavec/arithmetic.h"
#include "libcore/vectorize/datavec/process.h"

namespace dl::vectorize::datavec {
namespace {

using Take = void (*)(Process&, const JsonView&);

bool is_integer(const Column& column) {
  return column.kind == ColumnKind::kInteger;
}

void remove_columns(Process& process, const JsonView& of) {
  const auto names = of.at("columnsToRemove").strings();
  for (const std::string& name : names) (void)process.column(name);
  process.step({{"drop", names}});
  std::erase_if(process.columns, [&](const Column& column) {
    return std::ranges::find(names, column.name) != names.end();
  });
}

void keep_columns(Process& process, const JsonView& of) {
  const auto names = of.at("columnsToKeep").strings();
  for (const std::string& name : names) (void)process.column(name);
  process.step({{"keep", names}});
  std::erase_if(process.columns, [&](const Column& column) {
    return std::ranges::find(names, column.name) == names.end();
  });
}

void rename_columns(Process& process, const JsonView& of) {
  const auto from = of.at("oldNames").strings();
  const auto to = of.at("newNames").strings();
  if (from.size() != to.size()) of.at("newNames").fail("as many as oldNames");
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < from.size(); ++i) {
    (void)process.column(from[i]);
    names[from[i]] = to[i];
  }
  process.step({{"rename", names}});
  for (Column& column : process.columns)
    if (const auto found = names.find(column.name); found != names.end())
      column.name = found->second;
}

void reorder_columns(Process& process, const JsonView& of) {
  std::vector<Column> ordered;
  for (const std::string& name : of.at("newOrder").strings()) {
    const std::size_t place = process.place(name);
    ordered.push_back(process.columns[place]);
    process.columns.erase(process.columns.begin() +
                          static_cast<std::ptrdiff_t>(place));
  }
  ordered.insert(ordered.end(), process.columns.begin(), process.columns.end());
  process.columns = std::move(ordered);
}

void duplicate_columns(Process& process, const JsonView& of) {
  const auto from = of.at("columnsToDuplicate").strings();
  const auto to = of.at("newColumnNames").strings();
  if (from.size() != to.size())
    of.at("newColumnNames").fail("as many as columnsToDuplicate");
  for (std::size_t i = 0; i < from.size(); ++i) {
    Column copy = process.column(from[i]);
    process.step({{"let", to[i]}, {"be", in_formula(from[i])}});
    copy.name = to[i];
    process.columns.push_back(std::move(copy));
  }
}

void add_constant(Process& process, const JsonView& of) {
  const Json value = value_of_writable(of.at("fixedValue"));
  process.let(of.at("newColumnName").string(), constant(value),
              value.is_string()           ? ColumnKind::kText
              : value.is_number_integer() ? ColumnKind::kInteger
                                          : ColumnKind::kReal);
}

void number_op(Process& process, const JsonView& of) {
  const Column column = process.column(of.at("columnName").string());
  process.let(column.name,
              math_op(of.at("mathOp").string(), in_formula(column.name),
                      constant(of.at("scalar").raw()), is_integer(column)),
              column.kind);
}

void columns_op(Process& process, const JsonView& of) {
  const auto names = of.at("columns").strings();
  const std::string op = of.at("mathOp").string();
  if (names.size() < 2) of.at("columns").fail("two columns");
  bool integers = true;
  for (const std::string& name : names)
    integers = integers && is_integer(process.column(name));
  std::string text = in_formula(names[0]);
  for (std::size_t i = 1; i < names.size(); ++i)
    text = math_op(op, text, in_formula(names[i]), integers);
  process.let(of.at("newColumnName").string(), text,
              integers ? ColumnKind::kInteger : ColumnKind::kReal);
}

void function_of_column(Process& process, const JsonView& of) {
  const std::string name = of.at("columnName").string();
  (void)process.column(name);
  process.let(name,
              math_function(of.at("mathFunction").string(), in_formula(name)),
              ColumnKind::kReal);
}

void category_to_integer(Process& process, const JsonView& of) {
  Column& column = process.column(of.at("columnName").string());
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < column.states.size(); ++i)
    values[column.states[i]] = std::to_string(i);
  if (values.empty()) of.at("columnName").fail("a column of categories");
  process.step({{"map", column.name}, {"values", values}});
  column = {column.name, ColumnKind::kInteger};
}

// Columns of zeros and ones in place of one.
void to_ones(Process& process, const std::string& name,
             const std::vector<std::string>& values, bool of_numbers) {
  const std::size_t place = process.place(name);
  std::vector<Column> made;
  for (const std::string& value : values) {
    const std::string own = name + "[" + value + "]";
    process.step(
        {{"let", own},
         {"be", "if(" + in_formula(name) + " == " +
                    (of_numbers ? value : text_literal(value)) + ", 1, 0)"}});
    made.push_back({own, ColumnKind::kInteger, {}, Json::object(), false});
  }
  process.step({{"drop", name}});
  auto& columns = process.columns;
  columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(place));
  columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(place),
                 made.begin(), made.end());
}

void category_to_one_hot(Process& process, const JsonView& of) {
  const Column column = process.column(of.at("columnName").string());
  if (column.states.empty()) of.at("columnName").fail("a column of categories");
  to_ones(process, column.name, column.states, false);
}

void integer_to_one_hot(Process& process, const JsonView& of) {
  constexpr std::int64_t kMost = 1000;
  const std::int64_t low = of.at("minValue").integer(-INT32_MAX, INT32_MAX);
  const std::int64_t high = of.at("maxValue").integer(low, low + kMost);
  std::vector<std::string> values;
  for (std::int64_t i = low; i <= high; ++i)
    values.push_back(i < 0 ? "(" + std::to_string(i) + ")" : std::to_string(i));
  to_ones(process, of.at("columnName").string(), values, true);
}

void integer_to_category(Process& process, const JsonView& of) {
  Column& column = process.column(of.at("columnName").string());
  Column made{column.name, ColumnKind::kCategory};
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : of.at("map").raw().items()) {
    values[key] = of.at("map").at(key).string();
    made.states.push_back(values[key]);
  }
  process.step({{"map", column.name}, {"values", values}});
  column = std::move(made);
}

void text_to_category(Process& process, const JsonView& of) {
  Column& column = process.column(of.at("columnName").string());
  column.kind = ColumnKind::kCategory;
  column.states = of.at("stateNames").strings();
}

// A condition that decides on a column's value.
void choose(Process& process, const JsonView& of, const std::string& yes,
            const std::string& no, const char* key) {
  const Column column = process.column(of.at("columnToReplace").string());
  process.let(
      column.name,
      "if(" + condition(process, of.at(key)) + ", " + yes + ", " + no + ")",
      column.kind);
  process.column(column.name).states = column.states;
}

void replace_if(Process& process, const JsonView& of) {
  choose(process, of, constant(value_of_writable(of.at("newValue"))),
         in_formula(of.at("columnToReplace").string()), "condition");
}
void replace_or(Process& process, const JsonView& of) {
  choose(process, of, constant(value_of_writable(of.at("yesVal"))),
         constant(value_of_writable(of.at("noVal"))),
         of.has("condiiton") ? "condiiton" : "condition");  // as DataVec has it
}
void copy_if(Process& process, const JsonView& of) {
  const std::string source = of.at("sourceColumn").string();
  (void)process.column(source);
  choose(process, of, in_formula(source),
         in_formula(of.at("columnToReplace").string()), "condition");
}

void fill_empty(Process& process, const JsonView& of) {
  const std::string name = of.at("columnName").string();
  (void)process.column(name);
  process.step({{"fill", name}, {"with", of.at("value").raw()}});
}
void replace_invalid(Process& process, const JsonView& of) {
  const Column column = process.column(of.at("columnName").string());
  if (!column.is_raw) return fill_empty(process, of);
  process.let(column.name,
              "if(" + is_valid(column) + ", number(" + in_formula(column.name) +
                  "), " + constant(of.at("value").raw()) + ")",
              column.kind);
}

void remove_blanks(Process& process, const JsonView& of) {
  process.step({{"replace", of.at("columnName").string()},
                {"pattern", "\\s"},
                {"by", ""}});
}
// $1 of Java is \1 of ours.
std::string replacement(const std::string& java) {
  std::string made;
  for (std::size_t i = 0; i < java.size(); ++i) {
    const bool is_group = java[i] == '$' && i + 1 < java.size();
    made += is_group          ? "\\"
            : java[i] == '\\' ? "\\\\"
                              : std::string(1, java[i]);
  }
  return made;
}
void replace_texts(Process& process, const JsonView& of) {
  for (const auto& [pattern, by] : of.at("map").raw().items())
    process.step({{"replace", of.at("columnName").string()},
                  {"pattern", pattern},
                  {"by", replacement(of.at("map").at(pattern).string())}});
}
void map_texts(Process& process, const JsonView& of) {
  process.step(
      {{"map", of.at("columnName").string()}, {"values", of.at("map").raw()}});
}
void map_all_but(Process& process, const JsonView& of) {
  std::map<std::string, std::string> values;
  for (const std::string& text : of.at("exceptions").strings())
    values[text] = text;
  process.step({{"map", of.at("columnName").string()},
                {"values", values},
                {"else", of.at("newValue").string()}});
}
void append_text(Process& process, const JsonView& of) {
  const std::string name = of.at("columnName").string();
  process.let(name,
              "concat(" + in_formula(name) + ", " +
                  text_literal(of.at("toAppend").string()) + ")",
              ColumnKind::kText);
}
void change_case(Process& process, const JsonView& of) {
  const std::string name = of.at("column").string();
  const bool is_upper =
      of.has("caseType") && of.at("caseType").string() == "UPPER";
  process.let(name, (is_upper ? "upper(" : "lower(") + in_formula(name) + ")",
              ColumnKind::kText);
}
void join_texts(Process& process, const JsonView& of) {
  const auto names = of.at("columnsToConcatenate").strings();
  std::string text;
  for (const std::string& name : names) {
    (void)process.column(name);
    text += (text.empty()
                 ? ""
                 : ", " + text_literal(of.at("delimiter").string()) + ", ") +
            in_formula(name);
  }
  process.let(of.at("newColumnName").string(), "concat(" + text + ")",
              ColumnKind::kText);
}
void list_to_set(Process& process, const JsonView& of) {
  const std::string name = of.at("columnName").string();
  const std::string mark = of.at("delimiter").string();
  const auto made = of.at("newColumnNames").strings();
  const auto tokens = of.at("categoryTokens").strings();
  if (made.size() != tokens.size())
    of.at("categoryTokens").fail("as many as newColumnNames");
  for (std::size_t i = 0; i < made.size(); ++i)
    process.let(made[i],
                "contains(concat(" + text_literal(mark) + ", " +
                    in_formula(name) + ", " + text_literal(mark) + "), " +
                    text_literal(mark + tokens[i] + mark) + ")",
                ColumnKind::kTruth);
  process.step({{"drop", name}});
  std::erase_if(process.columns,
                [&](const Column& column) { return column.name == name; });
}

void cast_to(Process& process, const JsonView& of, const char* type,
             ColumnKind kind) {
  const std::string name = of.at("columnName").string();
  Column& column = process.column(name);
  process.step({{"cast", name}, {"to", type}});
  column = {name, kind, {}, Json::object(), false};
}

void text_to_time(Process& process, const JsonView& of) {
  const std::string name = of.at("columnName").string();
  if (!of.has("timeFormat")) bad_data("timeFormat is missing");
  if (of.has("timeZone") && of.at("timeZone").string() != "UTC")
    process.note("times of " + in_quotes(of.at("timeZone").string()) +
                 " are read as UTC");
  process.step({{"cast", name},
                {"to", "date"},
                {"format", date_format(of.at("timeFormat").string())}});
  process.column(name) = {name, ColumnKind::kTime, {}, Json::object(), false};
}

std::string days_in_formula(double days) { return constant(Json(days)); }

void time_op(Process& process, const JsonView& of) {
  const Column column = process.column(of.at("columnName").string());
  const std::string op = of.at("mathOp").string();
  if (op != "Add" && op != "Subtract") of.at("mathOp").fail("Add or Subtract");
  process.let(column.name,
              "date(" + in_formula(column.name) + ")" +
                  (op == "Add" ? " + " : " - ") +
                  days_in_formula(days_of(of.at("timeQuantity").number(),
                                          of.at("timeUnit").string())),
              ColumnKind::kTime);
}

void time_parts(Process& process, const JsonView& of) {
  static const std::map<std::string, std::string> kParts = {
      {"year", "year("},
      {"monthOfYear", "month("},
      {"dayOfMonth", "day("},
      {"dayOfYear", "yearday("},
      {"dayOfWeek", "1 + weekday("},
      {"hourOfDay", "hour("},
      {"minuteOfHour", "minute("},
      {"secondOfMinute", "second("}};
  const std::string name = of.at("columnName").string();
  (void)process.column(name);
  const JsonView all = of.at("derivedColumns");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const JsonView one = all.at(i);
    const std::string made = one.at("columnName").string();
    const JsonView type = one.at("fieldType");
    if (type.raw().is_null())
      bad_data("column " + in_quotes(made) +
               ": a date as a text of a format; functions take its parts");
    const std::string part =
        type.raw().is_object() ? type.at("fieldType").string() : type.string();
    const auto found = kParts.find(part);
    if (found == kParts.end())
      bad_data("column " + in_quotes(made) + ": there is no function for " +
               in_quotes(part));
    process.let(made, found->second + in_formula(name) + ")",
                ColumnKind::kInteger);
  }
}

// (x - shift) / scale * factor + add
void scale(Process& process, const JsonView& of, const std::string& formula) {
  process.let(of.at("columnName").string(), formula, ColumnKind::kReal);
}
std::string key(const JsonView& of, const char* name) {
  return constant(Json(of.at(name).number()));
}
std::string its_column(const JsonView& of) {
  return in_formula(of.at("columnName").string());
}

const std::map<std::string, Take, std::less<>>& transforms() {
  static const std::map<std::string, Take, std::less<>> kAll = {
      {"RemoveColumnsTransform", remove_columns},
      {"RemoveAllColumnsExceptForTransform", keep_columns},
      {"RenameColumnsTransform", rename_columns},
      {"ReorderColumnsTransform", reorder_columns},
      {"DuplicateColumnsTransform", duplicate_columns},
      {"AddConstantColumnTransform", add_constant},
      {"IntegerMathOpTransform", number_op},
      {"LongMathOpTransform", number_op},
      {"FloatMathOpTransform", number_op},
      {"DoubleMathOpTransform", number_op},
      {"IntegerColumnsMathOpTransform", columns_op},
      {"LongColumnsMathOpTransform", columns_op},
      {"FloatColumnsMathOpTransform", columns_op},
      {"DoubleColumnsMathOpTransform", columns_op},
      {"FloatMathFunctionTransform", function_of_column},
      {"DoubleMathFunctionTransform", function_of_column},
      {"CategoricalToIntegerTransform", category_to_integer},
      {"CategoricalToOneHotTransform", category_to_one_hot},
      {"IntegerToCategoricalTransform", integer_to_category},
      {"IntegerToOneHotTransform", integer_to_one_hot},
      {"StringToCategoricalTransform", text_to_category},
      {"ConditionalReplaceValueTransform", replace_if},
      {"ConditionalReplaceValueTransformWithDefault", replace_or},
      {"ConditionalCopyValueTransform", copy_if},
      {"ReplaceEmptyIntegerWithValueTransform", fill_empty},
      {"ReplaceInvalidWithIntegerTransform", replace_invalid},
      {"ReplaceEmptyStringTransform", fill_empty},
      {"RemoveWhiteSpaceTransform", remove_blanks},
      {"ReplaceStringTransform", replace_texts},
      {"StringMapTransform", map_texts},
      {"MapAllStringsExceptListTransform", map_all_but},
      {"AppendStringColumnTransform", append_text},
      {"ChangeCaseStringTransform", change_case},
      {"ConcatenateStringColumns", join_texts},
      {"StringListToCategoricalSetTransform", list_to_set},
      {"ConvertToString",
       [](Process& p, const JsonView& of) {
         cast_to(p, of, "text", ColumnKind::kText);
       }},
      {"ConvertToDouble",
       [](Process& p, const JsonView& of) {
         cast_to(p, of, "number", ColumnKind::kReal);
       }},
      {"ConvertToInteger",
       [](Process& p, const JsonView& of) {
         cast_to(p, of, "integer", ColumnKind::kInteger);
       }},
      {"StringToTimeTransform", text_to_time},
      {"TimeMathOpTransform", time_op},
      {"DeriveColumnsFromTimeTransform", time_parts},
      {"MinMaxNormalizer",
       [](Process& p, const JsonView& of) {
         scale(p, of,
               "(" + its_column(of) + " - " + key(of, "min") + ") / (" +
                   key(of, "max") + " - " + key(of, "min") + ") * (" +
                   key(of, "newMax") + " - " + key(of, "newMin") + ") + " +
                   key(of, "newMin"));
       }},
      {"StandardizeNormalizer",
       [](Process& p, const JsonView& of) {
         scale(p, of,
               "(" + its_column(of) + " - " + key(of, "mean") + ") / " +
                   key(of, "stdev"));
       }},
      {"SubtractMeanNormalizer",
       [](Process& p, const JsonView& of) {
         scale(p, of, its_column(of) + " - " + key(of, "mean"));
       }},
      {"Log2Normalizer", [](Process& p, const JsonView& of) {
         scale(p, of,
               key(of, "scalingFactor") + " * log2((" + its_column(of) + " - " +
                   key(of, "columnMin") + ") / (" + key(of, "columnMean") +
                   " - " + key(of, "columnMin") + ") + 1)");
       }}};
  return kAll;
}

}  // namespace

void take_transform(Process& process, const JsonView& object) {
  const auto [name, of] = named(object);
  const auto found = transforms().find(
      name == "ConvertToStringTransform" ? "ConvertToString" : name);
  if (found == transforms().end()) bad_data("there is no step for " + name);
  found->second(process, of);
}

}  // namespace dl::vectorize::datavec
