// Records of the rows of tables.

#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/decimal_comma.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

class CsvSource : public RecordSource {
 public:
  CsvSource(Inputs inputs, const RecipeSettings& settings)
      : wanted_(std::move(inputs.wanted)),
        table_(std::move(inputs.operands), settings.text("delimiter"),
               settings.flag("header"), CsvTable::For::kRecipe),
        has_commas_(settings.has("decimal") &&
                    settings.text("decimal") == ",") {
    take_names();
  }

  bool next(Record& record) override {
    while (!rows_ || !rows_->next()) {
      rows_.reset();
      if (!table_.cut(block_, INT64_MAX)) return false;
      if (block_.first) take_names();
      rows_.emplace(block_, block_.delimiter);
    }
    record = {};
    record.name = rows_->place();
    record.columns.emplace("file:line",
                           place_of(rows_->input(), rows_->line()));
    if (rows_->size() != names_.size())
      record.problem = "has " + std::to_string(rows_->size()) +
                       " columns, want " + std::to_string(names_.size());
    else
      for (std::size_t i = 0; i < names_.size(); ++i)
        record.columns.emplace(names_[i], field(i, record.problem));
    return true;
  }

  std::vector<std::string> columns() const override { return names_; }

 private:
  std::string field(std::size_t i, std::string& problem) const {
    const std::string_view text = csv_field(*rows_, i);
    if (!has_commas_) return std::string(text);
    if (std::string number = with_decimal_point(text); !number.empty())
      return number;
    if (has_decimal_point(text))
      problem = "column " + in_quotes(names_[i]) + ": " + in_quotes(text) +
                " has a decimal point, and numbers of this table have a "
                "decimal comma";
    return std::string(text);
  }

  // Takes the columns of the file that comes.
  void take_names() {
    names_ = table_.names();
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (!table_.has_header()) names_[i] = std::to_string(i + 1);
    std::set<std::string> seen;
    for (const std::string& name : names_)
      if (!name.empty() && !seen.insert(name).second)
        bad_data(table_.name() + " has two columns " + in_quotes(name) +
                 ", and a recipe finds them by name: rename one");
    std::vector<std::string> columns = names_;
    columns.emplace_back("file:line");
    check_columns(wanted_, columns, table_.name(), Code::kData);
  }

  std::vector<WantedColumn> wanted_;
  CsvTable table_;
  bool has_commas_;  // in numbers
  std::vector<std::string> names_;
  InputBlock block_;
  std::optional<CsvRows> rows_;
};

}  // namespace

std::string place_of(std::string_view input, std::int64_t line) {
  if (input.starts_with('\'') && input.size() > 1)
    input = input.substr(1, input.size() - 2);
  return std::string(input) + ":" + std::to_string(line);
}

std::unique_ptr<RecordSource> open_csv_source(Inputs inputs,
                                              const RecipeSettings& settings) {
  if (inputs.operands.empty()) inputs.operands = {"-"};
  return std::make_unique<CsvSource>(std::move(inputs), settings);
}

}  // namespace dl::vectorize
