#include "libcore/vectorize/analysis/infer_table.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/analysis/dialect.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

namespace {

Json source_of_database(const TableInput& input) {
  if (input.query.empty() == input.table.empty())
    bad_usage(
        in_quotes(input.inputs[0]) +
        " is an SQLite database: want either --table NAME or --query SQL");
  if (!input.delimiter.empty() || !input.decimal.empty())
    bad_usage("--delimiter and --decimal are for CSV");
  Json source = {{"type", "sqlite"}};
  if (input.query.empty())
    source["table"] = input.table;
  else
    source["query"] = input.query;
  return source;
}

// How CSV is written.
void find_dialect(const TableInput& input, InferredTable& table) {
  if (!input.query.empty() || !input.table.empty())
    bad_usage("--query and --table are for SQLite, and " +
              in_quotes(input.inputs[0]) + " is no database of it");
  table.source = {{"type", "csv"}};
  const std::string delimiter = input.delimiter.empty()
                                    ? find_delimiter(input.inputs[0])
                                    : input.delimiter;
  if (delimiter != ",") table.source["delimiter"] = delimiter;
  if (delimiter != "," && input.delimiter.empty())
    table.sentences.push_back("columns are separated by " +
                              in_quotes(delimiter));
  if (input.decimal.empty() ? has_decimal_commas(input.inputs[0], delimiter)
                            : input.decimal == ",") {
    table.source["decimal"] = ",";
    if (input.decimal.empty())
      table.sentences.emplace_back("numbers have a decimal comma, as 3,14");
  }
}

}  // namespace

InferredTable infer_table(const TableInput& input, BadRecords& bad) {
  constexpr const char* kWhy =
      "a table is read more than once, to see what its columns hold: want "
      "files";
  for (const std::string& file : input.inputs)
    if (!io::names_file(file))
      bad_usage(std::string(kWhy) + ", got " + in_quotes(file) +
                "; write it to a file first");
  if (input.inputs.empty()) bad_usage(kWhy);
  InferredTable table;
  const bool is_database = is_sqlite(input.inputs[0]);
  if (is_database)
    table.source = source_of_database(input);
  else
    find_dialect(input, table);
  const auto sources = source_types();
  const auto type = std::ranges::find(
      sources, table.source["type"].get<std::string>(), &SourceType::name);
  const auto source = type->open_with(Inputs{.operands = input.inputs},
                                      RecipeSettings(table.source, type->keys));
  std::vector<std::string> words = split_list(input.na, "--na");
  std::erase(words, "");
  table.profile = profile_table(*source, std::move(words), bad);
  return table;
}

}  // namespace dl::vectorize
