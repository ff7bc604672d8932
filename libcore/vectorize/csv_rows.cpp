#include "libcore/vectorize/csv_rows.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kLooked = 64;  // bytes at once

}  // namespace

CsvRows::CsvRows(const InputBlock& block, char delimiter)
    : block_(block),
      text_(block.bytes),
      delimiter_(delimiter),
      line_(block.line) {
  for (const char c : {'\0', '\n', '\r', '"', delimiter})
    stops_[static_cast<unsigned char>(c)] = true;
}

std::string CsvRows::place() const {
  return block_.name + ", line " + std::to_string(row_line_);
}

void CsvRows::fail(const std::string& what) const {
  throw Error{Code::kData, place() + ": " + what};
}

bool CsvRows::ends_line(std::size_t at) const {
  return at == text_.size() || text_[at] == '\n';
}

bool CsvRows::is_blank(std::size_t at) const {
  return text_[at] == ' ' || text_[at] == '\t';
}

void CsvRows::add(std::string_view text) {
  if (std::cmp_equal(fields_.size(), kMaxColumns))
    fail("has more than " + std::to_string(kMaxColumns) + " columns");
  bytes_ += text.size();
  if (bytes_ > RawInput::kMaxLine) fail("a row is over 64 MiB");
  fields_.push_back(text);
}

// The text of a quoted field, from behind its opening quote to `end`.
std::string_view CsvRows::closed(std::size_t end) {
  const std::string_view inside = text_.substr(at_, end - at_);
  if (inside.find('\0') != std::string_view::npos)
    fail("has a zero byte; is it text?");
  line_ += std::count(inside.begin(), inside.end(), '\n');
  if (inside.find('"') == std::string_view::npos) return inside;
  std::string& single = with_quotes_.emplace_back();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    single += inside[i];
    if (inside[i] == '"') ++i;
  }
  return single;
}

// Behind the opening quote, up to the closing one and the blanks after it.
void CsvRows::take_quoted() {
  std::size_t end = at_;
  for (;; end += 2) {
    end = text_.find('"', end);
    if (end == std::string_view::npos) {
      if (text_.size() - at_ > RawInput::kMaxLine) fail("a row is over 64 MiB");
      if (text_.find('\0', at_) != std::string_view::npos)
        fail("has a zero byte; is it text?");
      fail("a quoted field is not closed");
    }
    if (end + 1 == text_.size() || text_[end + 1] != '"') break;
  }
  add(closed(end));
  at_ = end + 1;
  while (at_ < text_.size() && text_[at_] != delimiter_ && is_blank(at_)) ++at_;
}

// The stops among the 64 bytes from `at` on, a bit each.
std::uint64_t CsvRows::stops_from(std::size_t at) const {
  std::uint64_t all = 0;
#if defined(__SSE2__)
  const __m128i delimiter = _mm_set1_epi8(delimiter_);
  for (std::size_t i = 0; i < kLooked; i += 16) {
    const __m128i bytes = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(text_.data() + at + i));
    const auto is = [&](const __m128i& wanted) {
      return _mm_cmpeq_epi8(bytes, wanted);
    };
    const __m128i stops = _mm_or_si128(
        _mm_or_si128(is(delimiter), is(_mm_set1_epi8('\n'))),
        _mm_or_si128(
            _mm_or_si128(is(_mm_set1_epi8('\r')), is(_mm_set1_epi8('"'))),
            is(_mm_setzero_si128())));
    all |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(stops))}
           << i;
  }
#else
  for (std::size_t i = 0; i < kLooked; ++i)
    all |= std::uint64_t{stops_[static_cast<unsigned char>(text_[at + i])]}
           << i;
#endif
  return all;
}

// The end of the run of plain text that goes on here.
std::size_t CsvRows::next_stop() {
  std::size_t at = at_;
  for (; at < seen_end_ || at + kLooked <= text_.size(); at = seen_end_) {
    if (at >= seen_end_) {
      seen_ = at;
      seen_end_ = at + kLooked;
      seen_stops_ = stops_from(at);
    }
    const std::uint64_t left = seen_stops_ >> (at - seen_);
    if (left != 0) return at + static_cast<std::size_t>(std::countr_zero(left));
  }
  while (at < text_.size() && !stops_[static_cast<unsigned char>(text_[at])])
    ++at;
  return at;
}

// Takes a field and what ends it; whether that was a delimiter.
bool CsvRows::take_field() {
  const std::size_t begin = at_;
  bool quoted = false;
  for (;; ++at_) {
    at_ = next_stop();
    const bool ended = ends_line(at_);
    if (ended || text_[at_] == delimiter_) {
      if (!quoted) add(text_.substr(begin, at_ - begin));
      if (at_ < text_.size()) ++at_;
      return !ended;
    }
    const char c = text_[at_];
    if (c == '\r' && ends_line(at_ + 1)) {
      if (!quoted) add(text_.substr(begin, at_ - begin));
      at_ = std::min(at_ + 2, text_.size());
      return false;
    }
    if (c == '\r' && block_.starts_file && rows_ == 1)
      fail(
          "has a CR without LF; if lines end in CR alone, read 'pipe:tr "
          "\"\\r\" \"\\n\" <FILE'");
    if (c == '\0') fail("has a zero byte; is it text?");
    const std::string_view before = text_.substr(begin, at_ - begin);
    if (c != '"' || before.find_first_not_of(" \t") != std::string_view::npos)
      continue;
    ++at_;
    take_quoted();
    quoted = true;
    const bool cr = at_ < text_.size() && text_[at_] == '\r';
    if (!ends_line(at_) && text_[at_] != delimiter_ &&
        !(cr && ends_line(at_ + 1)))
      fail(cr && block_.starts_file && rows_ == 1
               ? "has a CR without LF; if lines end in CR alone, read 'pipe:tr "
                 "\"\\r\" \"\\n\" <FILE'"
               : "text after a closing quote");
    --at_;
  }
}

bool CsvRows::next() {
  const std::int64_t line = line_;
  for (; at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r');
       ++at_)
    if (text_[at_] == '\n') ++line_;
  is_behind_empty_ = line_ > line;
  if (at_ == text_.size()) return false;
  fields_.clear();
  if (!with_quotes_.empty()) with_quotes_.clear();
  bytes_ = 0;
  row_line_ = line_;
  ++rows_;
  while (take_field()) {
  }
  ++line_;
  put_in_order();
  return true;
}

// A row of another length is told of, whatever its order.
void CsvRows::put_in_order() {
  if (!block_.order || fields_.size() != block_.order->size()) return;
  as_read_ = fields_;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    fields_[i] = as_read_[own_column(i)];
}

std::int64_t count_csv_rows(const InputBlock& block) {
  CsvRows rows(block, block.delimiter);
  std::int64_t count = 0;
  while (rows.next()) ++count;
  return count;
}

namespace {

// Whether a quote opens a field: nothing but blanks lies between it and `from`
// or a delimiter.
bool opens_field(std::string_view text, std::size_t quote, std::size_t from,
                 bool from_is_start, char delimiter) {
  for (std::size_t at = quote; at > from; --at) {
    const char before = text[at - 1];
    if (before == delimiter) return true;
    if (before != ' ' && before != '\t') return false;
  }
  return from_is_start;
}

}  // namespace

std::size_t csv_row_end(std::string_view text, std::size_t from,
                        char delimiter) {
  while (from < text.size() && (text[from] == '\n' || text[from] == '\r'))
    ++from;
  std::size_t end = text.find('\n', from);
  bool is_start = true;
  while (delimiter != '"') {
    const std::size_t quote =
        text.substr(0, std::min(end, text.size())).find('"', from);
    if (quote == std::string_view::npos) break;
    const bool opens = opens_field(text, quote, from, is_start, delimiter);
    is_start = false;
    from = quote + 1;
    if (!opens) continue;
    for (;; from += 2) {
      from = text.find('"', from);
      if (from == std::string_view::npos || from + 1 == text.size())
        return std::string_view::npos;
      if (text[from + 1] != '"') break;
    }
    ++from;
    if (end < from) end = text.find('\n', from);
  }
  return end == std::string_view::npos ? end : end + 1;
}

}  // namespace dl::vectorize
