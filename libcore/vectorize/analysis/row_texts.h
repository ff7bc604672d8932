// Texts of rows that lie together, column by column, so that each column can be
// looked at on its own.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_ROW_TEXTS_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_ROW_TEXTS_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

class RowTexts {
 public:
  struct Cell {
    std::string_view text;  // without the blanks around it
    std::uint64_t digest;   // value_digest() of it
  };
  struct Column {
    std::string name;
    std::vector<Cell> cells;  // of the good rows
  };

  // Reads all of these rows, whose columns are the same, and keeps them, as
  // they may hold the texts.
  explicit RowTexts(std::unique_ptr<RecordSource::Rows> rows);

  std::int64_t rows() const { return std::ssize(digests_); }  // good ones
  const std::vector<Column>& columns() const { return columns_; }
  // Digests of the good rows, which do not depend on the order of the columns.
  const std::vector<std::uint64_t>& digests() const { return digests_; }
  const std::vector<std::string>& problems() const { return problems_; }
  // The input of the first row, "'a.csv'", and its line; "" and 0 without.
  const std::string& input() const { return input_; }
  std::int64_t line() const { return line_; }
  // The error behind these rows, which ends the input; or null.
  const std::exception_ptr& error() const { return error_; }

 private:
  void take(const Record& record);

  std::unique_ptr<RecordSource::Rows> source_;
  TextArena copies_;  // of texts that the rows do not hold
  std::vector<Column> columns_;
  std::vector<std::uint64_t> salts_, digests_;
  std::vector<std::string> problems_;
  std::string input_;
  std::int64_t line_ = 0;
  std::exception_ptr error_;
};

// The next rows of a source whatever it gives, to be read before the next ones
// are asked for unless it gives rows; null at the end.
class NextRows {
 public:
  explicit NextRows(RecordSource& source) : source_(source) {}
  std::unique_ptr<RecordSource::Rows> operator()();

 private:
  class Gathered;

  RecordSource& source_;
  Record ahead_;  // of the next rows
  bool is_ahead_ = false, ended_ = false;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_ROW_TEXTS_H_
