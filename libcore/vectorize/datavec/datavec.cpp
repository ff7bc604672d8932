#include "libcore/vectorize/datavec/datavec.h"

#include <algorithm>
#include <map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/datavec/process.h"
#include "libcore/vectorize/recipe/recipe.h"

namespace dl::vectorize {
namespace datavec {
namespace {

Column column_of(const JsonView& metadata) {
  static const std::map<std::string, ColumnKind, std::less<>> kKinds = {
      {"Integer", ColumnKind::kInteger}, {"Long", ColumnKind::kInteger},
      {"Double", ColumnKind::kReal},     {"Float", ColumnKind::kReal},
      {"String", ColumnKind::kText},     {"Categorical", ColumnKind::kCategory},
      {"Time", ColumnKind::kTime},       {"Boolean", ColumnKind::kTruth}};
  const auto [name, of] = named(metadata);
  std::string kind = name;
  if (kind.ends_with("MetaData")) kind.resize(kind.size() - 8);
  const auto found = kKinds.find(kind);
  if (found == kKinds.end())
    bad_data("a column of the type " + in_quotes(kind) + " is not read");
  Column column{of.at("name").string(), found->second};
  if (of.has("stateNames")) column.states = of.at("stateNames").strings();
  column.bounds = of.raw();
  return column;
}

// The reduction of ours, or "".
std::string reduction(const std::string& op, const std::string& column) {
  static const std::map<std::string, std::string, std::less<>> kOps = {
      {"Sum", "sum"},      {"Mean", "mean"},           {"Min", "min"},
      {"Max", "max"},      {"Prod", "prod"},           {"Stdev", "std"},
      {"Variance", "var"}, {"CountUnique", "nunique"}, {"TakeFirst", "first"},
      {"TakeLast", "last"}};
  if (op == "Count") return "count()";
  const auto found = kOps.find(op);
  if (found == kOps.end())
    bad_data("there is no reduction " + in_quotes(op) + " in group_by");
  return found->second + "(" + in_formula(column) + ")";
}

ColumnKind kind_of_reduction(const std::string& op, ColumnKind own) {
  if (op == "Count" || op == "CountUnique") return ColumnKind::kInteger;
  if (op == "TakeFirst" || op == "TakeLast" || op == "Min" || op == "Max" ||
      op == "Sum" || op == "Prod")
    return own;
  return ColumnKind::kReal;
}

std::string small_letters(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Numbers as they are, words as one-hot, dates as days; texts are left out.
Json tensors_of_columns(Process& process) {
  Json features = Json::array();
  std::string left;
  for (const Column& column : process.columns) {
    switch (column.kind) {
      case ColumnKind::kInteger:
      case ColumnKind::kReal:
      case ColumnKind::kTruth:
        if (!features.empty() && features.back()["type"] == "number")
          features.back()["from"].push_back(column.name);
        else
          features.push_back({{"type", "number"}, {"from", {column.name}}});
        break;
      case ColumnKind::kCategory:
        features.push_back({{"type", "category"},
                            {"from", column.name},
                            {"encode", "one_hot"}});
        if (!column.states.empty()) features.back()["classes"] = column.states;
        break;
      case ColumnKind::kTime:
        features.push_back({{"type", "date"}, {"from", column.name}});
        break;
      case ColumnKind::kText:
        left += (left.empty() ? "" : ", ") + in_quotes(column.name);
        break;
    }
  }
  if (!left.empty()) process.note("columns of texts are in no tensor: " + left);
  if (features.empty()) bad_data("no column is left to make features of");
  return {{"features", features}};
}

}  // namespace

void take_reducer(Process& process, const JsonView& object) {
  const auto [name, of] = named(object);
  if (name != "Reducer") bad_data("there is no step for " + name);
  for (const char* other : {"customReductions", "conditionalReductions"})
    if (of.has(other) && !of.at(other).raw().empty())
      bad_data(std::string(other) + " are not read");
  const auto keys = of.at("keyColumns").strings();
  std::vector<Column> made;
  Json take = Json::object();
  for (const Column& column : process.columns) {
    if (std::ranges::find(keys, column.name) != keys.end()) {
      made.push_back(column);
      continue;
    }
    std::vector<std::string> ops = {of.at("defaultOp").string()};
    if (of.at("opMap").has(column.name)) {
      const JsonView own = of.at("opMap").at(column.name);
      ops = own.raw().is_array() ? own.strings() : std::vector{own.string()};
    }
    for (const std::string& op : ops) {
      const std::string result = small_letters(op) + "(" + column.name + ")";
      take[result] = reduction(op, column.name);
      made.push_back({result, kind_of_reduction(op, column.kind), column.states,
                      Json::object(), false});
    }
  }
  process.step({{"group_by", keys}, {"take", take}});
  process.columns = std::move(made);
  process.note(
      "reductions pass missing values over, and first and last take the "
      "first and last that are there");
}

}  // namespace datavec

DataVecRecipe recipe_of_datavec(const Json& json, const std::string& name) {
  using datavec::Process;
  const JsonView all(json, Code::kData);
  if (!json.is_object() || !json.contains("initialSchema") ||
      !json.contains("actionList"))
    bad_data(name +
             " is no TransformProcess of DataVec: it has no \"initialSchema\" "
             "and \"actionList\"");
  Process process;
  std::string problems;
  const auto attempt = [&](const std::string& path, const auto& work) {
    try {
      work();
    } catch (const Error& e) {
      if (e.code() != Code::kData) throw;
      problems +=
          (problems.empty() ? "" : "\n") + name + ": " + path + ": " + e.what();
    }
  };
  std::map<std::string, std::string> names;
  attempt("initialSchema", [&] {
    const JsonView columns =
        datavec::named(all.at("initialSchema")).of.at("columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      process.columns.push_back(datavec::column_of(columns.at(i)));
      names[std::to_string(i + 1)] = process.columns.back().name;
    }
  });
  if (!problems.empty()) bad_data(problems);
  process.step({{"rename", names}});
  const JsonView actions = all.at("actionList");
  for (std::size_t i = 0; i < actions.size(); ++i)
    attempt("actionList[" + std::to_string(i) + "]", [&] {
      const JsonView action = actions.at(i);
      if (action.has("transform"))
        take_transform(process, action.at("transform"));
      else if (action.has("filter"))
        take_filter(process, action.at("filter"));
      else if (action.has("reducer"))
        take_reducer(process, action.at("reducer"));
      else
        bad_data("there is no step for " +
                 (action.raw().is_object() && !action.raw().empty()
                      ? action.raw().begin().key()
                      : dump_json(action.raw())));
    });
  if (!problems.empty()) bad_data(problems);
  DataVecRecipe made;
  made.recipe = {{"version", 1},
                 {"source", {{"type", "csv"}, {"header", false}}},
                 {"steps", process.steps},
                 {"tensors", datavec::tensors_of_columns(process)}};
  made.notes = std::move(process.notes);
  (void)Recipe::from_json(made.recipe, "the recipe of " + name, Code::kData);
  return made;
}

}  // namespace dl::vectorize
