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

using Parts = std::vector<Commit::Part>;

// [[first, count], ...] or [[first, count, examples], ...].
Parts parts_of(const Json& json) {
  constexpr double kMostBatches = 0x1p53;
  Parts parts;
  if (!json.is_array()) return parts;
  for (const Json& range : json) {
    if (!range.is_array() || range.size() < 2 ||
        !std::ranges::all_of(range,
                             [](const Json& n) { return n.is_number(); }))
      continue;
    const auto first = range[0].get<double>(), count = range[1].get<double>();
    if (!(first >= 0 && count >= 0 && first + count <= kMostBatches)) continue;
    parts.push_back({first, first + count,
                     range.size() > 2 ? range[2].get<double>() : count});
  }
  return parts;
}

// The part of `parts` that is in the ranges.
Parts common(const Parts& parts, const Parts& ranges) {
  Parts all;
  for (const Commit::Part& part : parts)
    for (const Commit::Part& range : ranges) {
      const double first = std::max(part.first, range.first);
      const double end = std::min(part.end, range.end);
      if (first < end)
        all.push_back(
            {first, end,
             part.examples * (end - first) / (part.end - part.first)});
    }
  return all;
}

double sum_of_parts(const Parts& parts,
                    const std::function<double(const Commit::Part&)>& of) {
  double all = 0;
  for (const Commit::Part& part : parts) all += of(part);
  return all;
}

// Leaves of commits what is in the ranges: all or nothing of a single one, of
// those that were summed their shares, which add up to that of the sum.
class Cutter {
 public:
  explicit Cutter(Parts ranges) : ranges_(std::move(ranges)) {}

  void cut(Commit& commit) {
    if (!commit.parts || commit.parts != of_) begin(commit);
    commit.examples = examples_.of(commit.examples, share_of_examples_);
    commit.bytes = bytes_.of(commit.bytes, share_of_examples_);
    commit.count = count_.of(commit.count, share_of_batches_);
    if (commit.parts) commit.parts = left_;
  }

 private:
  struct Rounded {
    double before = 0, given = 0;
    std::int64_t of(std::int64_t amount, double share) {
      before += static_cast<double>(amount);
      const double now = std::round(share * before);
      return static_cast<std::int64_t>(now - std::exchange(given, now));
    }
  };

  void begin(const Commit& commit) {
    const auto first = static_cast<double>(commit.first);
    const auto end = static_cast<double>(commit.end);
    of_ = commit.parts;
    const Parts parts = of_ ? *of_ : Parts{{first, end, end - first}};
    left_ = std::make_shared<const Parts>(common(parts, ranges_));
    const auto batches = [](const Commit::Part& p) { return p.end - p.first; };
    const auto examples = [](const Commit::Part& p) { return p.examples; };
    share_of_batches_ = sum_of_parts(*left_, batches) /
                        std::max(1.0, sum_of_parts(parts, batches));
    share_of_examples_ = sum_of_parts(*left_, examples) /
                         std::max(1.0, sum_of_parts(parts, examples));
    examples_ = bytes_ = count_ = {};
  }

  Parts ranges_;
  std::shared_ptr<const Parts> of_, left_;
  double share_of_batches_ = 0, share_of_examples_ = 0;
  Rounded examples_, bytes_, count_;
};

// Adds an earlier commit of the same worker and epoch.
void add_earlier(Commit& to, const Commit& from) {
  const auto mean = [](double a, std::int64_t n, double b, std::int64_t m) {
    if (!std::isfinite(a)) return b;
    if (!std::isfinite(b) || n + m == 0) return a;
    return (a * static_cast<double>(n) + b * static_cast<double>(m)) /
           static_cast<double>(n + m);
  };
  to.loss = mean(to.loss, to.examples, from.loss, from.examples);
  to.staleness = mean(to.staleness, to.commits, from.staleness, from.commits);
  to.first = std::min(to.first, from.first);
  to.end = std::max(to.end, from.end);
  to.count += from.count;
  to.examples += from.examples;
  to.bytes += from.bytes;
  to.commits += from.commits;
  to.parts = nullptr;
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

Bins bins_of(const Json& json) {
  constexpr std::size_t kMostBins = 1024;
  Bins all{number(json, "mean"),
           number(json, "rms"),
           number(json, "low"),
           number(json, "high"),
           {}};
  const Json bins = part(json, "bins");
  if (!bins.is_array() || bins.size() > kMostBins) return all;
  for (const Json& bin : bins)
    if (bin.is_array() && bin.size() == 2 && bin[0].is_number_integer() &&
        bin[1].is_number() && bin[1] >= 0 && bin[0] >= -510 && bin[0] <= 510)
      all.counts.emplace_back(bin[0].get<int>(), bin[1].get<double>());
  std::ranges::sort(all.counts);
  return all;
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
    summary.layers[name] = {
        spread_of(part(layer, "parameters")), spread_of(part(layer, "change")),
        number(layer, "learning_rate"), bins_of(part(layer, "gradients")),
        bins_of(part(layer, "activations"))};
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

std::pair<double, double> edges_of(int bin) {
  const auto at = [](int edge) {
    return static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(edge) << 22U));
  };
  return bin > 0 ? std::pair(at(bin - 1), at(bin))
                 : std::pair(-at(-bin), -at(std::max(0, -bin - 1)));
}

double Bins::count() const {
  double all = 0;
  for (const auto& [bin, count] : counts) all += count;
  return all;
}

double Bins::share_of_zeros() const {
  double zeros = 0;
  for (const auto& [bin, count] : counts)
    if (bin == 1 || bin == -1) zeros += count;
  return zeros / count();
}

double Bins::quantile(double share) const {
  const double all = count();
  if (!(all > 0)) return kNone;
  double sum = 0;
  for (const auto& [bin, count] : counts) {
    if (count > 0 && sum + count >= share * all) {
      const auto [from, to] = edges_of(bin);
      const double least = std::max(from, low), most = std::min(to, high);
      return least + (most - least) * (share * all - sum) / count;
    }
    sum += count;
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
  Cutter cutter(parts_of(part(event, "committed")));
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

// A sum of commits, as a commit of each worker.
void HistoryReader::take_commits(const Json& event) {
  const auto parts =
      std::make_shared<const Parts>(parts_of(part(event, "committed")));
  const Json workers = part(event, "workers");
  if (parts->empty() || !workers.is_object()) {
    ++history_.damaged;
    return;
  }
  const std::int64_t epoch = count(event, "epoch");
  for (const auto& [number_of, sums] : workers.items()) {
    const Json who = {{"worker", std::strtod(number_of.c_str(), nullptr)}};
    history_.commits.push_back(
        {history_.seconds, number(sums, "loss"), number(sums, "staleness"),
         epoch, static_cast<std::int64_t>(parts->front().first),
         std::max<std::int64_t>(1, count(sums, "batches")),
         count(sums, "examples"), count(sums, "bytes"), worker(who),
         static_cast<std::int64_t>(parts->back().end),
         std::max<std::int64_t>(1, count(sums, "commits")), parts});
  }
}

// Halves what has become long.
void HistoryReader::thin() {
  constexpr std::size_t kMostCommits = 400'000, kMostOthers = 50'000;
  constexpr std::size_t kMostSummaries = 4'000;  // each has many numbers
  auto& commits = history_.commits;
  if (commits.size() >= kMostCommits) {
    history_.thinned = true;
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
  }
  const auto bound = [&](auto& list, const auto& kind, std::size_t most) {
    if (list.size() < most) return;
    history_.thinned = true;
    halve(list, kind);
  };
  const auto alike = [](const auto&) { return std::size_t{0}; };
  bound(
      history_.exchanges, [](const Exchange& one) { return one.worker; },
      kMostOthers);
  bound(history_.rounds, alike, kMostOthers);
  bound(history_.epochs, alike, kMostOthers);
  bound(history_.held_out, alike, kMostOthers);
  bound(history_.summaries, alike, kMostSummaries);
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
    thin();
  } else if (kind == "commits") {
    take_commits(event);
    thin();
  } else if (kind == "fold") {
    history_.folded = count(event, "folded");
  } else if (kind == "epoch") {
    history_.epochs.push_back(
        {epoch, count(event, "examples"), seconds, number(event, "loss")});
    thin();
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
    take_summary(event, history_);
    thin();
  } else if (kind == "report") {
    history_.report = event;
  }
}

}  // namespace dl::plot
