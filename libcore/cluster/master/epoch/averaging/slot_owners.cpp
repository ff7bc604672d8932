#include "libcore/cluster/master/epoch/averaging/slot_owners.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dl::cluster {

void SlotOwners::release(Owner& owner) {
  if (owner.round > 0) ++lost_;
  owner = Owner{};
}

void SlotOwners::assign(std::size_t slots,
                        const std::vector<std::uint64_t>& workers,
                        const std::vector<std::uint64_t>& away,
                        bool rebalance) {
  if (workers.empty()) return;
  if (owners_.size() < slots) owners_.resize(slots);
  std::map<std::uint64_t, std::size_t> load;
  for (const std::uint64_t worker : workers) load[worker] = 0;
  const std::size_t share = (slots + load.size() - 1) / load.size();
  for (Owner& owner : owners_) {
    if (owner.worker == 0 || std::ranges::count(away, owner.worker) > 0)
      continue;
    const auto found = load.find(owner.worker);
    const bool counts = &owner - owners_.data() < std::ptrdiff_t(slots);
    if (found == load.end() || (rebalance && counts && found->second == share))
      release(owner);
    else if (counts)
      ++found->second;
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (owners_[slot].worker != 0) continue;
    const auto least = std::min_element(
        load.begin(), load.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    owners_[slot].worker = least->first;
    ++least->second;
  }
}

std::uint64_t SlotOwners::owner(std::size_t slot) const {
  return slot < owners_.size() ? owners_[slot].worker : 0;
}

std::uint64_t SlotOwners::history(std::size_t slot, std::uint64_t worker,
                                  std::uint64_t round) const {
  if (owner(slot) != worker || worker == 0) return 0;
  return owners_[slot].round < round ? owners_[slot].round : 0;
}

void SlotOwners::learnt(std::size_t slot, std::uint64_t worker,
                        std::uint64_t round) {
  if (owner(slot) != worker || worker == 0) return;
  if (owners_[slot].round > round) ++lost_;  // of the later one
  owners_[slot].round = round;
}

void SlotOwners::forget(std::size_t slot, std::uint64_t worker) {
  if (owner(slot) != worker || worker == 0) return;
  if (std::exchange(owners_[slot].round, 0) > 0) ++lost_;
}

void SlotOwners::give(std::size_t slot, std::uint64_t worker) {
  if (slot >= owners_.size() || owners_[slot].worker == worker) return;
  release(owners_[slot]);
  owners_[slot].worker = worker;
}

void SlotOwners::swap_owner(std::size_t slot) {
  for (std::size_t i = 1; i < owners_.size(); ++i) {
    const std::size_t other = (slot + i) % owners_.size();
    const std::uint64_t worker = owner(slot), theirs = owner(other);
    if (theirs == 0 || theirs == worker) continue;
    release(owners_[slot]);
    release(owners_[other]);
    owners_[slot].worker = theirs;
    owners_[other].worker = worker;
    return;
  }
}

void SlotOwners::forget(std::uint64_t worker) {
  for (Owner& owner : owners_)
    if (owner.worker == worker) release(owner);
}

}  // namespace dl::cluster
