// Sums of a history's events.

#include "libcore/cluster/run_dir/history_fold.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace dl::cluster {
namespace {

constexpr double kSecondsOfSum = 10;
constexpr std::int64_t kMostBatches = std::int64_t{1} << 53;

JsonView value_in(const Json& event, const char* key) {
  return JsonView(event, Code::kData).at(key);
}
std::int64_t integer_in(const Json& event, const char* key) {
  return value_in(event, key).integer(0, kMostBatches);
}
std::uint64_t number_of_worker(const Json& event) {
  return static_cast<std::uint64_t>(integer_in(event, "worker"));
}
// Without a value, and where it was not finite: 0.
double number_in(const Json& event, const char* key) {
  return event.contains(key) && !event[key].is_null()
             ? value_in(event, key).number()
             : 0;
}

// Pairs of first and count.
Ranges ranges_in(const Json& event, const char* key) {
  Ranges ranges;
  if (!event.contains(key)) return ranges;
  const JsonView list = value_in(event, key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto pair = list.at(i).integers(0, kMostBatches);
    if (pair.size() != 2 || pair[1] < 1) list.at(i).fail("first and count");
    ranges.emplace_back(pair[0], pair[1]);
  }
  return ranges;
}

// An event of that kind with the keys that every event has.
Json stamped(const char* kind, const Json& as) {
  Json event{{"event", kind}};
  for (const char* key : {"ts", "mono", "run", "incarnation"})
    if (as.contains(key)) event[key] = as[key];
  return event;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error{Code::kData, why};
}

std::string named(std::int64_t batch, std::int64_t epoch) {
  return "mini-batch " + std::to_string(batch) + " of epoch " +
         std::to_string(epoch);
}

}  // namespace

void HistoryFold::take(std::string_view line) {
  ++lines_;
  const Json event = Json::parse(line, nullptr, false);
  if (!event.is_object() || !event.contains("event") ||
      !event["event"].is_string())
    return write_(std::string(line) + "\n");  // cut short by a crash
  try {
    take_event(line, event);
  } catch (const Error& error) {
    refuse("line " + std::to_string(lines_) + ": " + error.what());
  }
  last_ = event;
}

void HistoryFold::take_event(std::string_view line, const Json& event) {
  const auto kind = event["event"].get<std::string>();
  if (kind == "lease") return lease(event);
  if (kind == "commit") return commit(event);
  if (kind == "round" && event.contains("slots")) return round(event);
  static const std::set<std::string> in_order = {
      "start", "resume", "setback", "epoch", "commits", "quarantine"};
  if (in_order.contains(kind)) flush();
  if (kind == "start" || kind == "resume" || kind == "setback")
    go_back(event);
  else if (kind == "revoke")
    leases_.erase(static_cast<std::uint64_t>(integer_in(event, "lease")));
  else if (kind == "fault")
    fault(event);
  else if (kind == "commits")
    committed(event);
  else if (kind == "epoch")
    epoch(event);
  write_(std::string(line) + "\n");
}

void HistoryFold::lease(const Json& event) {
  ++folded_;
  if (value_in(event, "kind").string() != "train") return;
  Lease lease{event,
              number_of_worker(event),
              static_cast<std::uint64_t>(integer_in(event, "fence")),
              integer_in(event, "epoch"),
              integer_in(event, "first"),
              integer_in(event, "count"),
              integer_in(event, "count")};
  const auto id = static_cast<std::uint64_t>(integer_in(event, "lease"));
  if (!leases_.emplace(id, std::move(lease)).second)
    refuse("lease " + std::to_string(id) + " is given out twice");
}

void HistoryFold::commit(const Json& event) {
  ++folded_;
  const auto id = static_cast<std::uint64_t>(integer_in(event, "lease"));
  const auto found = leases_.find(id);
  const std::int64_t epoch = integer_in(event, "epoch");
  const std::int64_t first = integer_in(event, "first");
  const std::int64_t count = integer_in(event, "count");
  if (found == leases_.end() || found->second.epoch != epoch ||
      found->second.worker != number_of_worker(event) ||
      found->second.fence !=
          static_cast<std::uint64_t>(integer_in(event, "fence")))
    refuse(named(first, epoch) + " is committed without its lease");
  Lease& lease = found->second;
  if (count < 1 || first < lease.first ||
      first + count > lease.first + lease.count)
    refuse(named(first, epoch) + " is committed outside its lease");
  std::set<std::int64_t> passed_over;
  if (event.contains("passed_over"))
    for (const std::int64_t batch :
         value_in(event, "passed_over").integers(0, kMostBatches))
      passed_over.insert(batch);
  const double each =
      number_in(event, "examples") / static_cast<double>(std::max<std::int64_t>(
                                         1, count - std::ssize(passed_over)));
  SizedRanges done;
  if (passed_over.empty()) {
    done.add(first, count, number_in(event, "examples"));
  } else {
    for (std::int64_t batch = first; batch < first + count; ++batch)
      if (!passed_over.contains(batch)) done.add(batch, 1, each);
  }
  for (const Json& range : done.to_json())
    if (!epochs_[epoch].add(range[0], range[1], range[2].get<double>()))
      refuse(named(range[0], epoch) + " is committed twice");
  if ((lease.left -= count) <= 0) leases_.erase(found);
  if (commits_ && integer_in(commits_->last, "epoch") != epoch) flush();
  add_commit(event, done);
  for (const std::int64_t batch : passed_over)
    add_range(commits_->passed_over, batch, 1);
}

void HistoryFold::add_commit(const Json& event, const SizedRanges& done) {
  const double now = number_in(event, "mono");
  if (commits_ && (now >= commits_->since + kSecondsOfSum ||
                   commits_->last.value("run", "") != event.value("run", "")))
    flush();
  if (!commits_) {
    commits_.emplace(Commits{});  // clang 14 takes no fewer
    commits_->since = now;
  }
  commits_->last = event;
  for (const Json& range : done.to_json())
    commits_->committed.add(range[0], range[1], range[2].get<double>());
  Sum& sum = commits_->workers[number_of_worker(event)];
  const double examples = number_in(event, "examples");
  ++sum.commits;
  sum.batches += done.batches();
  sum.examples += examples;
  sum.loss += examples * number_in(event, "loss");
  sum.bytes += number_in(event, "bytes");
  sum.staleness += number_in(event, "staleness");
  sum.has_staleness |= event.contains("staleness");
}

// A line that an earlier fold has made.
void HistoryFold::committed(const Json& event) {
  const std::int64_t epoch = integer_in(event, "epoch");
  const JsonView list = value_in(event, "committed");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonView range = list.at(i);
    if (range.size() != 3) range.fail("first, count and examples");
    const std::int64_t first = range.at(0).integer(0, kMostBatches);
    if (!epochs_[epoch].add(first, range.at(1).integer(1, kMostBatches),
                            range.at(2).number()))
      refuse(named(first, epoch) + " is committed twice");
  }
}

void HistoryFold::round(const Json& event) {
  ++folded_;
  const double now = number_in(event, "mono");
  if (rounds_ &&
      (now >= rounds_->since + kSecondsOfSum ||
       rounds_->last.value("run", "") != event.value("run", "") ||
       integer_in(rounds_->last, "epoch") != integer_in(event, "epoch")))
    flush();
  if (!rounds_) {
    rounds_.emplace(Rounds{});
    rounds_->since = now;
  }
  const double examples = number_in(event, "examples");
  rounds_->last = event;
  ++rounds_->rounds;
  rounds_->batches += integer_in(event, "count");
  rounds_->examples += examples;
  rounds_->loss += examples * number_in(event, "loss");
  rounds_->bytes += number_in(event, "bytes");
  rounds_->slots += number_in(event, "slots");
}

// A mini-batch that went wrong ends the lease that it was in.
void HistoryFold::fault(const Json& event) {
  if (!event.contains("first") || !event.contains("worker") ||
      !event.contains("epoch"))
    return;
  const std::int64_t first = integer_in(event, "first");
  std::erase_if(leases_, [&](const auto& entry) {
    const Lease& lease = entry.second;
    return lease.worker == number_of_worker(event) &&
           lease.epoch == integer_in(event, "epoch") && lease.first <= first &&
           first < lease.first + lease.count;
  });
}

void HistoryFold::epoch(const Json& event) {
  const std::int64_t number = integer_in(event, "epoch");
  const SizedRanges& done = epochs_[number];
  std::int64_t wanted =
      event.contains("batches") ? integer_in(event, "batches") : batches_;
  for (const auto& [first, count] : ranges_in(event, "passed_over"))
    wanted -= count;
  if (done.batches() != wanted ||
      std::llround(done.examples()) != integer_in(event, "examples"))
    refuse("epoch " + std::to_string(number) + " is complete, and " +
           std::to_string(done.batches()) + " of its " +
           std::to_string(wanted) + " mini-batches are committed");
}

void HistoryFold::go_back(const Json& event) {
  const std::int64_t epoch = integer_in(event, "epoch");
  if (event.contains("batches")) batches_ = integer_in(event, "batches");
  leases_.clear();
  std::erase_if(epochs_,
                [&](const auto& entry) { return entry.first > epoch; });
  epochs_[epoch].keep(ranges_in(event, "committed"));
}

void HistoryFold::flush() {
  if (commits_) {
    Json event = stamped("commits", commits_->last);
    event["epoch"] = commits_->last["epoch"];
    event["since"] = commits_->since;
    event["committed"] = commits_->committed.to_json();
    if (!commits_->passed_over.empty())
      event["passed_over"] = commits_->passed_over;
    for (const auto& [worker, sum] : commits_->workers) {
      Json& entry = event["workers"][std::to_string(worker)];
      entry = {{"commits", sum.commits},
               {"batches", sum.batches},
               {"examples", std::llround(sum.examples)},
               {"loss", sum.examples > 0 ? sum.loss / sum.examples : 0},
               {"bytes", std::llround(sum.bytes)}};
      if (sum.has_staleness)
        entry["staleness"] = sum.staleness / static_cast<double>(sum.commits);
    }
    write(event);
    commits_.reset();
  }
  if (rounds_) {
    Json event = stamped("rounds", rounds_->last);
    for (const char* key : {"epoch", "round", "parties"})
      if (rounds_->last.contains(key)) event[key] = rounds_->last[key];
    const auto rounds = static_cast<double>(rounds_->rounds);
    event["since"] = rounds_->since;
    event["rounds"] = rounds_->rounds;
    event["count"] = rounds_->batches;
    event["examples"] = std::llround(rounds_->examples);
    event["loss"] =
        rounds_->examples > 0 ? rounds_->loss / rounds_->examples : 0;
    event["bytes"] = rounds_->bytes / rounds;
    event["slots"] = rounds_->slots / rounds;
    write(event);
    rounds_.reset();
  }
}

// Each as a lease of the mini-batches that are not committed yet.
void HistoryFold::write_leases() {
  for (auto& [id, lease] : leases_) {
    const SizedRanges& done = epochs_[lease.epoch];
    const std::int64_t end = lease.first + lease.count;
    std::int64_t first = lease.first;
    while (first < end && done.has(first)) ++first;
    if (first == end) continue;
    lease.event["first"] = first;
    lease.event["count"] = end - first;
    if (lease.event.contains("copy_of") &&
        !leases_.contains(
            static_cast<std::uint64_t>(integer_in(lease.event, "copy_of"))))
      lease.event.erase("copy_of");
    --folded_;
    write(lease.event);
  }
}

void HistoryFold::finish() {
  flush();
  write_leases();
  if (last_.is_null()) return;
  Json event = stamped("fold", last_);
  event["lines"] = lines_;
  event["folded"] = folded_;
  write(event);
}

void HistoryFold::write(const Json& event) { write_(dump_json(event) + "\n"); }

}  // namespace dl::cluster
