// Composition of a run's page.

#include "libcore/plot/run_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/base/number_format.h"
#include "libcore/nn/config/config.h"
#include "libcore/plot/diagram.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"
#include "libcore/plot/run_charts.h"
#include "libcore/plot/timeline.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostRows = 200;  // of events

using Rows = std::vector<std::vector<std::string>>;

// A setting or number of a report; of a long list the first numbers.
std::string cell_of(const std::string& value) {
  constexpr std::ptrdiff_t kMostNumbers = 6;
  const auto commas = std::ranges::count(value, ',');
  if (!value.starts_with('[') || commas < kMostNumbers) return value;
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) at = value.find(',', at) + 1;
  return value.substr(0, at) + " … (" +
         grouped(static_cast<double>(commas + 1)) + ")]";
}

std::string state_of(const History& history) {
  if (!history.report.is_null()) {
    const std::string reason = text(history.report, "reason");
    return reason.empty() ? "finished" : "ended: " + reason;
  }
  if (history.start.is_null()) return "not started";
  return "running or interrupted";
}

std::string mode_of(const Run& run) {
  const std::string mode = text(run.history().start, "mode");
  return mode.empty() ? text(part(run.configuration(), "settings"), "mode")
                      : mode;
}

double batches_of(const History& history) {
  double sum = 0;
  for (const Commit& commit : history.commits)
    sum += static_cast<double>(commit.count);
  return sum;
}

double examples_of(const History& history) {
  double sum = 0;
  for (const Commit& commit : history.commits)
    sum += static_cast<double>(commit.examples);
  return sum;
}

// Name and last value of the metric that compares epochs; no name: none.
std::pair<std::string, double> last_metric(const Run& run) {
  const auto& held_out = run.history().held_out;
  if (held_out.empty()) return {"", kNone};
  const std::string wanted =
      text(part(run.configuration(), "settings"), "metric");
  for (const auto& [key, value] : held_out.back().metrics)
    if (key.substr(key.rfind('/') + 1) == wanted) return {wanted, value};
  return {"", kNone};
}

std::string epochs_of(const History& history) {
  const auto done = static_cast<double>(history.epochs.size());
  const std::int64_t all = count(history.start, "epochs");
  return grouped(done) +
         (all > 0 ? " of " + grouped(static_cast<double>(all)) : "");
}

void add_facts(Page& page, const Run& run) {
  const History& history = run.history();
  page.fact("State", state_of(history));
  page.fact("Mode", mode_of(run));
  page.fact("Epochs", epochs_of(history));
  page.fact("Mini-batches", grouped(batches_of(history)));
  if (!history.epochs.empty())
    page.fact("Training loss", readable_number(history.epochs.back().loss));
  if (const auto [name, value] = last_metric(run); !name.empty())
    page.fact("Held-out " + name, readable_number(value));
  page.fact("Training time", duration_text(history.seconds));
  if (history.seconds > 0)
    page.fact("Examples per second",
              grouped(examples_of(history) / history.seconds));
  page.fact("Workers", grouped(static_cast<double>(history.workers.size())));
}

void add_overview(Page& page, const std::vector<Run>& runs) {
  page.section("overview", "Overview");
  Rows rows;
  const auto names = names_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.push_back({names[i]});
    const auto row = overview_row(runs[i]);
    rows.back().insert(rows.back().end(), row.begin(), row.end());
  }
  std::vector<std::string> head = overview_head();
  head.insert(head.begin(), "Run");
  page.table(head, rows, "Runs");
}

// Share of its time that each worker computed and waited, over the run.
void add_shares(Page& page, const History& history) {
  struct Sum {
    double batches = 0, wait = 0, idle = 0;
  };
  std::map<std::size_t, Sum> sums;
  for (const Exchange& one : history.exchanges) {
    const auto value = [&](const char* key) {
      const auto at = one.values.find(key);
      return at == one.values.end() ? 0 : at->second;
    };
    Sum& sum = sums[one.worker];
    const double batches = value("batches");
    sum.batches += batches;
    sum.wait += batches * value("wait");
    sum.idle += batches * value("idle");
  }
  Rows rows;
  for (const auto& [worker, sum] : sums) {
    if (sum.batches <= 0) continue;
    const double wait = sum.wait / sum.batches, idle = sum.idle / sum.batches;
    const auto percent = [](double share) {
      return readable_number(std::round(1000 * share) / 10) + " %";
    };
    rows.push_back({history.workers[worker], grouped(sum.batches),
                    percent(std::max(0.0, 1 - wait - idle)), percent(wait),
                    percent(idle)});
  }
  if (!rows.empty())
    page.table({"Worker", "Mini-batches", "Computing", "Waiting for answers",
                "Waiting for work"},
               rows, "Shares of the workers' time");
}

void add_events(Page& page, const History& history) {
  page.section("events", "Events");
  page.html(
      "<figure class=\"wide\"><div class=\"scroll plot\" tabindex=\"0\" "
      "role=\"group\" "
      "aria-label=\"Time line\">" +
      timeline_svg(history) + "</div></figure>\n");
  Rows rows;
  for (const Happening& one : history.happenings) {
    if (rows.size() == kMostRows) break;
    rows.push_back(
        {duration_text(one.seconds), one.kind, one.worker, one.text, one.time});
  }
  const std::size_t left =
      history.happenings.size() - rows.size() + history.happenings_left_out;
  page.table({"After", "Event", "Worker", "", "Time of day"}, rows, "Events",
             true);
  if (left > 0)
    page.note(grouped(static_cast<double>(left)) + " more in events.jsonl.");
}

void add_network(Page& page, const Run& run) {
  const Json network = part(run.configuration(), "network");
  if (!network.is_object()) return;
  page.section("network", "Network");
  try {
    add_diagram(page, nn::parse_network(dump_json(network), "run.json"));
  } catch (const Error& e) {  // of a newer version, or edited
    page.note(std::string("The network cannot be drawn: ") + e.what());
  }
}

void add_settings(Page& page, const Run& run) {
  Rows rows;
  for (const auto& [name, value] : run.settings())
    rows.push_back({name, cell_of(value)});
  if (rows.empty()) return;
  page.section("settings", "Settings");
  page.table({"Setting", "Value"}, rows, "Settings", true);
}

void add_differences(Page& page, const std::vector<Run>& runs) {
  page.section("settings", "Differences of settings");
  std::vector<std::string> keys;
  std::map<std::string, std::vector<std::string>> of;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [key, value] : runs[i].settings()) {
      auto [at, fresh] =
          of.try_emplace(key, std::vector<std::string>(runs.size(), "–"));
      if (fresh) keys.push_back(key);
      at->second[i] = value;
    }
  Rows rows;
  for (const std::string& key : keys) {
    const auto& values = of[key];
    if (std::ranges::count(values, values[0]) ==
        static_cast<std::ptrdiff_t>(values.size()))
      continue;
    rows.push_back({key});
    for (const std::string& value : values)
      rows.back().push_back(cell_of(value));
  }
  if (rows.empty()) return page.note("All settings are the same.");
  std::vector<std::string> head = {"Setting"};
  for (const std::string& name : names_of(runs)) head.push_back(name);
  page.table(head, rows, "Differences of settings");
}

void add_report(Page& page, const History& history) {
  if (!history.report.is_object()) return;
  Rows rows;
  for (const auto& [key, value] : history.report.items()) {
    if (key == "history" || key == "event" || key == "workers") continue;
    if (!value.is_object()) {
      rows.push_back({key, value.is_string() ? value.get<std::string>()
                                             : cell_of(dump_json(value))});
      continue;
    }
    for (const auto& [inner, one] : value.items())
      if (inner != "workers")
        rows.push_back({key + "." + inner, one.is_string()
                                               ? one.get<std::string>()
                                               : cell_of(dump_json(one))});
  }
  page.section("report", "Final report");
  page.table({"Key", "Value"}, rows, "Final report", true);
}

void add_damage(Page& page, const Run& run, const std::string& name) {
  if (run.history().thinned)
    page.note("The history" + (name.empty() ? std::string() : " of " + name) +
              " is long: older points are means of several.");
  if (const auto damaged = run.history().damaged; damaged > 0)
    page.note("Passed over in the history" +
              (name.empty() ? std::string() : " of " + name) + ": " +
              counted(damaged, "damaged line") + ".");
}

}  // namespace

std::vector<std::string> overview_head() {
  return {"State",         "Mode",     "Epochs",        "Mini-batches",
          "Training loss", "Held-out", "Training time", "Workers"};
}

std::vector<std::string> overview_row(const Run& run) {
  const History& history = run.history();
  const auto [metric, value] = last_metric(run);
  return {state_of(history),
          mode_of(run),
          epochs_of(history),
          grouped(batches_of(history)),
          history.epochs.empty() ? "–"
                                 : readable_number(history.epochs.back().loss),
          metric.empty() ? "–" : metric + " " + readable_number(value),
          duration_text(history.seconds),
          grouped(static_cast<double>(history.workers.size()))};
}

std::string run_page(const std::vector<Run>& runs, const Live& live) {
  const auto names = names_of(runs);
  std::string title = names[0];
  for (std::size_t i = 1; i < names.size() && i < 4; ++i)
    title += ", " + names[i];
  if (names.size() > 4) title += " and others";
  Page page(title);
  page.live(live);
  const bool alone = runs.size() == 1;
  if (alone) add_facts(page, runs[0]);
  for (std::size_t i = 0; i < runs.size(); ++i)
    add_damage(page, runs[i], alone ? "" : names[i]);
  if (!alone) add_overview(page, runs);
  const auto groups = charts_of(runs);
  if (groups.empty()) page.note("There is nothing to draw yet.");
  for (const Group& group : groups) {
    page.section(group.id, group.title);
    page.charts(group.charts);
    if (alone && group.id == "speed") add_shares(page, runs[0].history());
  }
  if (!alone) {
    add_differences(page, runs);
    return page.to_html();
  }
  if (!runs[0].history().happenings.empty())
    add_events(page, runs[0].history());
  add_network(page, runs[0]);
  add_settings(page, runs[0]);
  add_report(page, runs[0].history());
  return page.to_html();
}

}  // namespace dl::plot
