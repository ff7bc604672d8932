// Reading of events.jsonl.

#include "libcore/plot/history.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/plot/summary_event.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostHappenings = 5000, kMostWorkers = 4096;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;

std::map<std::string, double> numbers_of(
    EventValue event, std::initializer_list<const char*> keys) {
  std::map<std::string, double> values;
  for (const char* key : keys) {
    const double value = number(event, key);
    if (std::isfinite(value)) values[key] = value;
  }
  return values;
}

void add_metrics(EventValue metrics, const std::string& prefix,
                 std::map<std::string, double>& all, int depth = 0) {
  if (!metrics.is_object() || depth > 2) return;
  for (EventValue one = metrics.first(); one; one = one.next())
    if (one.is_number())
      all[prefix + one.key()] = one.number();
    else
      add_metrics(one, prefix + one.key() + "/", all, depth + 1);
}

// Keeps every second one of each kind, from the end on.
template <typename T, typename Kind>
void halve(std::vector<T>& all, const Kind& kind) {
  std::map<std::size_t, bool> drops;
  std::vector<T> kept;
  kept.reserve(all.size() / 2 + 1);
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    bool& drop = drops[kind(*at)];
    if (!drop) kept.push_back(std::move(*at));
    drop = !drop;
  }
  std::ranges::reverse(kept);
  all = std::move(kept);
}

// "2026-01-31T12:00:00.123Z" since 1970; 0: it is no such time.
double seconds_of(const std::string& time) {
  std::tm at{};
  double seconds = 0;
  if (std::sscanf(time.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf", &at.tm_year,
                  &at.tm_mon, &at.tm_mday, &at.tm_hour, &at.tm_min,
                  &seconds) != 6 ||
      at.tm_year < 1970 || !(seconds >= 0 && seconds < 61))
    return 0;
  at.tm_year -= 1900;
  --at.tm_mon;
  return static_cast<double>(::timegm(&at)) + seconds;
}

// Words of the time line on an event, beside its kind and worker.
std::string words_of(EventValue event, const std::string& kind) {
  const auto said = [&](const char* key, const char* before) {
    const Json value = event[key].json();
    if (value.is_null() || value == Json("")) return std::string();
    return std::string(before) +
           (value.is_string() ? value.get<std::string>() : dump_json(value));
  };
  if (kind == "join") return said("device", "") + said("host", " on ");
  if (kind == "lost") return said("why", "") + said("doing", ", doing ");
  if (kind == "resume") return said("checkpoint", "from ");
  if (kind == "start") return said("mode", "") + said("epochs", ", epochs ");
  if (kind == "straggler") return said("factor", "slower by a factor of ");
  if (kind == "setback") return said("version", "back to version ");
  if (kind == "checkpoint") return said("checkpoint", "");
  if (kind == "false_losses")
    return said("loss", "told ") + said("others", ", is ");
  return said("why", "") + said("action", ": ");
}

// The name of an event where the master writes it, near the line's beginning;
// or "".
std::string_view early_name(std::string_view line) {
  constexpr std::string_view kKey = R"("event":")";
  constexpr std::size_t kNear = 256;
  line = line.substr(0, kNear);
  const std::size_t at = line.find(kKey);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kKey.size());
  return line.substr(0, line.find('"'));
}

// The number of a worker that a key has.
std::int64_t count_in(const std::string& key) {
  const double number = std::strtod(key.c_str(), nullptr);
  return number >= 0 && number < 0x1p53 ? static_cast<std::int64_t>(number) : 0;
}

}  // namespace

bool History::has_events() const {
  return !commits.empty() || !epochs.empty() || !held_out.empty() ||
         !exchanges.empty() || !rounds.empty() || !summaries.empty() ||
         !happenings.empty() || !start.is_null() || !report.is_null();
}

std::vector<double> History::batches_at_epochs() const {
  std::map<std::int64_t, double> of;
  for (const Commit& commit : commits)
    of[commit.epoch] += static_cast<double>(commit.count);
  std::vector<double> all;
  for (const Epoch& epoch : epochs) {
    double sum = 0;
    for (auto at = of.begin(); at != of.upper_bound(epoch.epoch); ++at)
      sum += at->second;
    all.push_back(sum);
  }
  return all;
}

bool HistoryReader::read() {
  std::ifstream in(path_, std::ios::binary);
  struct stat now {};
  if (!in || ::stat(path_.c_str(), &now) != 0)
    throw Error{Code::kNoInput, "cannot open " + in_quotes(path_) + ": " +
                                    std::strerror(errno)};
  if (offset_ > 0 && (now.st_ino != file_ || now.st_size < offset_))
    *this = HistoryReader(path_);
  if (failed_) std::rethrow_exception(failed_);
  file_ = now.st_ino;
  in.seekg(offset_);
  bool any = false;
  std::string bytes(kReadAtOnce, '\0');
  while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
         in.gcount() > 0) {
    offset_ += in.gcount();
    const auto size = static_cast<std::size_t>(in.gcount());
    any |= take_lines(std::string_view(bytes).substr(0, size));
  }
  add_waiting();
  if (in.bad()) throw Error{Code::kIo, "cannot read " + in_quotes(path_)};
  return any;
}

bool HistoryReader::take_lines(std::string_view bytes) {
  bool any = false;
  for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos;
       bytes.remove_prefix(end + 1)) {
    any = true;
    if (passing_over_) {
      ++lines_;
      ++history_.damaged;
    } else if (begun_.empty()) {
      take_line(bytes.substr(0, end));
    } else {
      begun_ += bytes.substr(0, end);
      take_line(begun_);
    }
    begun_.clear();
    passing_over_ = false;
  }
  if (begun_.size() + bytes.size() > kLongestLine) {
    passing_over_ = true;
    begun_ = {};
  }
  if (!passing_over_) begun_ += bytes;
  return any;
}

void HistoryReader::take_line(std::string_view line) {
  ++lines_;
  if (line.empty()) return;
  const std::string_view name = early_name(line);
  // Half of all lines, and nothing is drawn of them.
  if (name == "lease") return;
  if (name == "summary" && !summaries_.takes()) return;
  const bool is_event =
      line_.parse(line) && !text(line_.root(), "event").empty();
  if (!is_event) {
    ++history_.damaged;
    return;
  }
  try {
    take(line_.root());
  } catch (const Error& e) {
    // Where a line is missing, so may the restart that made it right.
    if (history_.damaged > 0) return;
    failed_ = std::make_exception_ptr(
        Error{e.code(), in_quotes(path_) + ", line " + std::to_string(lines_) +
                            ": " + e.what()});
    std::rethrow_exception(failed_);
  }
}

void HistoryReader::move_clock(EventValue event) {
  const double mono = number(event, "mono");
  if (!std::isfinite(mono)) return;
  const std::int64_t incarnation = count(event, "incarnation");
  if (incarnation != incarnation_) {
    incarnation_ = incarnation;
    base_ = history_.seconds;
    mono_ = mono;
    numbers_.clear();
  }
  history_.seconds = std::max(history_.seconds, base_ + mono - mono_);
}

// Workers of a name are one, in whichever start.
std::size_t HistoryReader::worker(std::int64_t number, std::string name) {
  const auto known = numbers_.find(number);
  if (known != numbers_.end() && name.empty()) return known->second;
  if (name.empty()) name = "worker " + std::to_string(number);
  auto& workers = history_.workers;
  auto at = std::ranges::find(workers, name);
  if (at == workers.end() && workers.size() < kMostWorkers)
    at = workers.insert(workers.end(), name);
  if (at == workers.end()) --at;
  return numbers_[number] = static_cast<std::size_t>(at - workers.begin());
}

std::size_t HistoryReader::worker(EventValue event) {
  return worker(count(event, "worker"), text(event, "name"));
}

// Commits that are not in the state from which the run goes on.
void HistoryReader::forget(EventValue event) {
  add_waiting();
  const std::int64_t epoch = count(event, "epoch");
  const Parts ranges = parts_of(event["committed"]);
  committed_.go_back(epoch, ranges);
  Cutter cutter(ranges);
  const auto later = [&](const auto& one) { return one.epoch >= epoch; };
  std::erase_if(history_.commits, [&](Commit& commit) {
    if (commit.epoch == epoch) cutter.cut(commit);
    return commit.epoch > epoch || (commit.count == 0 && commit.examples == 0);
  });
  std::erase_if(history_.epochs, later);
  std::erase_if(history_.summaries,
                [&](const Summary& one) { return one.epoch > epoch; });
  std::erase_if(history_.held_out, later);
}

void HistoryReader::note(EventValue event, const std::string& kind) {
  if (history_.happenings.size() >= kMostHappenings) {
    ++history_.happenings_left_out;
    return;
  }
  Happening happening{history_.seconds, kind, text(event, "ts"), "",
                      words_of(event, kind)};
  if (event["worker"]) happening.worker = history_.workers[worker(event)];
  history_.happenings.push_back(std::move(happening));
}

// A commit of its own; or, in a history that is long already, part of one.
void HistoryReader::add(Commit commit) {
  if (commits_a_point_ > 1) {
    waiting_.resize(std::max(waiting_.size(), commit.worker + 1));
    std::optional<Commit>& before = waiting_[commit.worker];
    if (before && before->epoch == commit.epoch)
      add_earlier(commit, *before);
    else if (before)
      history_.commits.push_back(*std::move(before));
    before.reset();
    if (commit.commits < commits_a_point_) {
      before = std::move(commit);
      return;
    }
  }
  history_.commits.push_back(std::move(commit));
  thin();
}

void HistoryReader::add_waiting() {
  for (std::optional<Commit>& one : waiting_)
    if (one) history_.commits.push_back(*std::move(one));
  waiting_.clear();
}

void HistoryReader::take_commit(EventValue event) {
  const auto first = count(event, "first");
  const std::int64_t batches = event["count"] ? count(event, "count") : 1;
  if (batches < 1 || (event["count"] && !event["count"].is_integer())) {
    ++history_.damaged;
    return;
  }
  const std::int64_t epoch = count(event, "epoch");
  auto from = static_cast<double>(first);
  const double end = from + static_cast<double>(batches);
  const EventValue passed_over = event["passed_over"];
  if (passed_over.is_array())
    for (EventValue one = passed_over.first(); one; one = one.next()) {
      if (!(one.number() >= from && one.number() < end)) continue;
      committed_.add(epoch, from, one.number());
      from = one.number() + 1;
    }
  committed_.add(epoch, from, end);
  add({history_.seconds, number(event, "loss"), number(event, "staleness"),
       epoch, first, batches, count(event, "examples"), count(event, "bytes"),
       worker(event)});
}

// A sum of commits, as a commit of each worker.
void HistoryReader::take_commits(EventValue event) {
  const auto parts =
      std::make_shared<const Parts>(parts_of(event["committed"]));
  const EventValue workers = event["workers"];
  if (parts->empty() || !workers.is_object()) {
    ++history_.damaged;
    return;
  }
  const std::int64_t epoch = count(event, "epoch");
  std::int64_t trained = 0, there = 0;
  for (const Commit::Part& part : *parts) {
    committed_.add(epoch, part.first, part.end);
    there += static_cast<std::int64_t>(part.end - part.first);
  }
  for (EventValue sums = workers.first(); sums; sums = sums.next()) {
    const auto batches = std::max<std::int64_t>(1, count(sums, "batches"));
    trained += count(sums, "batches");
    add({history_.seconds, number(sums, "loss"), number(sums, "staleness"),
         epoch, static_cast<std::int64_t>(parts->front().first), batches,
         count(sums, "examples"), count(sums, "bytes"),
         worker(count_in(sums.key()), {}),
         static_cast<std::int64_t>(parts->back().end),
         std::max<std::int64_t>(1, count(sums, "commits")), parts});
  }
  if (trained != there)
    throw Error{Code::kData, std::to_string(there) +
                                 " mini-batches are committed, and the sums "
                                 "of their workers have " +
                                 std::to_string(trained)};
}

// Sums pairs of commits where there are many, and halves other long lists.
void HistoryReader::thin() {
  constexpr std::size_t kMostCommits = 400'000, kMostOthers = 50'000;
  constexpr std::size_t kMostSummaries = 4'000;  // each has many numbers
  auto& commits = history_.commits;
  if (commits.size() >= kMostCommits) {
    history_.thinned = true;
    add_waiting();
    std::vector<Commit*> waiting(history_.workers.size());
    for (Commit& commit : commits) {
      Commit*& before = waiting[commit.worker];
      if (before != nullptr && before->epoch == commit.epoch) {
        add_earlier(commit, *before);
        before->commits = 0;
        before = nullptr;
      } else {
        before = &commit;
      }
    }
    std::erase_if(commits, [](const Commit& one) { return one.commits == 0; });
    if (commits.size() >= kMostCommits)  // of as many epochs
      halve(commits, [](const Commit& one) { return one.worker; });
    std::int64_t all = 0;
    for (const Commit& commit : commits) all += commit.commits;
    commits_a_point_ =
        std::max(commits_a_point_ + 1, all / std::ssize(commits));
  }
  const auto bound = [&](auto& list, const auto& kind, std::size_t most) {
    if (list.size() < most) return false;
    history_.thinned = true;
    halve(list, kind);
    return true;
  };
  const auto alike = [](const auto&) { return std::size_t{0}; };
  bound(
      history_.exchanges, [](const Exchange& one) { return one.worker; },
      kMostOthers);
  bound(history_.rounds, alike, kMostOthers);
  bound(history_.epochs, alike, kMostOthers);
  bound(history_.held_out, alike, kMostOthers);
  if (bound(history_.summaries, alike, kMostSummaries)) summaries_.every *= 2;
}

void HistoryReader::take(EventValue event) {
  static const std::set<std::string> noted = {
      "start",        "resume", "join",       "leave",      "lost",
      "return",       "stop",   "straggler",  "catch_up",   "revoke",
      "false_losses", "fault",  "quarantine", "divergence", "setback",
      "checkpoint",   "feed",   "direct"};
  move_clock(event);
  if (history_.begin == 0) history_.begin = seconds_of(text(event, "ts"));
  const std::string kind = text(event, "event");
  const double seconds = history_.seconds;
  const std::int64_t epoch = count(event, "epoch");
  if (kind == "start" || kind == "resume") history_.start = event.json();
  if (kind == "resume" || kind == "setback") forget(event);
  if (noted.contains(kind)) {
    note(event, kind);
  } else if (kind == "commit") {
    take_commit(event);
  } else if (kind == "commits") {
    take_commits(event);
  } else if (kind == "fold") {
    history_.folded = count(event, "folded");
  } else if (kind == "epoch") {
    history_.epochs.push_back(
        {epoch, count(event, "examples"), seconds, number(event, "loss")});
    thin();
  } else if (kind == "evaluation") {
    HeldOut held_out{epoch, seconds, {}};
    add_metrics(event["metrics"], "", held_out.metrics);
    history_.held_out.push_back(std::move(held_out));
  } else if (kind == "exchange") {
    auto values =
        numbers_of(event, {"batches", "updates", "bytes", "threshold",
                           "density", "compute_ms", "encode_ms", "decode_ms",
                           "wait", "idle", "cores", "memory"});
    const EventValue staleness = event["staleness"];
    values["staleness_mean"] = number(staleness, "mean");
    values["staleness_max"] = number(staleness, "max");
    thin();
    history_.exchanges.push_back(
        {seconds, epoch, worker(event), std::move(values)});
  } else if (kind == "round" || kind == "rounds") {
    thin();
    history_.rounds.push_back(
        {seconds, epoch,
         numbers_of(event, {"loss", "bytes", "slots", "examples", "replicas",
                            "residual", "parties"})});
  } else if (kind == "summary") {
    if (auto summary = summary_of(event, seconds))
      history_.summaries.push_back(*std::move(summary));
    thin();
  } else if (kind == "report") {
    history_.report = event.json();
  }
}

}  // namespace dl::plot
