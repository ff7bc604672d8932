#include "libcore/vectorize/analysis/infer_table.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/analysis/dialect.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

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
  const auto sources = source_types();
  const auto csv = std::ranges::find(sources, "csv", &SourceType::name);
  const auto source = csv->open_with(Inputs{.operands = input.inputs},
                                     RecipeSettings(table.source, csv->keys));
  std::vector<std::string> words = split_list(input.na, "--na");
  std::erase(words, "");
  table.profile = profile_table(*source, std::move(words), bad);
  return table;
}

}  // namespace dl::vectorize
