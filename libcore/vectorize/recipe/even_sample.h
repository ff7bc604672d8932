// A few records of many, as even over groups as one pass can make them.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_EVEN_SAMPLE_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_EVEN_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/vectorize/record.h"

namespace dl::vectorize {

struct SampledRecord {
  Record record;
  std::int64_t number = 0;         // in the input
  std::vector<std::int64_t> seen;  // by Vectorizer::see()
};

// Within a group a hash of the names decides, so that the sample is the same
// each time; no more than `most` records are held.
class EvenSample {
 public:
  explicit EvenSample(std::size_t most) : most_(most) {}

  void add(std::int64_t group, SampledRecord record);
  // By group, each in the order of the input.
  std::vector<SampledRecord> take() &&;

 private:
  using Key = std::pair<std::uint64_t, std::int64_t>;  // hash, number
  std::size_t most_, held_ = 0;
  std::map<std::int64_t, std::map<Key, SampledRecord>> groups_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_EVEN_SAMPLE_H_
