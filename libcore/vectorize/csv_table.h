// The rows of one or more CSV files that have the same columns.

#ifndef DL_LIBCORE_VECTORIZE_CSV_TABLE_H_
#define DL_LIBCORE_VECTORIZE_CSV_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/raw_input.h"

namespace dl::vectorize {

class CsvTable {
 public:
  // inputs: source specs, one at least.  delimiter: as the option has it.
  // header: the first row of each file names the columns.
  // Throws Error: kUsage, the delimiter is none; kNoInput; kData, an input is
  // empty, or seems to have another delimiter or encoding.
  CsvTable(std::vector<std::string> inputs, const std::string& delimiter,
           bool header);

  // Goes to the next row; false at the end of the last input.
  // Throws Error: kData, what CsvRows throws; another header.
  bool next();
  // The current row comes once more from next().
  void unread() { pending_ = true; }

  std::size_t size() const { return rows_->size(); }  // of the current row
  // Field i of it without the blanks around it.  Valid until next().
  std::string_view field(std::size_t i) const;
  // Whether it is the first row of its file that has data, or, without a
  // header, names that were meant to be one.
  bool is_first() const { return row_ == (header_ ? 2 : 1); }

  // Names of the columns; "" without a header.
  const std::vector<std::string>& names() const { return names_; }
  bool has_header() const { return header_; }
  // The column that a name, or a number from 1 (-1: the last), means.
  // Throws Error: kUsage, there is none, or more than one has the name;
  // `option` asked for it, in_list: as one of several.
  std::size_t find(const std::string& word, const char* option,
                   bool in_list) const;

  // Where a row is: the file's number and the line.
  struct Place {
    std::uint32_t file;
    std::int64_t line;
  };
  Place here() const;  // of the current row
  std::string place(const Place& place) const;
  std::string place() const { return place(here()); }  // "'a.csv', line 7"
  // "'a.csv', line 7, column 3 ('age'): "
  std::string place(std::size_t column) const;
  const std::string& name() const { return opened_.back(); }

 private:
  void open_next();
  void read_header();
  void check_delimiter() const;
  bool next_row();

  std::vector<std::string> inputs_;
  char delimiter_;
  bool header_;
  std::vector<std::string> opened_;  // the names of those that were opened
  std::unique_ptr<RawInput> input_;
  std::optional<CsvRows> rows_;
  std::int64_t row_ = 0;  // of the current file, from 1
  bool pending_ = false;  // rows_ holds a row that next() is still to give
  std::vector<std::string> names_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_TABLE_H_
