// How the replicas of gradient sharing are compared, and their running
// statistics averaged.

#include "libcore/cluster/master/epoch/sharing/sharing_master.h"
#include "libcore/io/hex.h"

namespace dl::cluster {

// Asks all replicas what they digest to.  At an epoch's end the one that did
// most is asked for its updater's state as well, for those that join later.
void SharingEpoch::begin_check() {
  const RunState& state = context_.state;
  unchecked_ = 0;
  check_.emplace(state.parameters, state.version, context_.now);
  ++context_.checks;
  updater_of_ = 0;
  const Member* busiest = nullptr;
  for (const Member* member : context_.members.workers())
    if (member->in_step && (!busiest || member->examples > busiest->examples))
      busiest = member;
  if (stage_ == Stage::kDraining && busiest) updater_of_ = busiest->number;
  context_.outgoing.tell_all(check_message().to_message());
  for (const Member* member : context_.members.workers())
    if (member->in_step) check_->ask(member->number);
  // Members on their way back are asked when they are here.
  for (const Member* member : context_.members.counted())
    if (!member->ready) check_->ask(member->number);
}

Check SharingEpoch::check_message() const {
  Check message;
  message.epoch = context_.state.epoch;
  message.sequence = check_->sequence();
  message.digest = check_->digest();
  message.updater_of = updater_of_;
  return message;
}

// One whose answer was lost with its connection, if it can still be had.
bool SharingEpoch::ask_again(Member& member) {
  if (!check_ || !check_->awaited().contains(member.number) ||
      context_.state.version != check_->sequence())
    return false;
  member.digests = context_.checks - 1;
  return context_.outgoing.send(member, check_message().to_message());
}

void SharingEpoch::renumber(std::uint64_t old, Member& member) {
  if (!check_ || !check_->awaited().contains(old)) return;
  check_->forget(old);
  check_->ask(member.number);
  if (updater_of_ == old) updater_of_ = member.number;
}

void SharingEpoch::take_digest(Member& member, Digest answer) {
  context_.answers.count_digest(member);
  const std::uint64_t digest = answer.digest;
  std::vector<float> updater_state = std::move(answer.updater_state);
  if (answer.statistics.size() != context_.state.statistics.size() ||
      (!updater_state.empty() &&
       (member.number != updater_of_ ||
        updater_state.size() != context_.updater_elements)))
    throw Error{Code::kProtocol, "Digest: its vectors do not fit"};
  context_.note_exchange(member, answer.exchange);
  context_.report.masses[member.hello.process] = answer.mass;
  if (!check_ ||
      !check_->take(member.number, std::move(answer), member.examples))
    return;
  if (!updater_state.empty() && all_finite(updater_state))
    context_.state.updater_state = std::move(updater_state);
  if (digest == check_->digest()) return;
  context_.answers.note_difference(
      member, "update " + std::to_string(check_->sequence()), digest,
      check_->digest());
}

void SharingEpoch::follow_check() {
  const std::set<std::uint64_t> awaited = check_->awaited();
  for (const std::uint64_t number : awaited) {
    const Member* member = context_.members.find(number);
    if (!member || !member->counts()) check_->forget(number);
  }
  const bool over =
      context_.now - check_->began() > context_.limits.stuck_after;
  if (over) miss(check_->awaited());
  if (over || check_->awaited().empty()) end_check();
}

// A worker that beats and does not answer gets no work until it moves.
void SharingEpoch::miss(const std::set<std::uint64_t>& silent) {
  for (const std::uint64_t number : silent) {
    Member* member = context_.members.find(number);
    if (!member) continue;
    const std::string why = "it does not say what its replica digests to";
    context_.events.write("lost", {{"worker", number},
                                   {"why", why},
                                   {"doing", member->doing},
                                   {"epoch", context_.state.epoch}});
    context_.log(Level::kWarning, member->describe() + " lost: " + why);
    ++context_.report.lost;
    member->in_step = false;
    member->stuck = true;
    release(*member, why, false);
  }
}

void SharingEpoch::end_check() {
  RunState& state = context_.state;
  double residual = 0;
  for (const auto& [number, answer] : check_->answers())
    residual += answer.digest.residual_norm;
  context_.events.write("round", {{"epoch", state.epoch},
                                  {"sequence", check_->sequence()},
                                  {"digest", io::hex(check_->digest())},
                                  {"replicas", check_->answers().size()},
                                  {"residual", residual},
                                  {"mass", context_.report.mass()},
                                  {"staleness", staleness_.to_json()}});
  set_statistics(check_->statistics(state.statistics));
  check_.reset();
  if (stage_ == Stage::kDraining) {
    stage_ = Stage::kDone;
    for (const Member* member : context_.members.present())
      context_.write_exchange(member->number, true);
  }
  // Running statistics are averaged: every replica goes on from the average.
  if (state.statistics.empty()) return;
  context_.outgoing.tell_all(
      Statistics{++context_.averages, state.statistics}.to_message());
}

// Running statistics as workers last told them.
void SharingEpoch::settle() {
  if (stage_ == Stage::kDone) return;
  std::vector<Weighted> latest;
  for (const Member* member : context_.members.present())
    latest.push_back({&member->statistics, member->examples});
  set_statistics(weighted_mean(std::move(latest), context_.state.statistics));
}

void SharingEpoch::set_statistics(std::vector<float> mean) {
  RunState& state = context_.state;
  state.constrain.keep_frozen(mean, state.statistics);
  state.statistics = std::move(mean);
}

}  // namespace dl::cluster
