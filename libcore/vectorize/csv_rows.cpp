#include "libcore/vectorize/csv_rows.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {

CsvRows::CsvRows(RawInput& input, char delimiter)
    : input_(input), delimiter_(delimiter) {
  constexpr std::string_view kSeparator = "sep=";
  std::string_view line = input.ahead();
  if (!line.starts_with(kSeparator)) return;
  line = line.substr(0, line.find_first_of("\r\n"));
  if (line.size() != kSeparator.size() + 1) return;
  delimiter_ = line.back();
  for (std::size_t i = 0; i < kSeparator.size() + 1; ++i) input.get();
}

void CsvRows::fail(const std::string& what) const {
  throw Error{Code::kData, input_.name() + ", line " +
                               std::to_string(row_line_) + ": " + what};
}

void CsvRows::add(int c) {
  if (c == '\0') fail("has a zero byte; is it text?");
  if (text_.size() == RawInput::kMaxLine) fail("a row is over 64 MiB");
  text_ += static_cast<char>(c);
}

void CsvRows::end_field() {
  if (std::cmp_equal(ends_.size(), kMaxColumns))
    fail("has more than " + std::to_string(kMaxColumns) + " columns");
  ends_.push_back(text_.size());
}

std::string_view CsvRows::field(std::size_t i) const {
  std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

// After the opening quote, up to the closing one.
void CsvRows::read_quoted() {
  for (;;) {
    int c = input_.get();
    if (c < 0) fail("a quoted field is not closed");
    if (c == '"') {
      if (input_.peek() != '"') return;
      input_.get();
    }
    if (c == '\n') ++line_;
    add(c);
  }
}

bool CsvRows::next() {
  while (input_.peek() == '\n' || input_.peek() == '\r')
    if (input_.get() == '\n') ++line_;
  if (input_.peek() < 0) return false;
  text_.clear();
  ends_.clear();
  row_line_ = line_;
  bool fresh = true;    // nothing of the field but blanks was read yet
  bool quoted = false;  // a quoted field is complete
  for (;;) {
    int c = input_.get();
    if (c == '\r' && (input_.peek() == '\n' || input_.peek() < 0)) continue;
    if (c == '\r' && first_)
      fail(
          "has a CR without LF; if lines end in CR alone, read 'pipe:tr "
          "\"\\r\" \"\\n\" <FILE'");
    if (c < 0 || c == '\n') break;
    if (c == delimiter_) {
      end_field();
      fresh = true;
      quoted = false;
      continue;
    }
    const bool blank = c == ' ' || c == '\t';
    if (quoted && blank) continue;
    if (quoted) fail("text after a closing quote");
    if (c == '"' && fresh) {
      text_.resize(ends_.empty() ? 0 : ends_.back());  // without blanks before
      read_quoted();
      quoted = true;
    } else {
      add(c);
    }
    fresh = fresh && blank;
  }
  end_field();
  ++line_;
  first_ = false;
  return true;
}

}  // namespace dl::vectorize
