// Input that is not understood: how much of it is tolerated, and what was seen;
// and what was left out, or filled in, on purpose.

#ifndef DL_LIBCORE_VECTORIZE_BAD_RECORDS_H_
#define DL_LIBCORE_VECTORIZE_BAD_RECORDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dl::vectorize {

class BadRecords {
 public:
  static constexpr std::size_t kExamples = 5;

  // max: how many may be left out before the input counts as damaged.  tell:
  // is given the sentence of each, also of the one that is too much; or none.
  explicit BadRecords(std::int64_t max,
                      std::function<void(const std::string&)> tell = {})
      : max_(max), tell_(std::move(tell)) {}

  // Adds a record, said as "'a.csv', line 7, column 3 ('age'): want a number,
  // got 'x'". Throws Error{kData, what} when there are more than max.
  void add(const std::string& what);

  bool tolerant() const { return max_ > 0; }

  // Counts a row (--missing skip), or a sequence (--longer skip, truncate),
  // that was left out or cut on purpose; or a value (--missing fill).
  void skip() { ++skipped_; }
  void fill(std::int64_t values) { filled_ += values; }
  void skip_sequence() { ++skipped_sequences_; }
  void truncate_sequence() { ++truncated_sequences_; }

  std::int64_t skipped() const { return skipped_; }
  std::int64_t filled() const { return filled_; }
  std::int64_t skipped_sequences() const { return skipped_sequences_; }
  std::int64_t truncated_sequences() const { return truncated_sequences_; }
  std::int64_t count() const { return count_; }
  // The first few, complete sentences.
  const std::vector<std::string>& examples() const { return examples_; }

 private:
  std::int64_t max_;
  std::function<void(const std::string&)> tell_;
  std::int64_t count_ = 0, skipped_ = 0, filled_ = 0;
  std::int64_t skipped_sequences_ = 0, truncated_sequences_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_BAD_RECORDS_H_
