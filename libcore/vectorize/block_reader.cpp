#include "libcore/vectorize/block_reader.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

// The examples of a block take no more, but for one that does alone.
constexpr std::int64_t kBlockBytes = std::int64_t{16} << 20;

}  // namespace

void BlockReader::start() {
  schema_ = metadata().schema;
  batch_ = record_examples(options_.batch, schema_);
  for (const auto& [name, field] : schema_)
    bytes_ += field.shape.elements() *
              static_cast<std::int64_t>(tensor::size_of(field.dtype));
  most_ = std::max<std::int64_t>(kBlockBytes / bytes_, 1);
  if (options_.parts > 1) most_ = std::min(most_, batch_);
}

bool BlockReader::cut_next(InputBlock& block) {
  if (failed_) return false;
  try {
    if (!cut(block)) return false;
  } catch (...) {
    failed_ = true;
    block.error = std::current_exception();
  }
  block.is_mine = blocks_++ % options_.parts == options_.part - 1;
  return true;
}

ParsedBlock BlockReader::parse_all(InputBlock& block) const {
  ParsedBlock parsed;
  parsed.block = std::move(block);
  try {
    parse(parsed);
    parsed.error = parsed.block.error;
  } catch (const Error&) {
    parsed.error = std::current_exception();
  }
  return parsed;
}

std::optional<ParsedBlock> BlockReader::next_block() {
  if (!engine_)
    engine_.emplace(
        options_.threads, [this](InputBlock& block) { return cut_next(block); },
        [this](InputBlock& block, int) { return parse_all(block); },
        static_cast<std::size_t>(
            std::max(most_ * bytes_, std::int64_t{InputBlock::kBytes})));
  return engine_->next();
}

void BlockReader::leave_out(ParsedBlock& parsed, std::int64_t number,
                            const std::string& what) {
  if (!parsed.block.is_mine) return;
  if (what.empty())
    bad_.skip();
  else
    bad_.add(tolerant() ? what : full_sentence(parsed, number, what));
}

bool BlockReader::has_next(const ParsedBlock& parsed, const Cursor& cursor) {
  if (cursor.number + 1 < parsed.all) return true;
  if (parsed.error) std::rethrow_exception(parsed.error);
  return false;
}

bool BlockReader::next_example(ParsedBlock& parsed, Cursor& cursor) {
  if (!has_next(parsed, cursor)) return false;
  const std::int64_t number = ++cursor.number;
  ++examples_;
  cursor.good = false;
  if (only_counts(parsed.block)) return true;
  const auto& left_out = parsed.left_out;
  if (cursor.left_out < left_out.size() &&
      left_out[cursor.left_out].number == number) {
    const auto& left = left_out[cursor.left_out++];
    std::int32_t label = left.label.value_or(0);
    const std::string what =
        left.label ? take_label(parsed, number, label) : "";
    leave_out(parsed, number, what.empty() ? left.what : what);
    return true;
  }
  const auto place = static_cast<std::size_t>(++cursor.place);
  if (takes_labels()) {
    auto& label =
        parsed.set.tensors.find("labels")->second.as<std::int32_t>()[place];
    if (const std::string what = take_label(parsed, number, label);
        !what.empty()) {
      leave_out(parsed, number, what);
      return true;
    }
  }
  if (!parsed.filled.empty() && parsed.block.is_mine)
    bad_.fill(parsed.filled[place]);
  cursor.good = parsed.block.is_mine;
  return true;
}

}  // namespace dl::vectorize
