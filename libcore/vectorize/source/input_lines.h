// The lines of inputs, one after the other.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_INPUT_LINES_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_INPUT_LINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/vectorize/text_blocks.h"

namespace dl::vectorize {

class InputLines {
 public:
  // inputs: source specs, one at least.  encoding, log,
  // mark_wins: as CsvDialect has them, of Kind::kTable.
  // Throws Error: as TextBlocks.
  InputLines(std::vector<std::string> inputs, RawInput::Kind kind,
             std::string encoding = {}, Log log = {}, bool mark_wins = false);

  // The next line without its end that is not blank, which lasts until the next
  // call; false at the end of the last input.
  // Throws Error: as TextBlocks.
  bool next(std::string_view& line);
  // The next line of the input at hand; false at its end.
  bool next_of_input(std::string_view& line);
  // Goes to the next input; false: there is none.
  bool open_next();

  // Name of the input, and number, of the line that was given last.
  const std::shared_ptr<const std::string>& name() const { return name_; }
  std::int64_t number() const { return number_; }
  // "'a.arff', line 7"
  std::string place() const;

 private:
  std::vector<std::string> inputs_;
  RawInput::Kind kind_;
  std::string encoding_;
  Log log_;
  bool mark_wins_;
  std::size_t opened_ = 0;
  std::optional<TextBlocks> input_;
  InputBlock block_;
  std::size_t at_ = 0;  // in the block
  std::shared_ptr<const std::string> name_;
  std::int64_t number_ = 0;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_INPUT_LINES_H_
