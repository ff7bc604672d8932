#include "libcore/vectorize/source/input_lines.h"

#include <algorithm>
#include <utility>

namespace dl::vectorize {

InputLines::InputLines(std::vector<std::string> inputs, RawInput::Kind kind,
                       std::string encoding, Log log, bool mark_wins)
    : inputs_(std::move(inputs)),
      kind_(kind),
      encoding_(std::move(encoding)),
      log_(std::move(log)),
      mark_wins_(mark_wins) {
  open_next();
}

bool InputLines::open_next() {
  if (input_) input_->input().close();
  block_ = {};
  at_ = 0;
  number_ = 0;
  if (opened_ == inputs_.size()) return false;
  input_.emplace(inputs_[opened_++], std::nullopt, kind_, encoding_,
                 mark_wins_);
  name_ = std::make_shared<const std::string>(input_->name());
  if (const std::string marked = input_->input().marked_encoding();
      log_ && !marked.empty())
    log_(Level::kInfo,
         *name_ + " is " + marked + ", as its byte order mark says");
  return true;
}

bool InputLines::next_of_input(std::string_view& line) {
  for (;;) {
    while (at_ == block_.bytes.size()) {
      at_ = 0;
      if (!input_->next(block_, INT64_MAX)) {
        block_ = {};
        return false;
      }
      number_ = block_.line - 1;
    }
    const std::string_view text = block_.bytes;
    const std::size_t end = std::min(text.find('\n', at_), text.size());
    line = text.substr(at_, end - at_);
    at_ = std::min(end + 1, text.size());
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return true;
  }
}

bool InputLines::next(std::string_view& line) {
  while (!next_of_input(line))
    if (!open_next()) return false;
  return true;
}

std::string InputLines::place() const {
  return *name_ + ", line " + std::to_string(number_);
}

}  // namespace dl::vectorize
