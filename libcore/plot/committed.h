// Mini-batches that a history says are committed: each counts once, see
// "Counting what was trained" in dl-run(5).

#ifndef DL_LIBCORE_PLOT_COMMITTED_H_
#define DL_LIBCORE_PLOT_COMMITTED_H_

#include <cstdint>
#include <map>

#include "libcore/plot/commit.h"

namespace dl::plot {

class Committed {
 public:
  // Adds [first, end) of the epoch.
  // Throws Error: kData, "mini-batch 7 of epoch 0 is committed twice".
  void add(std::int64_t epoch, double first, double end);
  // Goes back to what is in the ranges of that epoch, and to earlier epochs.
  void go_back(std::int64_t epoch, const Parts& ranges);

 private:
  using Ends = std::map<double, double>;  // by the first mini-batch

  std::map<std::int64_t, Ends> epochs_;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_COMMITTED_H_
