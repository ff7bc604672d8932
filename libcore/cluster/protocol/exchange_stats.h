// Counts of the exchange in some stretch of time: sums, so that stretches add
// up to longer ones.  Workers count, Beat and Digest carry it, the master adds
// it up for events and reports.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_EXCHANGE_STATS_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_EXCHANGE_STATS_H_

#include <array>
#include <cstdint>
#include <mutex>

#include "libcore/base/json.h"

namespace dl::cluster {

struct ExchangeStats {
  std::int64_t batches = 0;  // mini-batches trained
  std::int64_t updates = 0;  // updates sent
  std::int64_t bytes = 0;    // coded bytes of these updates
  double elements = 0;       // elements of these updates as dense vectors
  double quanta = 0;         // quanta sent
  double threshold = 0;      // sum of the updates' thresholds
  // Seconds of the compute thread.  wait: it had work, but had to wait for the
  // answer to its updates; idle: it had none while training went on.  What is
  // taken while the updater writes counts as compute, its coding as encode.
  double compute = 0, encode = 0, decode = 0, wait = 0, idle = 0;
  std::int64_t inbox = 0, outbox = 0;  // longest queues seen
  double cpu = 0;           // seconds of all cores that the process used
  double measured = 0;      // seconds in which it did; 0: not measured
  std::int64_t memory = 0;  // most bytes of it that were in memory
  // |residual|: quantiles of the last sample, at kQuantiles.
  static constexpr std::array<double, 4> kQuantiles = {0.5, 0.95, 0.99, 0.999};
  std::array<double, 4> residual{};

  // Statistics of the master: staleness of updates that it applied.
  std::int64_t applied = 0;
  double staleness = 0;  // sum of the stalenesses of applied updates
  std::int64_t staleness_max = 0;

  bool empty() const { return batches == 0 && updates == 0; }
  void add(const ExchangeStats& later);

  // Everything that a worker counts, as Beat.exchange.
  Json to_json() const;
  // An empty object gives empty counts.  Throws Error: kProtocol.
  static ExchangeStats from_json(const Json& json);

  double density() const;           // quanta per element
  double seconds() const;           // all seconds of the compute thread
  double share(double part) const;  // part / seconds(); 0 if there are none
  // Means and shares, for events and reports.  Without a measurement there are
  // no cores and no memory.
  Json summary() const;
};

// Counted by the compute thread, told by the main thread.  Thread-safe.
class ExchangeMeter {
 public:
  void add(const ExchangeStats& stats);
  ExchangeStats take();  // counts since the last take()

 private:
  std::mutex mutex_;
  ExchangeStats stats_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_EXCHANGE_STATS_H_
