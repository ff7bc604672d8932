// Records of the rows of tables.

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/decimal_comma.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/table/word_set.h"

namespace dl::vectorize {
namespace {

class CsvSource : public RecordSource {
 public:
  CsvSource(Inputs inputs, const RecipeSettings& settings)
      : wanted_(std::move(inputs.wanted)),
        table_(std::move(inputs.operands),
               {settings.text("delimiter"), settings.flag("header"),
                settings.has("encoding") ? settings.text("encoding") : "",
                std::move(inputs.log)},
               CsvTable::For::kRecipe),
        na_(settings.has("na") ? WordSet(settings.texts("na")) : WordSet()),
        has_commas_(settings.has("decimal") && settings.text("decimal") == ","),
        commas_of_(settings.has("decimal_of") ? settings.texts("decimal_of")
                                              : std::vector<std::string>{}),
        has_place_(std::ranges::any_of(
            wanted_, [](const auto& w) { return w.name == kPlaceColumn; })) {
    take_names();
  }

  bool next(Record& record) override {
    while (!rows_ || !rows_->next()) {
      rows_.reset();
      block_ = std::make_shared<InputBlock>();
      if (!table_.cut(*block_, INT64_MAX)) return false;
      is_text_ = is_utf8(block_->bytes);
      if (block_->first) take_names();
      rows_.emplace(*block_, block_->delimiter);
    }
    record = {};
    record.input = name_;
    record.line = rows_->line();
    if (rows_->size() == names_.size()) {
      take_fields(record);
      if (!is_text_) check_text(record);
    } else {
      record.problem = "has " + std::to_string(rows_->size()) +
                       " columns, want " + std::to_string(names_.size());
    }
    if (has_place_ || !record.problem.empty())
      (void)record.columns.emplace(kPlaceColumn,
                                   place_of(rows_->input(), rows_->line()));
    return true;
  }

  std::vector<std::string> columns() const override { return names_; }

 private:
  // Whether columns that are looked at are text; else the reason why not.
  void check_text(Record& record) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if ((is_wanted_.empty() || is_wanted_[i]) &&
          !is_utf8(record.columns.value(i))) {
        record.problem = "column " + in_quotes(names_[i]) + ": " +
                         not_utf8("the text", record.columns.value(i));
        return;
      }
  }

  // A word for a missing value becomes an empty text.
  std::string_view field(std::size_t i) const {
    const std::string_view text = csv_field(*rows_, i);
    return na_.contains(text) ? std::string_view() : text;
  }

  void take_fields(Record& record) const {
    std::vector<std::string_view> fields;
    fields.reserve(names_.size() + 1);
    for (std::size_t i = 0; i < names_.size(); ++i) fields.push_back(field(i));
    record.columns = RecordColumns(column_names_, std::move(fields), block_);
    const std::string_view text = block_->bytes;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string_view field = record.columns.value(i);
      // The rows hold a field with doubled quotes until the next row alone.
      const bool is_in_block =
          !std::less<>()(field.data(), text.data()) &&
          !std::less<>()(text.data() + text.size(), field.data());
      if (!is_in_block) record.columns.set(i, std::string(field));
      if (has_comma_[i]) take_number(i, record);
    }
  }

  void take_number(std::size_t i, Record& record) const {
    const std::string_view text = record.columns.value(i);
    if (std::string number = with_decimal_point(text); !number.empty())
      return record.columns.set(i, std::move(number));
    if (has_decimal_point(text))
      record.problem =
          "column " + in_quotes(names_[i]) + ": " + in_quotes(text) +
          " has a decimal point, and numbers of this " +
          (commas_of_.empty() ? "table" : "column") + " have a decimal comma";
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
    columns.emplace_back(kPlaceColumn);
    column_names_ = std::make_shared<const ColumnNames>(columns);
    name_ = std::make_shared<const std::string>(table_.name());
    check_columns(wanted_, columns, table_.name(), Code::kData);
    has_comma_.assign(names_.size(), has_commas_ && commas_of_.empty());
    for (const std::string& name : commas_of_)
      if (const auto place = column_names_->find(name);
          place && *place < has_comma_.size())
        has_comma_[*place] = true;
    is_wanted_.assign(wanted_.empty() ? 0 : names_.size(), false);
    for (const WantedColumn& wanted : wanted_)
      if (const auto place = column_names_->find(wanted.name);
          place && *place < is_wanted_.size())
        is_wanted_[*place] = true;
  }

  std::vector<WantedColumn> wanted_;
  CsvTable table_;
  WordSet na_;
  bool has_commas_;                     // in numbers
  std::vector<std::string> commas_of_;  // these columns; none: all
  bool has_place_;                      // as a column
  std::vector<std::string> names_;
  std::vector<bool> has_comma_;              // each
  std::vector<bool> is_wanted_;              // each; none: all are
  std::shared_ptr<const std::string> name_;  // of the file
  RecordColumns::Names column_names_;        // and the place
  std::shared_ptr<InputBlock> block_;
  bool is_text_ = true;  // all of the block
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
