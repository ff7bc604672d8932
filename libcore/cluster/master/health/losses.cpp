#include "libcore/cluster/master/health/losses.h"

#include <algorithm>
#include <utility>

namespace dl::cluster {

namespace {

constexpr std::size_t kKept = 64;  // of a mini-batch, names

// Counts those that share no host, key or name with each other.
class Independent {
 public:
  void add(const std::string& host, const std::string& key,
           const std::string& name) {
    const std::size_t one = root_.size();
    root_.push_back(one);
    join(one, "h" + host);
    if (!key.empty()) join(one, "k" + key);
    join(one, "n" + name);
  }
  std::size_t count() const {
    std::size_t roots = 0;
    for (std::size_t i = 0; i < root_.size(); ++i) roots += root_[i] == i;
    return roots;
  }

 private:
  std::size_t find(std::size_t i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  void join(std::size_t one, const std::string& what) {
    root_[find(one)] = find(first_.emplace(what, one).first->second);
  }

  std::vector<std::size_t> root_;
  std::map<std::string, std::size_t> first_;  // that has this
};

}  // namespace

void Losses::add(std::int64_t batch, const Member& member, bool at_hand) {
  std::vector<Loss>& lost = lost_[batch];
  const Hello& hello = member.hello;
  auto found = std::ranges::find_if(lost, [&](const Loss& loss) {
    return loss.name == hello.name && loss.host == hello.host &&
           loss.key == member.key;
  });
  if (found == lost.end()) {
    if (lost.size() >= kKept) return;
    lost.push_back({hello.name, hello.host, member.key, {}});
    found = lost.end() - 1;
  }
  if (found->process == hello.process && found->last_at_hand) return;
  found->description = member.describe();
  set_process(*found, batch, hello.process);
  found->last_at_hand = at_hand;
  found->at_hand += at_hand;
  found->proven = found->proven || (at_hand && member.proven);
}

void Losses::set_process(Loss& loss, std::int64_t batch,
                         std::uint64_t process) {
  if (const auto before = batches_.find(loss.process);
      before != batches_.end()) {
    before->second.erase(batch);
    if (before->second.empty()) batches_.erase(before);
  }
  loss.process = process;
  if (process != 0) batches_[process].insert(batch);
}

void Losses::forgive(std::uint64_t process) {
  const auto found = batches_.find(process);
  if (found == batches_.end()) return;
  for (const std::int64_t batch : std::set(found->second)) {
    std::vector<Loss>& lost = lost_.at(batch);
    for (Loss& loss : lost) {
      if (loss.process != process) continue;
      set_process(loss, batch, 0);
      loss.at_hand -= std::exchange(loss.last_at_hand, false);
    }
    std::erase_if(lost, [](const Loss& loss) {
      return loss.process == 0 && loss.at_hand == 0;
    });
    if (lost.empty()) lost_.erase(batch);
  }
}

void Losses::settle(std::int64_t first, std::int64_t count) {
  const auto begin = lost_.lower_bound(first);
  const auto end = lost_.lower_bound(first + count);
  for (auto at = begin; at != end; ++at)
    for (Loss& loss : at->second) set_process(loss, at->first, 0);
  lost_.erase(begin, end);
}

int Losses::kinship(const Loss& loss, const Member& member) {
  if (loss.name == member.hello.name) return 3;
  const bool host = loss.host == member.hello.host;
  const bool key = loss.key == member.key;
  if (host && key) return 2;
  return host || (key && !member.key.empty()) ? 1 : 0;
}

// The closest kinship; of equals those whose work was good come first.
int Losses::rank(const Member& member, const std::vector<Loss>& lost) const {
  int closest = 0;
  for (const Loss& loss : lost)
    closest = std::max(closest, kinship(loss, member));
  return 2 * closest + (member.proven ? 0 : 1);
}

bool Losses::may(const Member& member, std::int64_t batch,
                 const std::vector<Member*>& workers) const {
  const auto found = lost_.find(batch);
  if (found == lost_.end()) return true;
  const int own = rank(member, found->second);
  return std::ranges::all_of(workers, [&](const Member* other) {
    return rank(*other, found->second) >= own;
  });
}

std::string Losses::victims(std::int64_t batch,
                            const std::vector<Member*>& others) const {
  const auto found = lost_.find(batch);
  if (found == lost_.end()) return "";
  std::string names;
  Independent witnesses;
  std::size_t deaths = 0;
  bool proven = std::ranges::none_of(others, &Member::proven);
  for (const Loss& loss : found->second) {
    if (loss.at_hand == 0) continue;
    deaths += static_cast<std::size_t>(loss.at_hand);
    proven = proven || loss.proven;
    witnesses.add(loss.host, loss.key, loss.name);
    names += ", " + loss.description;
  }
  const std::size_t dead = witnesses.count();
  Independent all = witnesses;
  for (const Member* other : others)
    all.add(other->hello.host, other->key, other->hello.name);
  if (deaths < kWitnesses || !proven ||
      dead < std::min(kWitnesses, all.count()))
    return "";
  return std::to_string(deaths) + " workers" + names;
}

}  // namespace dl::cluster
