// Examples whose values are out of all proportion to those of others: sound by
// all that their shard says, and of no use to train from.

#ifndef DL_LIBCORE_CLUSTER_LOADING_ODD_VALUES_H_
#define DL_LIBCORE_CLUSTER_LOADING_ODD_VALUES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/dataset.h"

namespace dl::cluster {

class OddValues {
 public:
  // An example is odd whose largest value is so many times the usual.
  static constexpr double kOdd = 1e4;

  // Takes examples as usual ones.
  void learn(const data::DataSet& record);

  // Whether one of these examples is odd: "example 3: features has a value of
  // 1e+30, and half of all examples have none above 2.5"; "": none.
  std::string of(const data::DataSet& record,
                 std::span<const std::uint32_t> examples) const;

 private:
  // The largest |value| of each example, except 0, by tensor of reals.
  std::map<std::string, std::vector<double>> largest_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LOADING_ODD_VALUES_H_
