#include "libcore/cluster/membership.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::cluster {

namespace {

std::string process_of(const Hello& hello) {
  return hello.host + ":" + std::to_string(hello.pid);
}

}  // namespace

std::string Member::describe() const {
  return "w" + std::to_string(number) + " (" + hello.name + ")";
}

Member& Membership::admit(const std::string& peer, const Hello& hello,
                          double now, double lost_after,
                          std::optional<Member>* replaced) {
  for (auto it = members_.begin(); it != members_.end(); ++it) {
    const Member& old = it->second;
    const bool same_process =
        old.hello.host == hello.host && old.hello.pid == hello.pid;
    if (it->first != peer && old.hello.name != hello.name) continue;
    if (it->first != peer && !same_process && !old.silent &&
        now - old.heard <= lost_after)
      throw Error{Code::kProtocol, "the name '" + hello.name +
                                       "' is in use by " +
                                       process_of(old.hello)};
    if (replaced) *replaced = old;
    members_.erase(it);
    break;
  }
  Member member;
  member.number = ++last_number_;
  member.peer = peer;
  member.hello = hello;
  member.heard = member.moved = now;
  return members_[peer] = std::move(member);
}

Member* Membership::find(const std::string& peer) {
  const auto found = members_.find(peer);
  return found == members_.end() ? nullptr : &found->second;
}

Member* Membership::find(std::uint64_t number) {
  for (auto& [peer, member] : members_)
    if (member.number == number) return &member;
  return nullptr;
}

void Membership::remove(const std::string& peer) { members_.erase(peer); }

bool Membership::heard(Member& member, double now) {
  member.heard = now;
  if (!member.silent) return false;
  member.silent = false;
  member.moved = now;
  return true;
}

bool Membership::beat(Member& member, const Beat& beat, double now) {
  member.examples_per_second = beat.examples_per_second;
  member.doing = beat.doing;
  if (beat.progress == member.progress) return false;
  member.progress = beat.progress;
  member.moved = now;
  const bool was_stuck = member.stuck;
  member.stuck = false;
  return was_stuck;
}

std::vector<Member*> Membership::silent(double now, double lost_after) {
  std::vector<Member*> result;
  for (auto& [peer, member] : members_) {
    if (member.silent || now - member.heard <= lost_after) continue;
    member.silent = true;
    result.push_back(&member);
  }
  return result;
}

std::vector<Member*> Membership::workers() {
  std::vector<Member*> result;
  for (auto& [peer, member] : members_)
    if (member.can_work()) result.push_back(&member);
  std::sort(result.begin(), result.end(), [](const Member* a, const Member* b) {
    return a->number < b->number;
  });
  return result;
}

std::vector<Member*> Membership::present() {
  std::vector<Member*> result;
  for (auto& [peer, member] : members_)
    if (!member.silent) result.push_back(&member);
  return result;
}

}  // namespace dl::cluster
