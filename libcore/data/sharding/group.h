// Groups of examples that a split must not part: those with the same id, or its
// start, or value of a column.

#ifndef DL_LIBCORE_DATA_SHARDING_GROUP_H_
#define DL_LIBCORE_DATA_SHARDING_GROUP_H_

#include <cstdint>
#include <string>

#include "libcore/data/format/metadata.h"

namespace dl::data {

class ExampleGroup {
 public:
  // text: "id"; "id:/", an id up to its first '/'; or a column of the features
  // by name or number from 1, of sequences at their first step.
  // Throws Error: kUsage, the data have no ids, or no such column.
  ExampleGroup(const std::string& text, const Metadata& data);

  // The group of example i, the same for equal values whatever type holds them.
  // Throws Error: kData, an id has no such separator.
  std::string of(const DataSet& set, std::int64_t i) const;

 private:
  bool by_id_ = false;
  std::string separator_;
  std::int64_t column_ = 0, columns_ = 0;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_GROUP_H_
