// Counts of what happened in a run, and the one screen at its end.

#ifndef DL_LIBCORE_CLUSTER_REPORT_REPORT_H_
#define DL_LIBCORE_CLUSTER_REPORT_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/protocol/mass_ledger.h"
#include "libcore/cluster/report/exchange_report.h"
#include "libcore/cluster/report/staleness_summary.h"
#include "libcore/cluster/run_dir/run_state.h"

namespace dl::cluster {

// Counts of this master's start, not of those before it.
struct Report {
  std::uint64_t joined = 0, lost = 0, returned = 0, left = 0;
  std::uint64_t leases = 0, revoked = 0, stale = 0, rejected = 0;
  std::uint64_t batches = 0;  // mini-batches committed
  // Mini-batches committed, by worker's name.
  std::map<std::string, std::int64_t> batches_of;
  std::uint64_t payload = 0;  // bytes of updates or replicas taken in
  std::uint64_t resyncs = 0;  // replicas that differed
  // Averaging: histories of slots lost with workers.
  std::uint64_t histories_lost = 0;
  std::uint64_t checkpoints = 0, checkpoint_failures = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0, foreign = 0;
  double seconds = 0;
  double seconds_before = 0;   // seconds of earlier starts
  StalenessSummary staleness;  // staleness of updates, in sharing
  double worth = 0;  // sharing: sum of the weights of updates among others
  double mean_worth() const {
    return worth / static_cast<double>(staleness.updates());
  }
  ExchangeReport exchange;
  // Sharing: of each worker's process, as it told last; and what was applied.
  std::map<std::uint64_t, MassLedger> masses;
  exchange::Mass applied;
  // All of it; null: nobody told any.
  Json mass() const;
  // Sharing: whether the model lacks much of what was learnt.
  bool lacks_much() const;
  // Sharing: sentence about what the model lacks, unless the run was a mere
  // trial; "" if that is not much.
  std::string lacking() const;

  // Facts known at the end of a run.
  std::int64_t expected_per_epoch = 0;  // examples
  std::int64_t epochs = 0;
  std::vector<std::string> bad_files;  // shards that are left out
  std::int64_t parameters = 0;
  std::string model, checkpoint, directory;
  Json hosts;          // outcome of the hosts of --hosts; null: none were given
  std::string metric;  // metric that compares epochs; "": none
  bool keeps_best = false;   // whether the model is that of the best epoch
  bool epochs_given = true;  // whether --epochs was given

  // Bytes of update for one mini-batch, and as a share of a dense one.
  double payload_per_batch() const;
  double payload_share() const;

  Json to_json(const RunState& state) const;
  std::string to_text(const RunState& state) const;
};

// Examples in the epochs that are over and in the one that is not.
std::int64_t examples_seen(const RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_REPORT_H_
