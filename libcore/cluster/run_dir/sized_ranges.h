// Sets of mini-batches with their examples, as ranges: committed mini-batches
// in a folded history, dl-run(5).

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_SIZED_RANGES_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_SIZED_RANGES_H_

#include <cstdint>
#include <map>

#include "libcore/base/json.h"
#include "libcore/cluster/run_dir/ranges.h"

namespace dl::cluster {

// All mini-batches of a range have equally many examples.
class SizedRanges {
 public:
  // Adds [first, first + count), count >= 1, with `examples` in all.  Returns
  // false, and changes nothing, if some of it is there already.
  bool add(std::int64_t first, std::int64_t count, double examples);
  // Keeps mini-batches that are in `ranges`.
  void keep(const Ranges& ranges);

  bool empty() const noexcept { return ranges_.empty(); }
  bool has(std::int64_t batch) const;
  std::int64_t batches() const;
  double examples() const;
  // [[first, count, examples], ...], in order.
  Json to_json() const;

 private:
  struct Part {
    std::int64_t count = 0;
    double examples = 0;
  };
  std::map<std::int64_t, Part> ranges_;  // by their first mini-batch
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_SIZED_RANGES_H_
