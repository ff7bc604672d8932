// Prediction of speed on more hosts from measurements.

#include "libcore/cluster/report/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/names.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/protocol/message_sync.h"
#include "libcore/cluster/settings/worker_advice.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kShown[] = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr Names<BreakEven::Side, 4> kSideNames{
    {{{BreakEven::kBelow, "below"},
      {BreakEven::kAbove, "above"},
      {BreakEven::kAlways, "always"},
      {BreakEven::kNever, "never"}}}};
constexpr Mode kModes[] = {Mode::kSharing, Mode::kAveraging, Mode::kSync};
// Exactness is worth a fifth of the speed.
constexpr double kNearlyAsFast = 0.8;

// A host like the mean of those measured, on the slowest line.
HostFigures typical(const std::vector<HostFigures>& hosts) {
  HostFigures mean;
  mean.bandwidth = std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(hosts.size());
  for (const HostFigures& host : hosts) {
    mean.compute += host.compute / n;
    mean.encode += host.encode / n;
    mean.decode += host.decode / n;
    mean.update_bytes += host.update_bytes / n;
    mean.round += host.round / n;
    mean.sync_alone += host.sync_alone / n;
    mean.sync_pair += host.sync_pair / n;
    mean.delta_bytes += host.delta_bytes / n;
    mean.bandwidth = std::min(mean.bandwidth, host.bandwidth);
    mean.exchange += host.exchange / n;
    mean.gradient = std::max(mean.gradient, host.gradient);
    mean.round_trip = std::max(mean.round_trip, host.round_trip);
    mean.message = std::max(mean.message, host.message);
    for (std::size_t i = 0; i < mean.slowest.size(); ++i) {
      mean.slowest[i] += host.slowest[i] / n;
      mean.slowest_round[i] += host.slowest_round[i] / n;
    }
  }
  return mean;
}

// Between those that were measured, by the logarithm; beyond, as of the most.
double of_slowest(const Slowest& slowest, std::int64_t workers) {
  const double at = std::log2(static_cast<double>(workers));
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= slowest.size()) return slowest.back();
  const double part = at - static_cast<double>(below);
  return (1 - part) * slowest[below] + part * slowest[below + 1];
}

double sharing_compute(const HostFigures& host, double n) {
  return host.compute + host.encode + n * host.decode + host.exchange +
         (n - 1) * host.message;
}

// Bytes that the busiest line, the master's, carries while every host does a
// mini-batch.
double sharing_bytes(const Estimate& estimate, std::int64_t workers) {
  return static_cast<double>(workers * children_of_master(estimate.topology,
                                                          estimate.fan_out,
                                                          workers)) *
         typical(estimate.hosts).update_bytes;
}

// Bytes that pass one after the other in a round of averaging: sums on their
// mode to the master, and the average down to the last worker.
double round_bytes(const Estimate& estimate, std::int64_t workers,
                   double replica_bytes) {
  const auto n = static_cast<double>(workers);
  if (!is_tree(estimate.topology, workers)) return 2 * n * replica_bytes;
  constexpr auto kGroup = static_cast<std::int64_t>(exchange::kAverageGroup);
  double up = 0, each = replica_bytes;
  std::int64_t parts = workers;
  for (; parts > kGroup; parts = (parts + kGroup - 1) / kGroup) {
    up += kGroup * each;
    // A sum has whatever one of its parts has.
    each =
        std::min(kGroup * each, 4 * static_cast<double>(estimate.parameters));
  }
  up += static_cast<double>(parts) * each;
  std::int64_t levels = 0;
  for (std::int64_t reached = 0, width = 1; reached < workers; ++levels)
    reached += width *= estimate.fan_out;
  return up + static_cast<double>(levels * estimate.fan_out) * replica_bytes;
}

// Pieces of a gradient in a step of sync: what a host averages comes from all
// and goes to all, the master too; of the rest its part goes out and the
// average comes in.
double sync_pieces(std::int64_t workers) {
  const auto n = static_cast<double>(workers);
  return (4 * n - 3) / (2 * n);
}

// Without parties the master sums.
bool are_parties(std::int64_t workers) {
  return workers > 1 && std::cmp_less_equal(workers, kMostParties);
}

// Bytes of a gradient that are transferred one after the other; those of a line
// go both ways at once.
double sync_bytes(const Estimate& estimate, std::int64_t workers) {
  const double gradient = 4 * static_cast<double>(estimate.parameters);
  return are_parties(workers) ? sync_pieces(workers) * gradient
                              : round_bytes(estimate, workers, gradient);
}

double sync_lines(const Estimate& estimate, const HostFigures& host,
                  std::int64_t workers) {
  return are_parties(workers) ? sync_pieces(workers) * host.gradient
                              : sync_bytes(estimate, workers) / host.bandwidth;
}

// Rehearsed time, scaled to other lines and to the slowest of so many.
double sync_seconds(const Estimate& estimate, const HostFigures& host,
                    std::int64_t workers) {
  const bool parties = are_parties(workers);
  return (parties ? host.sync_pair : host.sync_alone) +
         of_slowest(host.slowest, workers) - host.slowest[0] +
         sync_lines(estimate, host, workers) -
         sync_lines(estimate, host, parties ? 2 : 1);
}

// Seconds a mini-batch of each host.
double step_seconds(const Estimate& estimate, Mode mode, std::int64_t workers) {
  const HostFigures host = typical(estimate.hosts);
  const auto n = static_cast<double>(workers);
  switch (mode) {
    case Mode::kSharing:
      return std::max(sharing_compute(host, n),
                      sharing_bytes(estimate, workers) / host.bandwidth);
    case Mode::kAveraging: {
      const AveragingSettings& s = estimate.settings.averaging;
      const double round = of_slowest(host.slowest_round, workers) + host.round;
      const double exchange =
          round_bytes(estimate, workers, host.delta_bytes) / host.bandwidth +
          host.round_trip;
      return (s.overlap ? std::max(round, exchange) : round + exchange) /
             static_cast<double>(s.frequency);
    }
    case Mode::kSync:
      return sync_seconds(estimate, host, workers);
  }
  return host.compute;
}

Mode fastest(const Estimate& estimate, std::int64_t workers) {
  return *std::ranges::max_element(kModes, {}, [&](Mode mode) {
    return mode == Mode::kSync && !estimate.no_sync.empty()
               ? 0
               : estimate.rate(mode, workers);
  });
}

std::string bits(double bytes_per_second) {
  double value = 8 * bytes_per_second;
  const char* units[] = {" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s"};
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
  return format("%.3g", value) + units[unit];
}

std::string text_of(const BreakEven& even) {
  const std::string side(kSideNames.of(even.side));
  return even.bytes > 0 ? side + " " + bits(even.bytes) : side;
}

std::string milliseconds(double seconds) {
  return format("%.3g ms", 1e3 * seconds);
}

// To three digits: "5,220".
std::string rounded(double value) {
  const double unit =
      std::pow(10, std::max(0.0, std::floor(std::log10(value)) - 2));
  std::string text = format("%.0f", unit * std::round(value / unit));
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string without_end(std::string lines) {
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

std::string column(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
}

}  // namespace

double Estimate::rate(Mode mode, std::int64_t workers) const {
  return static_cast<double>(workers) * examples /
         step_seconds(*this, mode, workers);
}

BreakEven Estimate::break_even(std::int64_t workers) const {
  const HostFigures host = typical(hosts);
  const double sparse = sharing_bytes(*this, workers),
               dense = sync_bytes(*this, workers);
  // Without the lines.
  const double sharing = sharing_compute(host, static_cast<double>(workers));
  const double sync = std::max(
      sync_seconds(*this, host, workers) - sync_lines(*this, host, workers),
      of_slowest(host.slowest, workers));
  if (sparse < dense)
    return sharing > sync
               ? BreakEven{BreakEven::kBelow, dense / (sharing - sync)}
               : BreakEven{BreakEven::kAlways, 0};
  return sharing < sync ? BreakEven{BreakEven::kAbove, (sparse - dense) / sync}
                        : BreakEven{BreakEven::kNever, 0};
}

double Estimate::enough(std::int64_t workers) const {
  return sharing_bytes(*this, workers) /
         sharing_compute(typical(hosts), static_cast<double>(workers));
}

double Estimate::rate_of_one() const { return rate(fastest(*this, 1), 1); }

std::string Estimate::advice() const {
  const auto n = static_cast<std::int64_t>(hosts.size());
  if (n < 2)
    return "one host was measured: start more workers to see what their lines "
           "carry";
  const Mode mode = fastest(*this, n);
  const double gain = rate(mode, n) / rate_of_one();
  const std::string hosts_text = std::to_string(n) + " hosts";
  if (gain < 1.1)
    return "one host is as fast as " + hosts_text +
           ": a mini-batch takes too little time; raise --batch, or stay on "
           "one host";
  std::string text = hosts_text + " are " + format("%.1f", gain) +
                     " times as fast as one with --mode " +
                     std::string(kModeNames.of(mode));
  const double linear = gain / static_cast<double>(n);
  if (linear >= 0.9) return text + ", nearly linear";
  text += " (" + format("%.0f", 100 * linear) + " % of linear)";
  if (mode == Mode::kSharing && enough(n) > typical(hosts).bandwidth)
    return text +
           "; the lines are too slow: a lower density, --push or "
           "averaging with --delta sparse sends less";
  return text + "; a larger --batch makes more of a step";
}

Estimate::Choice Estimate::choose(std::int64_t workers) const {
  if (alone)
    return {Mode::kAveraging,
            "one worker trains by itself, exactly; others that join it later "
            "are averaged with it (--min-workers waits for them, and measures "
            "them)"};
  if (!no_sync.empty()) return {Mode::kSharing, "sharing, as " + no_sync};
  if (!failure.empty())
    return {Mode::kSharing, "sharing; nothing could be measured: " + failure};
  const double sharing = rate(Mode::kSharing, workers),
               sync = rate(Mode::kSync, workers);
  const bool exact = sync >= kNearlyAsFast * sharing;
  return {exact ? Mode::kSync : Mode::kSharing,
          std::string(exact ? "sync, " : "sharing, ") +
              rounded(exact ? sync : sharing) + " examples/s expected of " +
              std::to_string(workers) + " workers; " +
              (exact ? "sharing " : "sync ") + rounded(exact ? sharing : sync) +
              (exact && sync < sharing ? ", which is not exact" : "")};
}

std::string Estimate::workers_text() const {
  const auto n = static_cast<std::int64_t>(hosts.size());
  const std::string fact = together(settings, n);
  if (fact.empty()) return "";
  const std::string advice = worker_advice(settings, n, batches);
  if (advice.empty()) return fact + "\n";
  return (advice.starts_with(fact) ? "" : fact + "\n") + advice + "\n";
}

// Names hosts where something else seems to be at work.
std::string Estimate::unsteady_text() const {
  constexpr double kSteady = 3;
  std::string text;
  for (const HostFigures& host : hosts)
    if (host.compute_to > kSteady * host.compute_from)
      text += host.name + ": mini-batches take " +
              format("%.3g", 1e3 * host.compute_from) + " to " +
              milliseconds(host.compute_to) +
              ", so what is expected is uncertain: measure again while nothing "
              "else is at work there\n";
  return text;
}

std::string Estimate::to_text() const {
  std::string text = column("compute", 29) + column("from", 10) +
                     column("to", 10) + column("encode", 11) +
                     column("decode", 11) + column("update", 10) +
                     column("line", 13) + column("round trip", 12) +
                     column("message", 12) + "\n";
  for (const HostFigures& host : hosts) {
    std::string name = host.name.substr(0, 18);
    name.resize(18, ' ');
    text += name + column(milliseconds(host.compute), 11) +
            column(milliseconds(host.compute_from), 10) +
            column(milliseconds(host.compute_to), 10) +
            column(milliseconds(host.encode), 11) +
            column(milliseconds(host.decode), 11) +
            column(format("%.0f B", host.update_bytes), 10) +
            column(bits(host.bandwidth), 13) +
            column(milliseconds(host.round_trip), 12) +
            column(milliseconds(host.message), 12) + "\n";
  }
  text +=
      "\nexamples/s expected of all hosts together, and share of linear; "
      "sharing pays on lines of so many bit/s\n" +
      column("hosts", 6) + column("sharing", 18) + column("averaging", 18) +
      column("sync", 18) + column("sharing pays", 20) + "\n";
  const double one = rate_of_one();
  for (const std::int64_t n : kShown) {
    text += column(std::to_string(n), 6);
    for (const Mode mode : kModes) {
      if (mode == Mode::kSync && !no_sync.empty()) {
        text += column("-", 18);
        continue;
      }
      const double value = rate(mode, n);
      text += column(
          format("%.3g", value) + " (" +
              format("%.0f", 100 * value / (static_cast<double>(n) * one)) +
              " %)",
          18);
    }
    text +=
        column(n == 1 || !no_sync.empty() ? "" : text_of(break_even(n)), 20) +
        (is_tree(topology, n) ? "  tree\n" : "\n");
  }
  text += "\n" + advice() + "\n" + workers_text() + unsteady_text();
  if (!no_sync.empty()) text += no_sync + "\n";
  if (local && hosts.size() > 1)
    text +=
        "these workers share one host and its memory: a host is taken for "
        "what one of them measured, and has no line that slows it\n";
  return text;
}

Json Estimate::to_json() const {
  Json measured = Json::array();
  for (const HostFigures& host : hosts)
    measured.push_back({{"name", host.name},
                        {"compute", host.compute},
                        {"compute_from", host.compute_from},
                        {"compute_to", host.compute_to},
                        {"encode", host.encode},
                        {"decode", host.decode},
                        {"update_bytes", host.update_bytes},
                        {"delta_bytes", host.delta_bytes},
                        {"round", host.round},
                        {"exchange", host.exchange},
                        {"sync_alone", host.sync_alone},
                        {"sync_pair", host.sync_pair},
                        {"bandwidth", host.bandwidth},
                        {"gradient", host.gradient},
                        {"round_trip", host.round_trip},
                        {"message", host.message},
                        {"slowest", host.slowest},
                        {"slowest_round", host.slowest_round}});
  Json expected = Json::array();
  for (const std::int64_t n : kShown) {
    Json row{{"hosts", n},
             {"sharing", rate(Mode::kSharing, n)},
             {"averaging", rate(Mode::kAveraging, n)},
             {"sync", no_sync.empty() ? Json(rate(Mode::kSync, n)) : Json()}};
    if (n > 1 && no_sync.empty()) {
      const BreakEven even = break_even(n);
      row["sharing_pays"] = kSideNames.of(even.side);
      row["break_even"] = even.bytes > 0 ? Json(even.bytes) : Json();
    }
    expected.push_back(std::move(row));
  }
  return {{"measured", std::move(measured)},
          {"expected", std::move(expected)},
          {"advice", advice()},
          {"workers", without_end(workers_text())}};
}

}  // namespace dl::cluster
