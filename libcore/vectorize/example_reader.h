// A reader whose blocks hold one example after the other, which it puts into
// records of equal length.

#ifndef DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_
#define DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_

#include <optional>
#include <vector>

#include "libcore/vectorize/block_reader.h"

namespace dl::vectorize {

class ExampleReader : public BlockReader {
 public:
  // Puts good examples into a record until it is full, and numbers them where
  // the schema has "index".
  bool read(data::DataSet& set) final;

 protected:
  using BlockReader::BlockReader;

 private:
  bool next_ready();

  data::DataSet ready_;                // good examples of a block
  std::vector<std::int64_t> numbers_;  // of them in the input
  std::size_t at_ = 0;                 // of them, the next one to give
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_
