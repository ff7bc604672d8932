#include "libcore/vectorize/record_blocks.h"

#include <algorithm>
#include <utility>

namespace dl::vectorize {

RecordBlocks::RecordBlocks(std::vector<std::string> inputs, std::size_t size,
                           std::string what, Open open)
    : inputs_(std::move(inputs)),
      size_(size),
      what_(std::move(what)),
      open_(std::move(open)),
      input_(open_(inputs_[opened_++])) {}

bool RecordBlocks::next(InputBlock& block, std::int64_t most) {
  most = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(InputBlock::kBytes / size_), 1, most);
  std::vector<std::byte> record(size_);
  for (;;) {
    block.name = input_->name();
    block.line = number_;
    block.bytes.clear();
    for (; records(block) < most && input_->read(record, what_.c_str());
         ++number_)
      block.bytes.append(reinterpret_cast<const char*>(record.data()), size_);
    if (!block.bytes.empty()) return true;
    input_->close();
    if (opened_ == inputs_.size()) return false;
    input_ = open_(inputs_[opened_++]);
    number_ = 1;
  }
}

}  // namespace dl::vectorize
