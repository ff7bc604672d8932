// Records of the rows of tables.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/decimal_comma.h"
#include "libcore/vectorize/source/line_records.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/source/thousands.h"
#include "libcore/vectorize/table/word_set.h"

namespace dl::vectorize {
namespace {

// All that rows of one file have in common.
struct CsvFile {
  std::vector<std::string> names;
  std::shared_ptr<const std::string> name;  // of the file
  RecordColumns::Names column_names;        // and the place
  WordSet na;
  bool has_commas = false;                // before decimals
  std::vector<std::string> commas_of;     // in these columns; none: in all
  std::vector<std::string> thousands_of;  // columns with commas between these
  bool has_place = false;                 // as a column
  std::vector<bool> has_comma;            // each column, before decimals
  std::vector<bool> has_thousands;        // each
  std::vector<bool> is_wanted;            // each; none: all are
};

class CsvBlock : public RecordSource::Rows {
 public:
  CsvBlock(std::shared_ptr<const CsvFile> file,
           std::shared_ptr<const InputBlock> block)
      : file_(std::move(file)),
        block_(std::move(block)),
        owner_(block_),
        rows_(*block_, block_->delimiter),
        name_(own_copy(file_->name)),
        column_names_(own_copy(file_->column_names)),
        is_text_(is_utf8(block_->bytes)) {}

  bool next(Record& record) override {
    if (!rows_.next()) return false;
    if (record.input != name_) record.input = name_;
    record.line = rows_.line();
    record.problem.clear();
    record.is_sparse = false;
    std::vector<std::string_view>& fields =
        record.columns.refill(column_names_, owner_);
    if (rows_.size() == file_->names.size()) {
      take_fields(fields, record);
      if (!is_text_) check_text(record);
    } else {
      record.problem = "has " + std::to_string(rows_.size()) +
                       " columns, want " + std::to_string(file_->names.size());
    }
    if (file_->has_place || !record.problem.empty())
      (void)record.columns.emplace(kPlaceColumn,
                                   place_of(rows_.input(), rows_.line()));
    return true;
  }

  std::size_t bytes() const override { return block_->bytes.size(); }

 private:
  // Whether columns that are looked at are text; else the reason why not.
  void check_text(Record& record) const {
    for (std::size_t i = 0; i < file_->names.size(); ++i)
      if ((file_->is_wanted.empty() || file_->is_wanted[i]) &&
          !is_utf8(record.columns.value(i))) {
        record.problem = "column " + in_quotes(file_->names[i]) + ": " +
                         not_utf8("the text", record.columns.value(i));
        return;
      }
  }

  // A word for a missing value becomes an empty text.
  std::string_view field(std::size_t i) const {
    const std::string_view text = csv_field(rows_, i);
    return file_->na.contains(text) ? std::string_view() : text;
  }

  void take_fields(std::vector<std::string_view>& fields,
                   Record& record) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) fields.push_back(field(i));
    // The rows hold a field with doubled quotes until the next row alone.
    const std::string_view text = block_->bytes;
    for (std::size_t i = 0; rows_.has_doubled_quotes() && i < fields.size();
         ++i) {
      const bool is_in_block =
          !std::less<>()(fields[i].data(), text.data()) &&
          !std::less<>()(text.data() + text.size(), fields[i].data());
      if (!is_in_block) record.columns.set(i, std::string(fields[i]));
    }
    for (std::size_t i = 0; file_->has_commas && i < fields.size(); ++i)
      if (file_->has_comma[i]) take_number(i, record);
    for (std::size_t i = 0; !file_->thousands_of.empty() && i < fields.size();
         ++i)
      if (file_->has_thousands[i]) take_thousands(i, record);
  }

  void take_thousands(std::size_t i, Record& record) const {
    const std::string_view text = record.columns.value(i);
    if (text.find(',') == std::string_view::npos) return;
    if (std::string number = without_thousands(text); !number.empty())
      return record.columns.set(i, std::move(number));
    if (has_other_commas(text))
      record.problem = "column " + in_quotes(file_->names[i]) + ": " +
                       in_quotes(text) +
                       " has a comma that separates no thousands, and numbers "
                       "of this column have such commas";
  }

  void take_number(std::size_t i, Record& record) const {
    const std::string_view text = record.columns.value(i);
    if (std::string number = with_decimal_point(text); !number.empty())
      return record.columns.set(i, std::move(number));
    if (has_decimal_point(text))
      record.problem = "column " + in_quotes(file_->names[i]) + ": " +
                       in_quotes(text) +
                       " has a decimal point, and numbers of this " +
                       (file_->commas_of.empty() ? "table" : "column") +
                       " have a decimal comma";
  }

  std::shared_ptr<const CsvFile> file_;
  std::shared_ptr<const InputBlock> block_;
  std::shared_ptr<const void> owner_;  // the same
  CsvRows rows_;
  std::shared_ptr<const std::string> name_;
  RecordColumns::Names column_names_;
  bool is_text_;  // all of the block
};

class CsvSource : public RecordSource {
 public:
  CsvSource(Inputs inputs, const RecipeSettings& settings)
      : wanted_(std::move(inputs.wanted)),
        table_(std::move(inputs.operands),
               {settings.text("delimiter"), settings.flag("header"),
                settings.has("encoding") ? settings.text("encoding") : "",
                std::move(inputs.tell_encoding), inputs.mark_wins},
               CsvTable::For::kRecipe) {
    if (settings.has("na")) file_.na = WordSet(settings.texts("na"));
    file_.has_commas =
        settings.has("decimal") && settings.text("decimal") == ",";
    if (settings.has("decimal_of"))
      file_.commas_of = settings.texts("decimal_of");
    if (settings.has("thousands_of"))
      file_.thousands_of = settings.texts("thousands_of");
    file_.has_place = std::ranges::any_of(
        wanted_, [](const auto& w) { return w.name == kPlaceColumn; });
    take_names();
  }

  bool gives_rows() const override { return true; }
  std::unique_ptr<Rows> next_rows(std::int64_t most) override {
    auto block = std::make_shared<InputBlock>();
    if (!table_.cut(*block, most)) return nullptr;
    if (block->first) take_names();
    return std::make_unique<CsvBlock>(shared_, std::move(block));
  }

  bool next(Record& record) override {
    for (record = {}; !rows_ || !rows_->next(record);)
      if (!(rows_ = next_rows(INT64_MAX))) return false;
    return true;
  }

  std::vector<std::string> columns() const override { return file_.names; }

 private:
  // Takes the columns of the file that comes.
  void take_names() {
    file_.names = table_.names();
    for (std::size_t i = 0; i < file_.names.size(); ++i)
      if (!table_.has_header()) file_.names[i] = std::to_string(i + 1);
    file_.column_names =
        names_of_columns(file_.names, table_.name(), "two columns");
    file_.name = std::make_shared<const std::string>(table_.name());
    check_columns(wanted_, file_.column_names->all(), table_.name(),
                  Code::kData);
    const auto marked = [&](std::vector<bool>& each, const std::string& name) {
      if (const auto place = file_.column_names->find(name);
          place && *place < each.size())
        each[*place] = true;
    };
    file_.has_comma.assign(file_.names.size(),
                           file_.has_commas && file_.commas_of.empty());
    file_.has_thousands.assign(file_.names.size(), false);
    for (const std::string& name : file_.commas_of) {
      marked(file_.has_comma, name);
      refuse_misspelled(name, "decimal_of");
    }
    for (const std::string& name : file_.thousands_of) {
      marked(file_.has_thousands, name);
      refuse_misspelled(name, "thousands_of");
    }
    file_.is_wanted.assign(wanted_.empty() ? 0 : file_.names.size(), false);
    for (const WantedColumn& wanted : wanted_)
      marked(file_.is_wanted, wanted.name);
    shared_ = std::make_shared<const CsvFile>(file_);
  }

  // A column that was misspelled would have numbers that are off by thousands.
  void refuse_misspelled(const std::string& name, const char* key) const {
    const std::string near =
        file_.column_names->find(name) ? "" : nearest(name, file_.names);
    if (!near.empty())
      bad_data(table_.name() + " has no column " + in_quotes(name) + " of \"" +
               key + "\"; did you mean " + in_quotes(near) + "?");
  }

  std::vector<WantedColumn> wanted_;
  CsvTable table_;
  CsvFile file_;
  std::shared_ptr<const CsvFile> shared_;
  std::unique_ptr<Rows> rows_;  // of next()
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
