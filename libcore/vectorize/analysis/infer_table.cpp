#include "libcore/vectorize/analysis/infer_table.h"

#include <sys/stat.h>

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/io/standard_input_file.h"
#include "libcore/vectorize/analysis/dialect.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/source/encoding.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

namespace {

Json source_of_database(const TableInput& input) {
  if (input.query.empty() == input.table.empty())
    bad_usage(
        in_quotes(input.inputs[0]) +
        " is an SQLite database: want either --table NAME or --query SQL");
  if (!input.delimiter.empty() || !input.decimal.empty() ||
      !input.encoding.empty() || !input.widths.empty())
    bad_usage("--delimiter, --decimal, --encoding and --widths are for text");
  if (input.inputs[0] == io::kStandardInputFile)
    bad_usage(
        "SQLite reads a database at any place of it: want a file, got "
        "standard input");
  Json source = {{"type", "sqlite"}};
  if (input.query.empty())
    source["table"] = input.table;
  else
    source["query"] = input.query;
  return source;
}

std::string of_columns(const std::vector<std::string>& columns) {
  std::string of;
  for (const std::string& column : columns)
    of += (of.empty() ? " of " : ", ") + in_quotes(column);
  return of;
}

void find_number_style(const TableInput& input, const std::string& delimiter,
                       InferredTable& table) {
  if (input.decimal == ",") {
    table.source["decimal"] = ",";
    return;
  }
  const CommaColumns found =
      find_commas(input.inputs[0], delimiter, input.encoding,
                  delimiter != "," && input.decimal.empty());
  if (!found.thousands.empty()) {
    table.source["thousands_of"] = found.thousands;
    table.sentences.push_back("numbers" + of_columns(found.thousands) +
                              " have a comma between thousands, as 1,234.5");
  }
  if (found.decimals.empty()) return;
  table.source["decimal"] = ",";
  if (!found.are_in_all) table.source["decimal_of"] = found.decimals;
  table.sentences.push_back(
      "numbers" + (found.are_in_all ? "" : of_columns(found.decimals)) +
      " have a decimal comma, as 3,14");
}

// How CSV is written.
void find_dialect(const TableInput& input, InferredTable& table) {
  table.source = {{"type", "csv"}};
  const std::string delimiter =
      input.delimiter.empty() ? find_delimiter(input.inputs[0], input.encoding)
                              : input.delimiter;
  if (delimiter != ",") table.source["delimiter"] = delimiter;
  if (delimiter != "," && input.delimiter.empty())
    table.sentences.push_back("columns are separated by " +
                              in_quotes(delimiter));
  find_number_style(input, delimiter, table);
}

// Columns of so many characters each, "name:10,age:3" or "10,3".
Json source_of_widths(const std::string& list) {
  Json source = {{"type", "fixed"}, {"widths", Json::array()}};
  for (const std::string& word : split_list(list, "--widths")) {
    const std::size_t colon = word.rfind(':');
    std::int64_t width = 0;
    constexpr std::int64_t kWidest = 65536;
    if (!parse_integer(word.substr(colon + 1), width) || width < 1 ||
        width > kWidest)
      bad_usage("--widths: want WIDTH,... or NAME:WIDTH,..., 1 to " +
                std::to_string(kWidest) + ", got " + in_quotes(word));
    source["widths"].push_back(width);
    if (colon != std::string::npos)
      source["names"].push_back(word.substr(0, colon));
  }
  if (source.contains("names") &&
      source["names"].size() != source["widths"].size())
    bad_usage("--widths: want a name for each width, or for none");
  return source;
}

void find_source(const TableInput& input, InferredTable& table) {
  const std::string& file = input.inputs[0];
  if (is_sqlite(file)) {
    table.source = source_of_database(input);
    return;
  }
  if (!input.query.empty() || !input.table.empty())
    bad_usage("--query and --table are for SQLite, and " + in_quotes(file) +
              " is no database of it");
  if (!input.encoding.empty()) check_encoding(input.encoding);
  const bool is_weka = input.widths.empty() && is_arff(file, input.encoding);
  if (!input.widths.empty() || is_weka) {
    if (!input.delimiter.empty() || !input.decimal.empty())
      bad_usage("--delimiter and --decimal are for CSV");
    table.source =
        is_weka ? Json{{"type", "arff"}} : source_of_widths(input.widths);
    if (is_weka) table.sentences.push_back(in_quotes(file) + " is ARFF");
  } else {
    find_dialect(input, table);
  }
  if (!input.encoding.empty()) table.source["encoding"] = input.encoding;
}

// Rows are read more than once.
void check_files(const std::vector<std::string>& inputs) {
  constexpr const char* kWhy =
      "a table is read more than once, to see what its columns hold: want "
      "files";
  if (inputs.empty()) bad_usage(kWhy);
  for (const std::string& file : inputs) {
    struct stat status {};
    const bool is_there =
        io::names_file(file) && ::stat(file.c_str(), &status) == 0;
    if (io::names_file(file) && (!is_there || !S_ISFIFO(status.st_mode)))
      continue;
    bad_usage(std::string(kWhy) + ", got " + in_quotes(file) +
              "; standard input is kept in a file meanwhile: COMMAND | "
              "dl-preprocess ... -");
  }
}

}  // namespace

std::unique_ptr<RecordSource> open_table(const std::vector<std::string>& inputs,
                                         const Json& source,
                                         const Log& tell_encoding) {
  const auto sources = source_types();
  const auto type = std::ranges::find(
      sources, source.at("type").get<std::string>(), &SourceType::name);
  return type->open_with(
      Inputs{.operands = inputs, .tell_encoding = tell_encoding},
      RecipeSettings(source, type->keys));
}

InferredTable infer_table(const TableInput& input, BadRecords& bad) {
  check_files(input.inputs);
  InferredTable table;
  find_source(input, table);
  const auto source = open_table(
      input.inputs, table.source,
      [&](Level, const std::string& line) { table.sentences.push_back(line); });
  std::vector<std::string> words = split_list(input.na, "--na");
  std::erase(words, "");
  table.profile = profile_table(*source, std::move(words), bad, input.threads);
  return table;
}

}  // namespace dl::vectorize
