// Classes with as many examples each: examples are repeated or left out.

#ifndef DL_LIBCORE_DATA_SHARDING_BALANCE_H_
#define DL_LIBCORE_DATA_SHARDING_BALANCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/data/sharding/systematic.h"

namespace dl::data {

// Class numbers of examples.
// Throws Error: kUsage, "--stratify needs ...": the data have none.
void check_class_numbers(const Metadata& data, const std::string& option);
bool has_class_numbers(const Metadata& data);
std::int64_t class_of(const DataSet& set, std::int64_t i);

class ClassBalance {
 public:
  // way: "over", each class is repeated until it is as large as the largest;
  // "under", each has as many examples as the smallest.
  // Throws Error: kUsage, another way, or the data have no class numbers.
  ClassBalance(const std::string& way, std::uint64_t seed,
               const Metadata& data);

  // First for all examples.
  void count(const DataSet& set);
  // Then how often the next one of a class is taken: the same examples for the
  // same seed.
  std::int64_t times(std::int64_t label);

  // "balanced by oversampling: cat 10 to 30, dog 30".  names: of classes, or
  // none.
  std::string sentence(const std::vector<std::string>& names) const;

 private:
  std::int64_t wanted() const;

  bool over_;
  std::uint64_t seed_;
  std::map<std::int64_t, std::int64_t> counts_;
  std::map<std::int64_t, SystematicSample> samples_;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_BALANCE_H_
