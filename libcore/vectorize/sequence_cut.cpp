#include "libcore/vectorize/sequence_cut.h"

#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

SequenceCut::SequenceCut(const std::string& option) {
  constexpr std::string_view kLinesWord = "lines:", kLineWord = "line:";
  if (option.empty()) return;
  if (option == "file:") {
    way = kFile;
  } else if (option.starts_with(kLinesWord)) {
    way = kLines;
    if (!parse_integer(option.substr(kLinesWord.size()), lines) || lines < 1)
      bad_usage("--sequence: want lines:N, a number of rows, got " +
                in_quotes(option));
  } else if (option.starts_with(kLineWord)) {
    way = kLine;
    text = trim(std::string_view(option).substr(kLineWord.size()));
  } else {
    way = kColumn;
  }
}

bool SequenceCut::is_separator(const CsvRows& row) const {
  if (way != kLine || text.empty() || row.size() == 0) return false;
  if (!std::string_view(text).starts_with(csv_field(row, 0))) return false;
  const char delimiter = row.block().delimiter;
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += delimiter;
    line += csv_field(row, i);
  }
  return line.starts_with(text) &&
         line.find_first_not_of(delimiter, text.size()) == std::string::npos;
}

void SequenceNames::put(ParsedBlock& parsed) {
  if (cut_.way == SequenceCut::kNone || cut_.way == SequenceCut::kColumn)
    return;
  if (parsed.block.input != input_) {
    input_ = parsed.block.input;
    rows_ = cuts_ = 0;
    is_cut_ = false;
  }
  parsed.sequences.clear();
  for (std::int64_t i = 0; i < parsed.all; ++i, ++rows_) {
    if (cut_.way == SequenceCut::kLines) cuts_ = rows_ / cut_.lines;
    if (cut_.way == SequenceCut::kLine && rows_ > 0 &&
        (std::exchange(is_cut_, false) ||
         parsed.cuts[static_cast<std::size_t>(i)]))
      ++cuts_;
    parsed.sequences.emplace_back(std::to_string(input_) + ":" +
                                  std::to_string(cuts_ + 1));
  }
  is_cut_ = is_cut_ || parsed.ends_with_cut;
}

}  // namespace dl::vectorize
