#include "libcore/cluster/master/members/membership.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

// Its earlier work may end after it joined.
constexpr std::uint64_t kSlack = 4;

std::string process_of(const Hello& hello) {
  return hello.host + ":" + std::to_string(hello.pid);
}

// The parts of a member that stay with a process on another connection.
Member former_self(const Member& old) {
  Member member;
  member.returns = old.ready || old.returns;
  member.proven = old.proven;
  member.examples = old.examples;
  member.statistics = old.statistics;
  member.batch_seconds = old.batch_seconds;
  member.measured = old.measured;
  member.told_slower = old.told_slower;
  member.times_barren = old.times_barren;
  return member;
}

}  // namespace

std::string default_name(const Hello& hello) {
  if (!hello.name.empty()) return hello.name;
  return hello.host + (hello.rank ? ":" + std::to_string(*hello.rank)
                                  : "-" + std::to_string(hello.pid));
}

std::string Member::describe() const {
  return hello.name + " (worker " + std::to_string(number) + ")";
}

std::uint64_t Member::party() const {
  return io::digest(std::as_bytes(std::span(key.empty() ? hello.name : key)));
}

const Member* Membership::of_process(std::uint64_t process) const {
  for (const auto& [number, member] : members_)
    if (member.hello.process == process) return &member;
  return nullptr;
}

const Member* Membership::named(const std::string& name) const {
  for (const auto& [number, member] : members_)
    if (member.hello.name == name) return &member;
  return nullptr;
}

Member& Membership::admit(const std::string& peer, Hello hello, double now,
                          double lost_after, std::optional<Member>* replaced) {
  const auto alive = [&](const Member* member) {
    return member && !member->silent && now - member->heard <= lost_after;
  };
  const Member* old = find(peer);
  if (!old) old = of_process(hello.process);
  if (old && hello.name.empty()) hello.name = old->hello.name;
  if (hello.name.empty()) {
    const std::string plain = default_name(hello);
    hello.name = plain;
    for (int twin = 2; alive(named(hello.name)); ++twin)
      hello.name = plain + "-" + std::to_string(twin);
  }
  if (!old) old = named(hello.name);
  if (alive(old) && old->peer != peer && old->hello.process != hello.process)
    throw Error{Code::kProtocol, "the name '" + hello.name + "' is in use by " +
                                     process_of(old->hello)};
  Member member;
  if (old) {
    if (old->hello.process == hello.process) member = former_self(*old);
    if (replaced) *replaced = *old;
    remove(std::string(old->peer));
  }
  member.number = ++last_number_;
  member.peer = peer;
  member.hello = std::move(hello);
  member.heard = member.moved = now;
  numbers_[peer] = member.number;
  fed_by_master_.insert(member.number);
  return members_[member.number] = std::move(member);
}

Member* Membership::find(const std::string& peer) {
  const auto found = numbers_.find(peer);
  return found == numbers_.end() ? nullptr : find(found->second);
}

Member* Membership::find(std::uint64_t number) {
  const auto found = members_.find(number);
  return found == members_.end() ? nullptr : &found->second;
}

Member* Membership::find(const std::string& name, std::int64_t pid) {
  for (Member* member : present())
    if (member->hello.name == name && (pid == 0 || member->hello.pid == pid))
      return member;
  return nullptr;
}

void Membership::remove(const std::string& peer) {
  const auto found = numbers_.find(peer);
  if (found == numbers_.end()) return;
  fed_by_master_.erase(found->second);
  members_.erase(found->second);
  numbers_.erase(found);
}

void Membership::remove_former_self(const Hello& hello) {
  if (const Member* old = of_process(hello.process))
    remove(std::string(old->peer));
}

bool Membership::heard(Member& member, double now) {
  member.heard = now;
  if (!member.silent) return false;
  member.silent = false;
  member.moved = now;
  return true;
}

void Membership::note_flow(Member& member, const ConnectionBytes::Flow& flow,
                           double now) {
  if (flow.in) member.flowed_in = now;
  if (flow.in || flow.out) member.flowed = now;
}

void Membership::pardon(double seconds, double now) {
  for (auto& [number, member] : members_) {
    member.heard = std::min(member.heard + seconds, now);
    member.moved = std::min(member.moved + seconds, now);
    member.busy_since = std::min(member.busy_since + seconds, now);
  }
}

bool Membership::beat(Member& member, const Beat& beat, double now) {
  member.examples_per_second = beat.examples_per_second;
  member.doing = beat.doing;
  if (beat.batch >= 0) {
    member.lease_at_hand = beat.lease;
    member.batch_at_hand = beat.batch;
  }
  if (std::exchange(member.flow, beat.flow) != beat.flow) member.flowed = now;
  if (!member.first_progress) member.first_progress = beat.progress;
  const std::uint64_t first = *member.first_progress;
  if (beat.progress == member.progress) return false;
  member.progress = beat.progress;
  // It counts more than it was given.
  if (beat.progress < first || beat.progress - first > member.leased + kSlack)
    return false;
  member.moved = now;
  const bool was_stuck = member.stuck;
  member.stuck = false;
  return was_stuck;
}

std::vector<Member*> Membership::silent(double now, double lost_after,
                                        double closed_after) {
  std::vector<Member*> result;
  looked_at_ += members_.size();
  for (auto& [number, member] : members_) {
    const double sign = last_sign(member.heard, member.flowed_in);
    const bool gone =
        member.closed > 0 && now - std::max(sign, member.closed) > closed_after;
    if (member.silent || (!gone && now - sign <= lost_after)) continue;
    member.silent = true;
    silent_.push_back(number);
    result.push_back(&member);
  }
  return result;
}

void Membership::forget_silent() {
  for (; silent_.size() > kSilentKept; silent_.pop_front())
    if (const Member* member = find(silent_.front()); member && member->silent)
      remove(std::string(member->peer));
}

std::vector<Member*> Membership::workers() {
  std::vector<Member*> result;
  looked_at_ += members_.size();
  for (auto& [number, member] : members_)
    if (member.can_work()) result.push_back(&member);
  return result;
}

std::vector<Member*> Membership::counted() {
  std::vector<Member*> result;
  looked_at_ += members_.size();
  for (auto& [number, member] : members_)
    if (member.counts()) result.push_back(&member);
  return result;
}

std::vector<Member*> Membership::present() {
  std::vector<Member*> result;
  looked_at_ += members_.size();
  for (auto& [number, member] : members_)
    if (!member.silent) result.push_back(&member);
  return result;
}

std::vector<Member*> Membership::fed_by_master() {
  std::vector<Member*> result;
  result.reserve(fed_by_master_.size());
  looked_at_ += fed_by_master_.size();
  for (const std::uint64_t number : fed_by_master_)
    result.push_back(&members_.at(number));
  return result;
}

std::uint64_t Membership::set_feeder(Member& member, std::uint64_t parent) {
  if (parent == 0)
    fed_by_master_.insert(member.number);
  else
    fed_by_master_.erase(member.number);
  return std::exchange(member.seat.fed_by, parent);
}

bool Membership::anybody_works() const {
  return std::ranges::any_of(
      members_, [](const auto& entry) { return entry.second.can_work(); });
}

}  // namespace dl::cluster
