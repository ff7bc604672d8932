#include "libcore/vectorize/example_reader.h"

#include <algorithm>
#include <cstring>

namespace dl::vectorize {
namespace {

// Copies examples of a set to another one, or to places before them.
void move_examples(data::DataSet& target, std::int64_t to,
                   data::DataSet& source, std::size_t from, std::size_t count) {
  for (auto& [name, tensor] : source.tensors) {
    const auto bytes = tensor.bytes();
    const std::size_t row =
        bytes.size() / static_cast<std::size_t>(tensor.shape()[0]);
    std::memmove(target.tensors.find(name)->second.bytes().data() +
                     static_cast<std::size_t>(to) * row,
                 bytes.data() + from * row, count * row);
  }
}

}  // namespace

// Takes in a block, whose good examples move to its front.
bool ExampleReader::next_ready() {
  std::optional<ParsedBlock> parsed = next_block();
  if (!parsed) return false;
  numbers_.clear();
  at_ = 0;
  const std::int64_t before = examples();
  Cursor cursor;
  while (next_example(*parsed, cursor)) {
    if (!cursor.good) continue;
    if (const auto kept = std::ssize(numbers_); kept != cursor.place)
      move_examples(parsed->set, kept, parsed->set,
                    static_cast<std::size_t>(cursor.place), 1);
    numbers_.push_back(before + cursor.number);
  }
  ready_ = std::move(parsed->set);
  return true;
}

bool ExampleReader::read(data::DataSet& set) {
  const bool numbered = schema().contains("index");
  set = make_record(schema(), batch());
  std::int64_t n = 0;
  while (n < batch()) {
    const std::size_t count =
        std::min(static_cast<std::size_t>(batch() - n), numbers_.size() - at_);
    if (count == 0) {
      if (!next_ready()) break;
      continue;
    }
    move_examples(set, n, ready_, at_, count);
    for (std::size_t i = 0; numbered && i < count; ++i)
      set_index(set, n + static_cast<std::int64_t>(i), numbers_[at_ + i]);
    n += static_cast<std::int64_t>(count);
    at_ += count;
  }
  if (n < batch()) set = set.slice(0, n);
  return n > 0;
}

}  // namespace dl::vectorize
