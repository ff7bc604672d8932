// Drawing of the time line.

#include "libcore/plot/timeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "libcore/base/number_format.h"
#include "libcore/plot/axis.h"
#include "libcore/plot/markup.h"

namespace dl::plot {
namespace {

constexpr double kWidth = 1120, kLane = 24, kNames = 150, kEnd = 20, kHead = 8;
constexpr std::size_t kMostLanes = 40, kMostSigns = 400;

std::string pixel(double value) { return format("%.1f", value); }

struct Stay {
  double from = 0, to = 0;
};

// By worker; of the open ones the end is the run's.
std::map<std::string, std::vector<Stay>> stays_of(const History& history) {
  std::map<std::string, std::vector<Stay>> stays;
  std::map<std::string, double> open;
  const auto close = [&](const std::string& worker, double at) {
    const auto begun = open.find(worker);
    if (begun == open.end()) return;
    stays[worker].push_back({begun->second, at});
    open.erase(begun);
  };
  for (const Happening& one : history.happenings) {
    if (one.kind == "join" || one.kind == "return")
      open.try_emplace(one.worker, one.seconds);
    if (one.kind == "leave" || one.kind == "lost")
      close(one.worker, one.seconds);
    if (one.kind == "start" || one.kind == "resume")
      while (!open.empty()) close(open.begin()->first, one.seconds);
  }
  while (!open.empty()) close(open.begin()->first, history.seconds);
  return stays;
}

bool is_bad(const std::string& kind) {
  static const std::set<std::string> bad = {
      "lost",      "fault",  "quarantine",   "divergence", "setback",
      "straggler", "revoke", "false_losses", "stop"};
  return bad.contains(kind);
}

}  // namespace

std::string timeline_svg(const History& history) {
  if (history.happenings.empty()) return {};
  const auto stays = stays_of(history);
  std::vector<std::string> lanes = {"master"};
  for (const std::string& worker : history.workers)
    if (lanes.size() < kMostLanes) lanes.push_back(worker);
  const Axis axis = axis_of(0, std::max(history.seconds, 1e-3), 8, false);
  const double height = kHead + kLane * static_cast<double>(lanes.size()) + 44;
  const double plot = kWidth - kNames - kEnd;
  const auto left = [&](double seconds) {
    return kNames + plot * std::clamp(axis.place(seconds), 0.0, 1.0);
  };
  const double base = kHead + kLane * static_cast<double>(lanes.size());
  std::string out =
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 "
      "0 " +
      pixel(kWidth) + " " + pixel(height) +
      "\" role=\"img\" aria-label=\"Time line of the master and its workers; "
      "the table below has the same events\">";
  for (const Tick& tick : axis.ticks)
    out += "<path class=\"grid\" d=\"M" + pixel(left(tick.at)) + " " +
           pixel(kHead) + "V" + pixel(base) + "\"/><text class=\"x\" x=\"" +
           pixel(left(tick.at)) + "\" y=\"" + pixel(base + 17) + "\">" +
           tick.label + "</text>";
  std::map<std::string, double> tops;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double top = kHead + kLane * static_cast<double>(i);
    tops[i == 0 ? "" : lanes[i]] = top;
    out += "<text class=\"y\" x=\"" + pixel(kNames - 8) + "\" y=\"" +
           pixel(top + kLane / 2) + "\" dy=\".35em\">" + escaped(lanes[i], 20) +
           "</text>";
    const auto own = stays.find(lanes[i]);
    if (i == 0 || own == stays.end()) continue;
    for (const Stay& stay : own->second)
      out += "<rect class=\"lane\" rx=\"2\" x=\"" + pixel(left(stay.from)) +
             "\" y=\"" + pixel(top + 6) + "\" width=\"" +
             pixel(std::max(1.5, left(stay.to) - left(stay.from))) +
             "\" height=\"" + pixel(kLane - 12) + "\"/>";
  }
  std::size_t signs = 0;
  for (const Happening& one : history.happenings) {
    const auto top = tops.find(one.worker);
    if (top == tops.end() || ++signs > kMostSigns) continue;
    const bool restart = one.kind == "resume";
    const std::string x = pixel(left(one.seconds));
    out += "<g><title>" +
           escaped(one.kind + " at " + duration_text(one.seconds) +
                       (one.text.empty() ? "" : ": " + one.text),
                   200) +
           "</title>";
    if (restart)
      out += "<g class=\"mark\"><path d=\"M" + x + " " + pixel(kHead) + "V" +
             pixel(base) + "\"/></g>";
    out += "<circle r=\"4\" class=\"" +
           std::string(is_bad(one.kind) ? "bad" : "good") + "\" cx=\"" + x +
           "\" cy=\"" + pixel(top->second + kLane / 2) + "\"/></g>";
  }
  return out + "<text class=\"x\" x=\"" + pixel(kNames + plot / 2) + "\" y=\"" +
         pixel(height - 6) + "\">Training time in seconds</text></svg>";
}

}  // namespace dl::plot
