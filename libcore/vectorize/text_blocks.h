// Text of an input, cut into blocks of whole lines, or of whole rows of CSV.

#ifndef DL_LIBCORE_VECTORIZE_TEXT_BLOCKS_H_
#define DL_LIBCORE_VECTORIZE_TEXT_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/raw_input.h"

namespace dl::vectorize {

class TextBlocks {
 public:
  // delimiter: of rows of CSV, whose quoted fields may hold line breaks; none:
  // of lines.  A first line sep=; of CSV gives another, as for spreadsheets.
  // encoding, mark_wins: of a table, as RawInput has them.
  // Throws Error: as RawInput.
  explicit TextBlocks(const std::string& spec,
                      std::optional<char> delimiter = std::nullopt,
                      RawInput::Kind kind = RawInput::Kind::kText,
                      const std::string& encoding = {}, bool mark_wins = false);

  // The next block, of `most` lines or rows at most; false at the end.  Where
  // it is cut depends on the text alone.
  // Throws Error: kData, a row is too long.
  bool next(InputBlock& block, std::int64_t most);
  // The block that next() gave comes once more.
  void put_back(const InputBlock& block);

  RawInput& input() { return input_; }
  const std::string& name() const { return input_.name(); }

 private:
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  void fill(std::size_t bytes);
  std::size_t cut_at(std::int64_t most, std::int64_t& lines) const;
  std::size_t row_end(std::size_t from) const;
  [[noreturn]] void fail_too_long() const;

  RawInput input_;
  std::optional<char> delimiter_;
  std::string text_;
  std::size_t at_ = 0;     // where the text that is not yet given begins
  std::int64_t line_ = 1;  // of it
  bool starts_ = true, ended_ = false;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TEXT_BLOCKS_H_
