// Sums of the exchange that workers report: for the events of each, the
// progress line and the final report.

#ifndef DL_LIBCORE_CLUSTER_REPORT_EXCHANGE_REPORT_H_
#define DL_LIBCORE_CLUSTER_REPORT_EXCHANGE_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libcore/cluster/protocol/exchange_stats.h"

namespace dl::cluster {

class ExchangeReport {
 public:
  void take(std::uint64_t worker, const ExchangeStats& stats);
  // Notes that the master applied an update of the worker.
  void applied(std::uint64_t worker, std::uint64_t staleness);

  // Statistics since the last event, if that is kInterval ago or if the rest is
  // wanted; nothing if it did nothing.
  static constexpr double kInterval = 10;  // seconds between two events
  std::optional<Json> event(std::uint64_t worker, double now, bool all);

  bool empty() const { return workers_.empty(); }
  ExchangeStats total() const;
  Json to_json() const;  // statistics in all, and by worker
  // Whether coded updates came.
  bool shares() const { return total().updates > 0; }
  // Two lines' worth: what was sent, and where the time went.
  std::string sent_text() const;
  std::string time_text() const;
  // "density 0.31 %  wait 4 %", for the progress line.
  std::string short_text() const;

 private:
  struct Worker {
    ExchangeStats before, since;  // statistics before and since its last event
    double told = -kInterval;
  };
  std::map<std::uint64_t, Worker> workers_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_EXCHANGE_REPORT_H_
