// The statistics that the metadata of a data set carry, gathered record by
// record: of "features", and of "labels" unless they are classes with names; of
// a MultiDataSet, by name.

#ifndef DL_LIBCORE_DATA_STATISTICS_SET_STATISTICS_H_
#define DL_LIBCORE_DATA_STATISTICS_SET_STATISTICS_H_

#include <map>
#include <string>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

// Tensors with more columns have no statistics: their text would not fit the
// metadata.
constexpr std::int64_t kMaxStatisticsColumns = std::int64_t{1} << 18;

class SetStatistics {
 public:
  // Throws Error: kData, as Statistics::add().
  void add(const DataSet& set);
  // Adds the statistics of the next records, in order.
  void merge(const SetStatistics& next);
  // Replaces those that `metadata` has, which say by now whether integer labels
  // are classes.
  void put_into(Metadata& metadata) const;

 private:
  struct Gathered {
    Statistics features, labels;
    bool real_labels = false;
  };
  std::map<std::string, Gathered> gathered_;  // by name; "" without one
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_SET_STATISTICS_H_
