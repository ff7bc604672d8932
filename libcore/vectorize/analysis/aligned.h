// Tables of text.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_ALIGNED_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_ALIGNED_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace dl::vectorize {

// Characters of UTF-8.
inline std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

// Cells in columns, of which the first ones, and the last one if it is of
// words, are at the left, the others at the right.
inline std::string aligned(const std::vector<std::vector<std::string>>& rows,
                           std::size_t words, bool last_is_words = false) {
  std::vector<std::size_t> widths(rows.at(0).size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], characters(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - characters(row[i]), ' ');
      const bool left = i < words || (last_is_words && i + 1 == row.size());
      line += (i == 0 ? "" : "  ");
      line += left ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_ALIGNED_H_
