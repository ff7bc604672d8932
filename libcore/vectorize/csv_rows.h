// Rows of a CSV file as RFC 4180 has them: quoted fields may hold delimiters,
// doubled quotes and line breaks.  Empty lines are passed over; lines end in LF
// or CR LF.  A first line sep=; gives the delimiter, as for spreadsheets.

#ifndef DL_LIBCORE_VECTORIZE_CSV_ROWS_H_
#define DL_LIBCORE_VECTORIZE_CSV_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/raw_input.h"

namespace dl::vectorize {

class CsvRows {
 public:
  // input: of text, at its start.
  CsvRows(RawInput& input, char delimiter);

  // Reads the next row; false at the end of the input.
  // Throws Error: kData, "'a.csv', line 7: a quoted field is not closed"; the
  // row is over RawInput::kMaxLine, or has more than kMaxColumns; the first one
  // has a CR that ends no line.
  bool next();

  std::size_t size() const { return ends_.size(); }
  // Field i, unquoted.  Valid until next().
  std::string_view field(std::size_t i) const;
  std::int64_t line() const { return row_line_; }  // where the row starts

 private:
  void read_quoted();
  void add(int c);
  void end_field();
  [[noreturn]] void fail(const std::string& what) const;

  RawInput& input_;
  char delimiter_;
  std::string text_;               // the fields, one after the other
  std::vector<std::size_t> ends_;  // where each ends in text_
  std::int64_t line_ = 1, row_line_ = 1;
  bool first_ = true;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_ROWS_H_
