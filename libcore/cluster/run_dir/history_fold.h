// Folding of a history, events.jsonl of dl-run(5): commits of ten seconds
// become one line, leases that ended and rounds likewise, all else stays.
//
// Before anything is left out it is checked that the lines prove the rule that
// counts: each mini-batch of an epoch is committed once, by the holder of its
// lease.  The folded history proves the same by its ranges.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_HISTORY_FOLD_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_HISTORY_FOLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/json.h"
#include "libcore/cluster/run_dir/sized_ranges.h"

namespace dl::cluster {

class HistoryFold {
 public:
  // write: takes folded lines, each with its line break.
  explicit HistoryFold(std::function<void(std::string_view)> write)
      : write_(std::move(write)) {}

  // line: without its line break.
  // Throws Error: kData, "line 12: mini-batch 7 of epoch 0 is committed twice".
  void take(std::string_view line);
  // Writes sums that are begun, the leases that are still held, and an event
  // "fold".
  void finish();

 private:
  struct Lease {
    Json event;
    std::uint64_t worker = 0, fence = 0;
    std::int64_t epoch = 0, first = 0, count = 0, left = 0;
  };
  struct Sum {
    std::int64_t commits = 0, batches = 0;
    double examples = 0, loss = 0, bytes = 0, staleness = 0;
    bool has_staleness = false;
  };
  struct Commits {
    double since = 0;
    Json last;  // the last event
    SizedRanges committed;
    Ranges passed_over;
    std::map<std::uint64_t, Sum> workers;
  };
  struct Rounds {
    double since = 0;
    Json last;
    std::int64_t rounds = 0, batches = 0;
    double examples = 0, loss = 0, bytes = 0, slots = 0;
  };

  void take_event(std::string_view line, const Json& event);
  void lease(const Json& event);
  void commit(const Json& event);
  void committed(const Json& event);
  void round(const Json& event);
  void fault(const Json& event);
  void epoch(const Json& event);
  void go_back(const Json& event);
  void add_commit(const Json& event, const SizedRanges& done);
  void flush();
  void write_leases();
  void write(const Json& event);

  std::function<void(std::string_view)> write_;
  std::map<std::uint64_t, Lease> leases_;
  std::map<std::int64_t, SizedRanges> epochs_;  // committed mini-batches
  std::int64_t batches_ = -1;                   // of an epoch
  std::optional<Commits> commits_;
  std::optional<Rounds> rounds_;
  Json last_;  // the last event; null: there was none
  std::int64_t lines_ = 0, folded_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_HISTORY_FOLD_H_
