// Sums over the exchange statistics that workers report.

#include "libcore/cluster/report/exchange_report.h"

#include <utility>

#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

std::string percent(double share) { return format("%.1f %%", 100 * share); }

double mean_threshold(const ExchangeStats& s) {
  return s.updates > 0 ? s.threshold / static_cast<double>(s.updates) : 0;
}

}  // namespace

void ExchangeReport::take(std::uint64_t worker, const ExchangeStats& stats) {
  if (stats.seconds() > 0 || !stats.empty()) workers_[worker].since.add(stats);
}

void ExchangeReport::applied(std::uint64_t worker, std::uint64_t staleness) {
  ExchangeStats stats;
  stats.applied = 1;
  stats.staleness = static_cast<double>(staleness);
  stats.staleness_max = static_cast<std::int64_t>(staleness);
  workers_[worker].since.add(stats);
}

std::optional<Json> ExchangeReport::event(std::uint64_t worker, double now,
                                          bool all) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return std::nullopt;
  Worker& w = found->second;
  if (w.since.empty() || (!all && now - w.told < kInterval))
    return std::nullopt;
  w.told = now;
  Json summary = w.since.summary();
  w.before.add(std::exchange(w.since, {}));
  summary["worker"] = worker;
  return summary;
}

ExchangeStats ExchangeReport::total() const {
  ExchangeStats sum;
  for (const auto& [number, worker] : workers_) {
    sum.add(worker.before);
    sum.add(worker.since);
  }
  return sum;
}

Json ExchangeReport::to_json() const {
  Json json = total().summary();
  Json list = Json::array();
  for (const auto& [number, worker] : workers_) {
    ExchangeStats all = worker.before;
    all.add(worker.since);
    Json each = all.summary();
    each["worker"] = number;
    list.push_back(std::move(each));
  }
  json["workers"] = std::move(list);
  return json;
}

std::string ExchangeReport::sent_text() const {
  const ExchangeStats s = total();
  return "density " + format("%.3g %%", 100 * s.density()) + ", threshold " +
         format("%.2g", mean_threshold(s));
}

std::string ExchangeReport::time_text() const {
  const ExchangeStats s = total();
  return "compute " + percent(s.share(s.compute)) + ", encode " +
         percent(s.share(s.encode)) + ", decode " + percent(s.share(s.decode)) +
         ", wait " + percent(s.share(s.wait)) + ", idle " +
         percent(s.share(s.idle));
}

std::string ExchangeReport::short_text() const {
  const ExchangeStats s = total();
  if (!shares()) return "idle " + percent(s.share(s.idle));
  return "density " + format("%.2g %%", 100 * s.density()) + "  staleness " +
         format("%.1f", s.applied > 0
                            ? s.staleness / static_cast<double>(s.applied)
                            : 0) +
         "  wait " + percent(s.share(s.wait));
}

}  // namespace dl::cluster
