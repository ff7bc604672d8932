// Records of the rows of tables.

#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

class CsvSource : public RecordSource {
 public:
  CsvSource(std::vector<std::string> inputs, const RecipeSettings& settings)
      : first_(inputs.front() == "-" ? "standard input"
                                     : in_quotes(inputs.front())),
        table_(std::move(inputs), settings.text("delimiter"),
               settings.flag("header")),
        names_(table_.names()) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (!table_.has_header()) names_[i] = std::to_string(i + 1);
    std::set<std::string> seen;
    for (const std::string& name : names_)
      if (!name.empty() && !seen.insert(name).second)
        bad_data(first_ + " has two columns " + in_quotes(name) +
                 ", and a recipe finds them by name: rename one");
  }

  bool next(Record& record) override {
    while (!rows_ || !rows_->next()) {
      rows_.reset();
      if (!table_.cut(block_, INT64_MAX)) return false;
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
        record.columns.emplace(names_[i], csv_field(*rows_, i));
    return true;
  }

 private:
  std::string first_;  // input, whose header is that of all
  CsvTable table_;
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

std::unique_ptr<RecordSource> open_csv_source(std::vector<std::string> operands,
                                              const RecipeSettings& settings) {
  if (operands.empty()) operands = {"-"};
  return std::make_unique<CsvSource>(std::move(operands), settings);
}

}  // namespace dl::vectorize
