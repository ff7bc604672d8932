// Bytes of an input, cut into blocks of whole records of one size.

#ifndef DL_LIBCORE_VECTORIZE_RECORD_BLOCKS_H_
#define DL_LIBCORE_VECTORIZE_RECORD_BLOCKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/raw_input.h"

namespace dl::vectorize {

class RecordBlocks {
 public:
  using Open = std::function<std::unique_ptr<RawInput>(const std::string&)>;
  // inputs: source specs, each opened when it is its turn, the first one now.
  // what: a record, for messages.
  RecordBlocks(std::vector<std::string> inputs, std::size_t size,
               std::string what, Open open);

  // The next block, of `most` records at most; false at the end.
  // Throws Error: kData, an input ends inside a record, which is none of the
  // block's.
  bool next(InputBlock& block, std::int64_t most);

  // Record i of a block.
  std::span<const std::byte> record(const InputBlock& block,
                                    std::int64_t i) const {
    return std::as_bytes(std::span(block.bytes))
        .subspan(static_cast<std::size_t>(i) * size_, size_);
  }
  std::int64_t records(const InputBlock& block) const {
    return static_cast<std::int64_t>(block.bytes.size() / size_);
  }

 private:
  std::vector<std::string> inputs_;
  std::size_t size_;
  std::string what_;
  Open open_;
  std::size_t opened_ = 0;
  std::unique_ptr<RawInput> input_;
  std::int64_t number_ = 1;  // of the next record in its input
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECORD_BLOCKS_H_
