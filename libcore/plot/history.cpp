// Reading of events.jsonl.

#include "libcore/plot/history.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>

#include "libcore/base/display.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostHappenings = 5000, kMostWorkers = 4096;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;

std::map<std::string, double> numbers_of(const Json& event,
                                         const std::set<std::string>& keys) {
  std::map<std::string, double> values;
  for (const std::string& key : keys) {
    const double value = number(event, key.c_str());
    if (std::isfinite(value)) values[key] = value;
  }
  return values;
}

void add_metrics(const Json& metrics, const std::string& prefix,
                 std::map<std::string, double>& all, int depth = 0) {
  if (!metrics.is_object() || depth > 2) return;
  for (const auto& [key, value] : metrics.items())
    if (value.is_number())
      all[prefix + key] = value.get<double>();
    else
      add_metrics(value, prefix + key + "/", all, depth + 1);
}

bool in_ranges(const Json& ranges, const Commit& commit) {
  if (!ranges.is_array()) return false;
  return std::ranges::any_of(ranges, [&](const Json& range) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() ||
        !range[1].is_number())
      return false;
    const double first = range[0].get<double>();
    return static_cast<double>(commit.first) >= first &&
           static_cast<double>(commit.first + commit.count) <=
               first + range[1].get<double>();
  });
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
std::string words_of(const Json& event, const std::string& kind) {
  const auto said = [&](const char* key, const char* before) {
    const Json value = part(event, key);
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

Spread spread_of(const Json& json) {
  constexpr std::size_t kMostParts = 1000;
  Spread spread{number(json, "norm"),
                number(json, "mean"),
                number(json, "low"),
                number(json, "high"),
                {}};
  const Json counts = part(json, "counts");
  if (!counts.is_array() || counts.size() > kMostParts) return spread;
  for (const Json& count : counts)
    spread.counts.push_back(count.is_number() ? count.get<double>() : 0);
  return spread;
}

void take_summary(const Json& event, History& history) {
  constexpr std::size_t kMostLayers = 10000;
  const Json layers = part(event, "layers");
  if (!layers.is_object() || layers.size() > kMostLayers) return;
  Summary summary{history.seconds,
                  count(event, "epoch"),
                  number(event, "batches"),
                  number(event, "since"),
                  {}};
  for (const auto& [name, layer] : layers.items())
    summary.layers[name] = {spread_of(part(layer, "parameters")),
                            spread_of(part(layer, "change")),
                            number(layer, "learning_rate")};
  history.summaries.push_back(std::move(summary));
}

}  // namespace

double Spread::quantile(double share) const {
  double all = 0, sum = 0;
  for (const double count : counts) all += count;
  if (!(all > 0)) return kNone;
  const double width = (high - low) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (sum + counts[i] >= share * all && counts[i] > 0)
      return low +
             width * (static_cast<double>(i) + (share * all - sum) / counts[i]);
    sum += counts[i];
  }
  return high;
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
  if (in.bad()) throw Error{Code::kIo, "cannot read " + in_quotes(path_)};
  return any;
}

bool HistoryReader::take_lines(std::string_view bytes) {
  bool any = false;
  for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos;
       bytes.remove_prefix(end + 1)) {
    any = true;
    if (passing_over_) {
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
  if (line.empty()) return;
  // Half of all lines, and nothing is drawn of them.
  if (line.find(R"("event":"lease")") != std::string_view::npos) return;
  const Json event = Json::parse(line, nullptr, false);
  if (event.is_object() && !text(event, "event").empty())
    take(event);
  else
    ++history_.damaged;
}

void HistoryReader::move_clock(const Json& event) {
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
std::size_t HistoryReader::worker(const Json& event) {
  const std::int64_t number = count(event, "worker");
  const auto known = numbers_.find(number);
  std::string name = text(event, "name");
  if (known != numbers_.end() && name.empty()) return known->second;
  if (name.empty()) name = "worker " + std::to_string(number);
  auto& workers = history_.workers;
  auto at = std::ranges::find(workers, name);
  if (at == workers.end() && workers.size() < kMostWorkers)
    at = workers.insert(workers.end(), name);
  if (at == workers.end()) --at;
  return numbers_[number] = static_cast<std::size_t>(at - workers.begin());
}

// Commits that are not in the state from which the run goes on.
void HistoryReader::forget(const Json& event) {
  const std::int64_t epoch = count(event, "epoch");
  const Json ranges = part(event, "committed");
  const auto later = [&](const auto& one) { return one.epoch >= epoch; };
  std::erase_if(history_.commits, [&](const Commit& commit) {
    return commit.epoch > epoch ||
           (commit.epoch == epoch && !in_ranges(ranges, commit));
  });
  std::erase_if(history_.epochs, later);
  std::erase_if(history_.summaries,
                [&](const Summary& one) { return one.epoch > epoch; });
  std::erase_if(history_.held_out, later);
}

void HistoryReader::note(const Json& event, const std::string& kind) {
  if (history_.happenings.size() >= kMostHappenings) {
    ++history_.happenings_left_out;
    return;
  }
  Happening happening{history_.seconds, kind, text(event, "ts"), "",
                      words_of(event, kind)};
  if (event.contains("worker"))
    happening.worker = history_.workers[worker(event)];
  history_.happenings.push_back(std::move(happening));
}

void HistoryReader::take(const Json& event) {
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
  if (kind == "start" || kind == "resume") history_.start = event;
  if (kind == "resume" || kind == "setback") forget(event);
  if (noted.contains(kind)) {
    note(event, kind);
  } else if (kind == "commit") {
    history_.commits.push_back(
        {seconds, number(event, "loss"), number(event, "staleness"), epoch,
         count(event, "first"),
         std::max<std::int64_t>(1, count(event, "count")),
         count(event, "examples"), count(event, "bytes"), worker(event)});
  } else if (kind == "epoch") {
    history_.epochs.push_back(
        {epoch, count(event, "examples"), seconds, number(event, "loss")});
  } else if (kind == "evaluation") {
    HeldOut held_out{epoch, seconds, {}};
    add_metrics(part(event, "metrics"), "", held_out.metrics);
    history_.held_out.push_back(std::move(held_out));
  } else if (kind == "exchange") {
    auto values =
        numbers_of(event, {"batches", "updates", "bytes", "threshold",
                           "density", "compute_ms", "encode_ms", "decode_ms",
                           "wait", "idle", "cores", "memory"});
    const Json staleness = part(event, "staleness");
    values["staleness_mean"] = number(staleness, "mean");
    values["staleness_max"] = number(staleness, "max");
    history_.exchanges.push_back(
        {seconds, epoch, worker(event), std::move(values)});
  } else if (kind == "round") {
    history_.rounds.push_back(
        {seconds, epoch,
         numbers_of(event, {"loss", "bytes", "slots", "examples", "replicas",
                            "residual", "parties"})});
  } else if (kind == "summary") {
    take_summary(event, history_);
  } else if (kind == "report") {
    history_.report = event;
  }
}

}  // namespace dl::plot
