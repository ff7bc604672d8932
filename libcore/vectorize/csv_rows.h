// Rows of CSV text as RFC 4180 has them: quoted fields may hold delimiters,
// doubled quotes and line breaks.  Empty lines are passed over; lines end in LF
// or CR LF.

#ifndef DL_LIBCORE_VECTORIZE_CSV_ROWS_H_
#define DL_LIBCORE_VECTORIZE_CSV_ROWS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/block_reader.h"

namespace dl::vectorize {

class CsvRows {
 public:
  // The rows of a block of whole rows, which outlives them.
  CsvRows(const InputBlock& block, char delimiter);

  // Reads the next row; false at the end of the block.
  // Throws Error: kData, "'a.csv', line 7: a quoted field is not closed"; the
  // row is over RawInput::kMaxLine, or has more than kMaxColumns; the first one
  // of a file has a CR that ends no line.
  bool next();

  std::size_t size() const { return fields_.size(); }
  // Field i in the order of the table, unquoted.  Valid until next().
  std::string_view field(std::size_t i) const { return fields_[i]; }
  // Where the file has column i of the table.
  std::size_t own_column(std::size_t i) const {
    return block_.order ? (*block_.order)[i] : i;
  }
  std::int64_t line() const { return row_line_; }  // where the row starts
  // Whether fields of the row lie outside the block, until next().
  bool has_doubled_quotes() const { return !with_quotes_.empty(); }
  // Whether it is the first row of its file that has data, or, without a
  // header, names that were meant to be one.
  bool is_first() const { return block_.first && rows_ == 1; }
  // Whether an empty line is before the row; at the end, behind the last one.
  bool is_behind_empty() const { return is_behind_empty_; }
  std::string place() const;  // "'a.csv', line 7"
  const InputBlock& block() const { return block_; }
  const std::string& input() const { return block_.name; }

 private:
  bool take_field();
  std::size_t next_stop();
  std::uint64_t stops_from(std::size_t at) const;
  void put_in_order();
  void take_quoted();
  std::string_view closed(std::size_t end);
  void add(std::string_view text);
  bool ends_line(std::size_t at) const;
  bool is_blank(std::size_t at) const;
  [[noreturn]] void fail(const std::string& what) const;

  const InputBlock& block_;
  std::string_view text_;
  char delimiter_;
  std::array<bool, 256> stops_{};  // bytes that end a run of plain text
  // Stops among the 64 bytes from `seen_` on, a bit each.
  std::uint64_t seen_stops_ = 0;
  std::size_t seen_ = 0, seen_end_ = 0;
  std::size_t at_ = 0;
  std::vector<std::string_view> fields_, as_read_;
  std::size_t bytes_ = 0;                // of the fields
  std::deque<std::string> with_quotes_;  // fields that had doubled quotes
  std::int64_t line_, row_line_ = 0, rows_ = 0;
  bool is_behind_empty_ = false;
};

// The rows of a block.  Throws Error: as next().
std::int64_t count_csv_rows(const InputBlock& block);

// The end of the row that begins at `from`, behind its newline; npos if it does
// not end in the text.
std::size_t csv_row_end(std::string_view text, std::size_t from,
                        char delimiter);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_ROWS_H_
