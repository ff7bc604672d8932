// Commits of a history that are summed, and cut where a run went back.

#ifndef DL_LIBCORE_PLOT_COMMIT_H_
#define DL_LIBCORE_PLOT_COMMIT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libcore/plot/event_line.h"

namespace dl::plot {

// Seconds and workers: as in History.
struct Commit {
  double seconds = 0, loss = 0, staleness = 0;  // NaN: the event has none
  // Mini-batches: `count` of those from first on, before end; more than one
  // event's where several were summed.
  std::int64_t epoch = 0, first = 0, count = 0, examples = 0, bytes = 0;
  std::size_t worker = 0;
  std::int64_t end = first + count;
  std::int64_t commits = 1;  // events
  // Mini-batches and examples of all workers of a sum in a folded history.
  struct Part {
    double first = 0, end = 0, examples = 0;
  };
  std::shared_ptr<const std::vector<Part>> parts = nullptr;
};

using Parts = std::vector<Commit::Part>;

// [[first, count], ...] or [[first, count, examples], ...]; without what is
// neither.
Parts parts_of(EventValue json);

// Leaves of commits what is in the ranges: all or nothing of a single one, of
// those that were summed their shares, which add up to that of the sum.
class Cutter {
 public:
  explicit Cutter(Parts ranges) : ranges_(std::move(ranges)) {}

  void cut(Commit& commit);

 private:
  struct Rounded {
    double before = 0, given = 0;
    std::int64_t of(std::int64_t amount, double share);
  };

  void begin(const Commit& commit);

  Parts ranges_;
  std::shared_ptr<const Parts> of_, left_;
  double share_of_batches_ = 0, share_of_examples_ = 0;
  Rounded examples_, bytes_, count_;
};

// Adds an earlier commit of the same worker and epoch.
void add_earlier(Commit& to, const Commit& from);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_COMMIT_H_
