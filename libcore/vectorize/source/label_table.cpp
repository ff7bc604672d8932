// Records with the columns of a table beside those that they have.

#include <algorithm>
#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

class WithTable : public RecordSource {
 public:
  WithTable(std::unique_ptr<RecordSource> source, const std::string& table,
            const std::vector<WantedColumn>& wanted)
      : source_(std::move(source)) {
    CsvTable csv({table}, {}, CsvTable::For::kRecipe);
    name_ = csv.name();
    columns_.assign(csv.names().begin() + 1, csv.names().end());
    std::vector<std::string> all = columns_of_files();
    for (const std::string& column : columns_)
      if (std::ranges::find(all, column) != all.end())
        bad_data(name_ + ": each file has a column " + in_quotes(column) +
                 " already; call that of the table otherwise");
    all.insert(all.end(), columns_.begin(), columns_.end());
    check_columns(wanted, all, name_, Code::kData);
    for (InputBlock block; csv.cut(block, INT64_MAX);) {
      CsvRows rows(block, block.delimiter);
      while (rows.next()) take(rows, csv.names().size());
    }
  }

  bool next(Record& record) override {
    if (!source_->next(record)) return false;
    if (!record.problem.empty()) return true;
    auto row = rows_.find(std::string(record.at("path")));
    if (row == rows_.end()) row = rows_.find(std::string(record.at("name")));
    if (row == rows_.end()) {
      record.problem = "it has no row in " + name_;
      return true;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i)
      (void)record.columns.emplace(columns_[i], row->second[i]);
    return true;
  }
  PassedOver passed_over() const override { return source_->passed_over(); }

 private:
  void take(const CsvRows& csv, std::size_t columns) {
    if (csv.size() != columns)
      bad_data(csv.place() + ": has " + std::to_string(csv.size()) +
               " columns, the header " + std::to_string(columns));
    std::vector<std::string> row;
    for (std::size_t i = 1; i < csv.size(); ++i)
      row.emplace_back(csv_field(csv, i));
    if (!rows_.emplace(csv_field(csv, 0), std::move(row)).second)
      bad_data(csv.place() + ": " + in_quotes(csv_field(csv, 0)) +
               " is there twice");
  }

  std::unique_ptr<RecordSource> source_;
  std::string name_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, std::vector<std::string>> rows_;
};

}  // namespace

std::unique_ptr<RecordSource> with_table(
    std::unique_ptr<RecordSource> source, const std::string& table,
    const std::vector<WantedColumn>& wanted) {
  return std::make_unique<WithTable>(std::move(source), table, wanted);
}

}  // namespace dl::vectorize
