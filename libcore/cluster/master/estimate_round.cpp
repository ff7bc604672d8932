#include "libcore/cluster/master/estimate_round.h"

#include <algorithm>

#include "libcore/base/clock.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kBatches = 20;  // that a worker measures
constexpr std::size_t kShortTrips = 9;
// A load that takes less than kLongEnough seconds is followed by a longer one.
constexpr std::size_t kFirstLoad = std::size_t{256} << 10;
constexpr double kLongEnough = 0.3;

}  // namespace

EstimateRound::EstimateRound(RunContext& context,
                             std::vector<HostFigures>& measured)
    : Phase(context), measured_(measured), table_(0, context.next_lease) {}

void EstimateRound::ask(Member& member, const Probe& probe) {
  if (!context_.outgoing.send(member, probe.to_message()))
    throw Error{Code::kUnavailable,
                member.describe() + " takes no messages; measure again"};
  asked_ = monotonic_seconds();
}

void EstimateRound::tick() {
  if (stage_ == Stage::kDone) return;
  if (hosts_.empty()) {
    for (Member* member : context_.members.workers()) {
      hosts_[member->number].name = member->hello.name;
      ask(*member, Probe{kBatches, {}});
    }
    computing_ = hosts_.size();
    return;
  }
  check_silence();
}

void EstimateRound::check_silence() const {
  for (const auto& [number, host] : hosts_)
    if (!context_.members.find(number) ||
        !context_.members.find(number)->can_work())
      throw Error{Code::kUnavailable,
                  "the worker " + host.name +
                      " was lost while it was measured; measure again"};
  if (monotonic_seconds() - asked_ > context_.limits.stuck_after)
    throw Error{Code::kUnavailable,
                "no answer to a measurement within --stuck-after; a mini-batch "
                "takes too long, or a line is dead"};
}

void EstimateRound::take(Member& member, const Message& message) {
  if (message.type != MessageType::kProbed) return refuse_late(member, message);
  const Probed probed = Probed::from_message(message);
  const auto found = hosts_.find(member.number);
  if (found == hosts_.end())
    throw Error{Code::kProtocol, "Probed: nobody asked for it"};
  HostFigures& host = found->second;
  if (stage_ == Stage::kComputing) {
    if (host.compute > 0 || !(probed.compute > 0)) return;
    host.compute = probed.compute;
    host.compute_from = probed.compute_from;
    host.compute_to = probed.compute_to;
    host.encode = probed.encode;
    host.decode = probed.decode;
    host.update_bytes = static_cast<double>(probed.update_bytes);
    host.delta_bytes = static_cast<double>(probed.delta_bytes);
    if (--computing_ > 0) return;
    stage_ = Stage::kLines;
    return next_echo();
  }
  if (member.number == current_ && probed.load.size() == load_)
    take_echo(host, monotonic_seconds() - asked_);
}

void EstimateRound::take_echo(HostFigures& host, double seconds) {
  if (load_ == 0) {
    short_trips_.push_back(seconds);
    if (short_trips_.size() == kShortTrips) {
      std::ranges::sort(short_trips_);
      host.round_trip = short_trips_[kShortTrips / 2];
      load_ = kFirstLoad;
    }
  } else if (seconds < kLongEnough && load_ < kLongestLoad) {
    load_ *= 4;
  } else {
    // There and back again, one after the other.
    host.bandwidth = 2 * static_cast<double>(load_) /
                     std::max(seconds - host.round_trip, 1e-9);
    load_ = 0;
    short_trips_.clear();
    return next_echo();
  }
  ask(*context_.members.find(current_),
      Probe{0, std::vector<std::byte>(load_)});
}

// Turns to the next host whose line is not known.
void EstimateRound::next_echo() {
  for (const auto& [number, host] : hosts_) {
    if (host.bandwidth > 0) continue;
    current_ = number;
    return ask(*context_.members.find(number), Probe{});
  }
  for (const auto& [number, host] : hosts_) measured_.push_back(host);
  std::ranges::sort(measured_, {}, &HostFigures::name);
  stage_ = Stage::kDone;
}

}  // namespace dl::cluster
