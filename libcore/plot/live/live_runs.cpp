// Looking after runs, and their pages.

#include "libcore/plot/live/live_runs.h"

#include <algorithm>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/hex.h"
#include "libcore/plot/live/web_target.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"
#include "libcore/plot/run_page.h"

namespace dl::plot {
namespace {

namespace fs = std::filesystem;

// Seconds between looks at a history and at folders.
constexpr double kLookEvery = 0.2, kFindEvery = 2;
// Pages are drawn again after so many times what drawing takes of a core; those
// of epochs are counted apart.
constexpr double kPatience = 150;
constexpr std::size_t kMostPages = 16, kMostRuns = 10000;

WebAnswer not_found() {
  return {404, "text/plain; charset=utf-8", "there is no such page\n"};
}

}  // namespace

LiveRuns::LiveRuns(std::vector<std::string> paths, Clock& clock, Clock& work)
    : paths_(std::move(paths)),
      clock_(clock),
      work_(work),
      start_(io::random_digits()) {
  std::error_code ignored;
  for (const std::string& path : paths_)
    if (!is_run(path) && !fs::is_directory(path, ignored))
      throw Error{Code::kNoInput,
                  "cannot open " + in_quotes(path) +
                      ": want a run directory or a folder of them"};
  find();
}

bool LiveRuns::alone() const { return paths_.size() == 1 && is_run(paths_[0]); }

void LiveRuns::find() {
  const double now = clock_.seconds();
  if (found_at_ >= 0 && now < found_at_ + kFindEvery) return;
  found_at_ = now;
  for (const std::string& path : paths_) {
    if (is_run(path)) {
      add(path);
      continue;
    }
    std::error_code failed;
    std::vector<std::string> there;
    for (auto at = fs::directory_iterator(path, failed);
         !failed && at != fs::directory_iterator(); at.increment(failed))
      if (at->is_directory(failed) && is_run(at->path().string()))
        there.push_back(at->path().string());
    std::ranges::sort(there);
    for (const std::string& one : there) add(one);
  }
}

void LiveRuns::add(const std::string& path) {
  if (known_.contains(path) || entries_.size() >= kMostRuns) return;
  std::string name = run_name(path);
  for (int n = 2; entries_.contains(name); ++n)
    name = run_name(path) + " (" + std::to_string(n) + ")";
  known_[path] = name;
  entries_[name].path = path;
}

// A history that cannot be read now may be later: a run begins, or begins anew.
void LiveRuns::read(Entry& entry) {
  try {
    const bool first = !entry.run;
    if (first) entry.run.emplace(entry.path);
    const History& history = entry.run->history();
    const auto epochs = history.epochs.size() + history.held_out.size();
    const bool over = !history.report.is_null();
    if (!first && !entry.run->read()) return;
    entry.changed = true;
    entry.decisive |=
        first || epochs != history.epochs.size() + history.held_out.size() ||
        over != !history.report.is_null();
    entry.error.clear();
  } catch (const Error& e) {
    entry.error = e.what();
  }
}

void LiveRuns::look_at(Entry& entry) {
  const double now = clock_.seconds();
  if (!hurried_ && entry.looked_at >= 0 && now < entry.looked_at + kLookEvery)
    return;
  entry.looked_at = now;
  read(entry);
  const bool due =
      entry.changed &&
      (hurried_ ||
       now >= entry.shown_at + std::max(1.0, kPatience * entry.cost));
  const bool due_by_epoch =
      entry.decisive &&
      now >= entry.epoch_shown_at + std::max(0.5, kPatience * entry.cost);
  if (entry.shown > 0 && !due && !due_by_epoch) return;
  ++entry.shown;
  entry.shown_at = now;
  if (entry.decisive) entry.epoch_shown_at = now;
  entry.changed = entry.decisive = false;
}

std::optional<std::vector<LiveRuns::Entry*>> LiveRuns::entries(
    const std::string& target) {
  std::vector<Entry*> found;
  const WebTarget parsed = parse_web_target(target);
  const std::vector<std::string> names = parsed.values("name");
  if (parsed.path != "" && parsed.path != "run" && parsed.path != "events")
    return std::nullopt;
  if (names.empty() || !alone()) find();
  if (names.empty()) {
    if (parsed.path == "run") return std::nullopt;
    for (auto& [name, entry] : entries_) found.push_back(&entry);
    return found;
  }
  for (const std::string& name : names) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return std::nullopt;
    if (std::ranges::find(found, &at->second) == found.end())
      found.push_back(&at->second);
  }
  return found;
}

std::string LiveRuns::state_of(const std::vector<Entry*>& entries) {
  std::string state = start_ + "-" + std::to_string(entries.size());
  std::uint64_t sum = 0;  // each of them grows
  for (Entry* entry : entries) {
    look_at(*entry);
    sum += entry->shown;
  }
  return state + "-" + std::to_string(sum);
}

std::optional<std::string> LiveRuns::state(const std::string& target) {
  const auto of = entries(target);
  return of ? std::optional(state_of(*of)) : std::nullopt;
}

WebAnswer LiveRuns::answer(const std::string& target) {
  const WebTarget parsed = parse_web_target(target);
  const auto of = entries(target);
  if (!of || parsed.path == "events") return not_found();
  const std::string state = state_of(*of);
  Page& page = pages_[target];
  if (page.state != state) {
    const bool list = parsed.path.empty() && !alone();
    for (const Entry* entry : *of)
      if (!list && !entry->run)
        return {404, "text/plain; charset=utf-8", entry->error + "\n"};
    std::string html = draw(*of, state, list);
    if (pages_.size() > kMostPages) pages_.clear();
    pages_[target] = {state, html};
    return {.body = std::move(html)};
  }
  return {.body = page.html};
}

std::string LiveRuns::draw(const std::vector<Entry*>& entries,
                           const std::string& state, bool list) {
  const double begin = work_.seconds();
  std::vector<Run> runs;
  if (!list)
    for (const Entry* entry : entries) runs.push_back(*entry->run);
  std::string html =
      list ? list_page(state) : run_page(runs, {state, !alone()});
  const double each =
      (work_.seconds() - begin) / static_cast<double>(entries.size() + 1);
  for (Entry* entry : entries)
    entry->cost = list ? std::max(entry->cost, each) : 2 * each;
  return html;
}

std::string LiveRuns::list_page(const std::string& state) {
  plot::Page page("Runs");
  page.live({state, false});
  std::string rows;
  for (const auto& [name, entry] : entries_) {
    const std::string label = escaped(name, 200);
    rows += "<tr><td><input type=\"checkbox\" name=\"name\" value=\"" +
            escaped(name) + "\" aria-label=\"" + label +
            "\"></td><th scope=\"row\"><a href=\"run?name=" + in_query(name) +
            "\">" + label + "</a></th>";
    const auto cells = entry.run ? overview_row(*entry.run)
                                 : std::vector<std::string>{entry.error};
    for (const std::string& cell : cells)
      rows += "<td>" + escaped(cell, 300) + "</td>";
    rows += "</tr>\n";
  }
  if (rows.empty()) page.note("There is no run yet.");
  std::string head = "<th></th><th scope=\"col\">Run</th>";
  for (const std::string& name : overview_head())
    head += "<th scope=\"col\">" + name + "</th>";
  page.section("runs", "Runs");
  page.html(
      "<form action=\"run\"><div class=\"scroll all\"><table><thead><tr>" +
      head + "</tr></thead><tbody>" + rows +
      "</tbody></table></div><p><button>Compare the chosen runs</button></p>"
      "</form>\n");
  return page.to_html();
}

}  // namespace dl::plot
