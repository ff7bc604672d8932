#include "libcore/cluster/master/epoch/estimate_round.h"

#include <algorithm>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/cluster/tree/pieces.h"

namespace dl::cluster {

namespace {

// Mini-batches that a worker measures, and hosts whose lines are measured if
// time is short: the others are taken for as slow.
constexpr std::int64_t kBatches = 20, kQuickBatches = 4;
constexpr std::size_t kQuickLines = 4;
// Trips are made until they took so many seconds together, over turns in which
// a host has more of a shared core and in which it has less.
constexpr double kLongEnough = 0.3, kQuickEnough = 0.03;
// Seconds in which workers that are started by hand follow the first one.
constexpr double kFollow = 2;
// The first long message; one that takes less than kLongEnough is followed by a
// longer one, up to what a replica sends in a round of averaging.
constexpr std::size_t kFirstLoad = std::size_t{256} << 10;
// Messages in a row, fewer where they are long: half of what a socket holds, of
// which it may take as many for not read yet, and what is beyond waits for more
// than its turn.
constexpr std::size_t kMany = 3, kManyBytes = std::size_t{4} << 20;

// Elements that sync sends: the gradient and running statistics.
std::size_t elements(const RunContext& context) {
  return std::max<std::size_t>(
      context.state.parameters.size() + context.state.statistics.size(), 1);
}

std::size_t pieces(const RunContext& context) {
  return pieces_of(elements(context), kRehearsedSlots).size();
}

// As long as an update, so far as a load may be.
std::size_t load_of(const HostFigures& host) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(host.update_bytes), 1,
                                 kLongestLoad);
}

std::size_t longest_load(const HostFigures& host) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(host.delta_bytes),
                                 kFirstLoad, kLongestLoad);
}

void copy_line(const HostFigures& from, HostFigures& to) {
  to.bandwidth = from.bandwidth;
  to.gradient = from.gradient;
  to.round_trip = from.round_trip;
  to.message = from.message;
}

std::size_t in_a_row(std::size_t bytes) {
  return std::clamp<std::size_t>(kManyBytes / std::max<std::size_t>(bytes, 1),
                                 1, kMany);
}

}  // namespace

Estimate estimate_of(const RunConfig& plan, const Limits& limits, bool local) {
  Estimate estimate;
  estimate.parameters = plan.parameters;
  estimate.settings = plan.settings;
  estimate.batches = plan.batches_per_epoch();
  estimate.examples = static_cast<double>(plan.training->examples()) /
                      static_cast<double>(estimate.batches);
  estimate.topology = limits.topology;
  estimate.fan_out = limits.fan_out;
  estimate.local = local;
  try {
    check_sync(plan.model.config);
  } catch (const Error& error) {
    estimate.no_sync = error.what();
  }
  return estimate;
}

EstimateRound::EstimateRound(RunContext& context, Estimate& measured)
    : Phase(context),
      measured_(measured),
      began_(context.now),
      table_(0, context.next_lease) {}

std::int64_t EstimateRound::batches() const {
  return measured_.quick ? kQuickBatches : kBatches;
}

double EstimateRound::long_enough() const {
  return measured_.quick ? kQuickEnough : kLongEnough;
}

// Whoever measures for a choice goes on without.
void EstimateRound::give_up(const std::string& why) {
  if (!measured_.quick)
    throw Error{Code::kUnavailable, why + "; measure again"};
  measured_.failure = why;
  stage_ = Stage::kDone;
}

void EstimateRound::ask(Member& member, Probe probe) {
  probe.quick = measured_.quick;
  if (!context_.outgoing.send(member, probe.to_message()))
    give_up(member.describe() + " takes no messages");
  asked_ = monotonic_seconds();
}

// Whether there is one worker, and none has followed so far; ends the round if
// none did in time.
bool EstimateRound::may_be_alone() {
  if (!measured_.quick || context_.limits.min_workers > 1 ||
      context_.members.workers().size() > 1)
    return false;
  if (context_.now - began_ < kFollow) return true;
  measured_.alone = true;
  stage_ = Stage::kDone;
  return true;
}

void EstimateRound::tick() {
  if (stage_ == Stage::kDone) return;
  if (hosts_.empty()) {
    if (may_be_alone()) return;
    if (measured_.quick && !measured_.no_sync.empty()) {
      stage_ = Stage::kDone;  // no choice
      return;
    }
    for (Member* member : context_.members.workers()) {
      hosts_[member->number].name = member->hello.name;
      ask(*member, Probe{batches(), {}});
    }
    computing_ = hosts_.size();
    return;
  }
  check_silence();
  watch_newcomers();
}

void EstimateRound::watch_newcomers() {
  if (measured_.quick) return;
  for (const Member* member : context_.members.workers())
    if (!hosts_.contains(member->number) && late_.insert(member->number).second)
      context_.log(Level::kWarning,
                   member->describe() +
                       " came while others were measured, and is left out; "
                       "--min-workers waits for all");
}

void EstimateRound::check_silence() {
  for (const auto& [number, host] : hosts_)
    if (!context_.members.find(number) ||
        !context_.members.find(number)->can_work())
      return give_up("the worker " + host.name +
                     " was lost while it was measured");
  if (monotonic_seconds() - asked_ > context_.limits.stuck_after)
    give_up(
        "no answer to a measurement within --stuck-after: a mini-batch takes "
        "too long, or a line is dead");
}

void EstimateRound::take(Member& member, const Message& message) {
  if (message.type != MessageType::kProbed) return refuse_late(member, message);
  if (stage_ == Stage::kDone) return;
  const Probed probed = Probed::from_message(message);
  const auto found = hosts_.find(member.number);
  if (found == hosts_.end())
    throw Error{Code::kProtocol, "Probed: nobody asked for it"};
  HostFigures& host = found->second;
  switch (stage_) {
    case Stage::kComputing:
      if (!(probed.compute > 0) || host.compute > 0) return;
      take_figures(host, probed);
      break;
    case Stage::kExchanging:
      if (!answers(member, probed)) return;
      host.exchange = std::max(
          probed.whole - host.compute - host.encode - host.decode, 0.0);
      break;
    case Stage::kAlone:
      if (!answers(member, probed)) return;
      host.sync_alone = probed.whole;
      break;
    case Stage::kPair:
      if (!answers(member, probed)) return;
      host.sync_pair = probed.whole;
      break;
    case Stage::kLines:
      if (member.number == current_)
        take_echo(host, monotonic_seconds() - asked_);
      return;
    case Stage::kDone:
      return;
  }
  if (--computing_ == 0)
    begin(static_cast<Stage>(static_cast<int>(stage_) + 1));
}

bool EstimateRound::answers(Member& member, const Probed& probed) {
  if (!probed.load.empty() && probed.answer)
    ask(member, Probe{0, probed.load, false});
  return probed.load.empty() && probed.whole > 0;
}

void EstimateRound::take_figures(HostFigures& host, const Probed& probed) {
  host.compute = probed.compute;
  host.compute_from = probed.compute_from;
  host.compute_to = probed.compute_to;
  host.slowest = probed.slowest;
  host.slowest_round = probed.slowest_round;
  host.encode = probed.encode;
  host.decode = probed.decode;
  host.update_bytes = static_cast<double>(probed.update_bytes);
  host.round = probed.round;
  host.delta_bytes = static_cast<double>(probed.delta_bytes);
}

void EstimateRound::begin(Stage stage) {
  if (stage == Stage::kAlone && !measured_.no_sync.empty())
    stage = Stage::kLines;
  if (stage == Stage::kAlone && measured_.quick) stage = Stage::kPair;
  stage_ = stage;
  if (stage == Stage::kLines) return next_line();
  computing_ = hosts_.size();
  for (const auto& [number, host] : hosts_) {
    Probe probe;
    probe.batches = batches();
    if (stage == Stage::kExchanging)
      probe.load.resize(load_of(host));
    else
      probe.hosts = stage == Stage::kAlone ? 1 : 2;
    ask(*context_.members.find(number), probe);
  }
}

void EstimateRound::begin_trips(Trip trip, std::size_t load) {
  trip_ = trip;
  load_ = load;
  trips_seconds_ = 0;
  trips_ = 0;
  ask_trip();
}

void EstimateRound::ask_trip() {
  Member& member = *context_.members.find(current_);
  const double begin = monotonic_seconds();
  if (trip_ == Trip::kMany)
    for (std::size_t i = 0; i < in_a_row(load_); ++i)
      ask(member, Probe{0, std::vector<std::byte>(load_), false});
  awaited_ = trip_ == Trip::kGradient ? pieces(context_) : 1;
  for (std::size_t i = 0; i < awaited_; ++i)
    ask(member, Probe{0, std::vector<std::byte>(load_)});
  asked_ = begin;
}

void EstimateRound::take_echo(HostFigures& host, double seconds) {
  if (--awaited_ > 0) return;
  if (trip_ == Trip::kLong && seconds < long_enough() &&
      load_ < longest_load(host))
    return begin_trips(trip_, std::min(4 * load_, longest_load(host)));
  ++trips_;
  trips_seconds_ += seconds;
  if (trips_seconds_ < long_enough()) return ask_trip();
  const double mean = trips_seconds_ / static_cast<double>(trips_);
  // A line that is too fast to be told from the way there and back is as fast
  // as all of that, at the least.
  double more = mean - host.round_trip;
  if (trip_ == Trip::kMany)
    more = std::max(more, 0.0);
  else if (more < mean / 10)
    more = mean;
  const std::size_t gradient = elements(context_) * sizeof(float);
  switch (trip_) {
    case Trip::kShort:
      host.round_trip = mean;
      return begin_trips(Trip::kMany, load_);
    case Trip::kMany:
      host.message = more / static_cast<double>(in_a_row(load_));
      return begin_trips(Trip::kLong, kFirstLoad);
    case Trip::kLong:
      // There and back again, one after the other.
      host.bandwidth = 2 * static_cast<double>(load_) / more;
      if (gradient < load_)
        return begin_trips(
            Trip::kGradient,
            std::max<std::size_t>(gradient / pieces(context_), 1));
      host.gradient = static_cast<double>(gradient) / host.bandwidth;
      return next_line();
    case Trip::kGradient:
      host.gradient = more;
      return next_line();
  }
}

// Turns to the next host whose line is not known.
void EstimateRound::next_line() {
  std::size_t known = 0;
  for (const auto& [number, host] : hosts_) {
    if (host.bandwidth > 0) {
      ++known;
      continue;
    }
    if (measured_.quick && known >= kQuickLines) break;
    current_ = number;
    return begin_trips(Trip::kShort, load_of(host));
  }
  for (auto& [number, host] : hosts_) {
    if (!(host.bandwidth > 0)) copy_line(hosts_.begin()->second, host);
    measured_.hosts.push_back(host);
  }
  std::ranges::sort(measured_.hosts, {}, &HostFigures::name);
  stage_ = Stage::kDone;
}

}  // namespace dl::cluster
