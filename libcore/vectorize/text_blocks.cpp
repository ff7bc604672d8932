#include "libcore/vectorize/text_blocks.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/count_lines.h"
#include "libcore/vectorize/csv_rows.h"

namespace dl::vectorize {
namespace {

// A line, and a row whose quotes may all be doubled.
constexpr std::size_t kMostLine = RawInput::kMaxLine;
constexpr std::size_t kMostRow = 2 * RawInput::kMaxLine + (1 << 20);

}  // namespace

TextBlocks::TextBlocks(const std::string& spec, std::optional<char> delimiter,
                       RawInput::Kind kind, const std::string& encoding,
                       bool mark_wins)
    : input_(spec, kind, encoding, mark_wins), delimiter_(delimiter) {
  constexpr std::string_view kSeparator = "sep=";
  std::string_view line = input_.ahead();
  if (!delimiter || !line.starts_with(kSeparator)) return;
  line = line.substr(0, line.find_first_of("\r\n"));
  if (line.size() != kSeparator.size() + 1) return;
  delimiter_ = line.back();
  for (std::size_t i = 0; i < kSeparator.size() + 1; ++i) input_.get();
}

// Goes on until so many bytes are at hand, or all.
void TextBlocks::fill(std::size_t bytes) {
  text_.erase(0, at_);
  at_ = 0;
  while (!ended_ && text_.size() < bytes)
    ended_ = !input_.append(text_, bytes - text_.size());
}

std::size_t TextBlocks::row_end(std::size_t from) const {
  if (delimiter_) return csv_row_end(rest(), from, *delimiter_);
  const std::size_t end = rest().find('\n', from);
  return end == std::string_view::npos ? end : end + 1;
}

// The end of the last of up to `most` whole rows that are at hand; 0: none is.
// lines: up to there, or -1.
std::size_t TextBlocks::cut_at(std::int64_t most, std::int64_t& lines) const {
  const std::string_view text = rest();
  // Rows are counted all at once unless only few of them are wanted.
  constexpr std::int64_t kShortRow = 64;
  if (most > std::ssize(text) / kShortRow &&
      (!delimiter_ || text.find('"') == std::string_view::npos)) {
    lines = count_lines(text);
    if (lines < most) return ended_ ? text.size() : text.rfind('\n') + 1;
  }
  lines = -1;
  std::size_t end = 0;
  for (; most > 0 && end < text.size(); --most) {
    const std::size_t next = row_end(end);
    if (next == std::string_view::npos) return ended_ ? text.size() : end;
    end = next;
  }
  return end;
}

void TextBlocks::fail_too_long() const {
  if (!delimiter_) bad_data(name() + ": has a line of more than 64 MiB");
  const std::string_view blank =
      rest().substr(0, rest().find_first_not_of("\r\n"));
  bad_data(name() + ", line " + std::to_string(line_ + count_lines(blank)) +
           ": a row is over 64 MiB" +
           (rest().find('"') == std::string_view::npos
                ? ""
                : "; is a quote not closed?"));
}

bool TextBlocks::next(InputBlock& block, std::int64_t most) {
  const std::size_t limit = delimiter_ ? kMostRow : kMostLine;
  std::int64_t lines = -1;
  std::size_t end =
      rest().size() < InputBlock::kBytes / 2 ? 0 : cut_at(most, lines);
  for (std::size_t want = InputBlock::kBytes; end == 0; want *= 2) {
    fill(std::min(want, limit + 1));
    if (text_.empty()) return false;
    end = cut_at(most, lines);
    if (end == 0 && text_.size() > limit) fail_too_long();
  }
  block.bytes.assign(text_, at_, end);
  block.name = name();
  block.line = line_;
  block.starts_file = std::exchange(starts_, false);
  if (delimiter_) block.delimiter = *delimiter_;
  at_ += end;
  line_ += lines < 0 ? count_lines(block.bytes) : lines;
  return true;
}

void TextBlocks::put_back(const InputBlock& block) {
  text_.replace(0, at_, block.bytes);
  at_ = 0;
  line_ = block.line;
  starts_ = block.starts_file;
}

}  // namespace dl::vectorize
