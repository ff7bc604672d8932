#include "libcore/cluster/master/epoch/sharing/sharing_rounds.h"

#include <algorithm>
#include <utility>

namespace dl::cluster {

void SharingRounds::assign(const std::vector<std::uint64_t>& workers) {
  if (workers.empty()) return;
  std::map<std::uint64_t, int> slots;
  for (const std::uint64_t worker : workers) slots[worker] = 0;
  for (std::uint64_t& owner : owners_)
    if (const auto found = slots.find(owner); found != slots.end())
      ++found->second;
    else
      owner = 0;
  const auto count = [&](std::uint64_t worker) { return slots.at(worker); };
  for (std::uint64_t& owner : owners_) {
    if (owner != 0) continue;
    owner = *std::ranges::min_element(workers, {}, count);
    ++slots.at(owner);
  }
  for (const std::uint64_t idle : workers) {
    if (slots.at(idle) > 0) continue;
    const std::uint64_t busiest = *std::ranges::max_element(workers, {}, count);
    if (slots.at(busiest) < 2) return;
    *std::ranges::find(owners_, busiest) = idle;
    --slots.at(busiest);
    ++slots.at(idle);
  }
}

void SharingRounds::hold(std::uint64_t worker, Update update) {
  const std::int64_t batch = update.batch;
  held_[batch] = {worker, std::move(update), false};
}

bool SharingRounds::mark_done(std::uint64_t lease) {
  for (auto& [batch, held] : held_) {
    if (held.update.lease != lease) continue;
    held.done = true;
    return true;
  }
  return false;
}

std::int64_t SharingRounds::held_by(std::uint64_t worker) const {
  return std::ranges::count_if(
      held_, [&](const auto& entry) { return entry.second.worker == worker; });
}

std::vector<SharingRounds::Held> SharingRounds::complete(
    const LeaseTable& table) {
  std::erase_if(held_, [&](const auto& entry) {
    const Update& update = entry.second.update;
    return !table.holds(update.lease, update.fence, update.batch, update.count);
  });
  const std::int64_t prefix = table.prefix();
  const std::int64_t end =
      std::min((prefix / width_ + 1) * width_, table.batches());
  std::int64_t there = 0;
  for (std::int64_t b = prefix; b < end; ++b)
    there += held_.contains(b) || table.is_settled(b);
  std::vector<Held> round;
  if (there < end - prefix) return round;
  for (auto at = held_.begin(); at != held_.end() && at->first < end;
       at = held_.erase(at))
    round.push_back(std::move(at->second));
  return round;
}

std::vector<SharingRounds::Held> SharingRounds::give_up() {
  std::vector<Held> all;
  all.reserve(held_.size());
  for (auto& [batch, held] : held_) all.push_back(std::move(held));
  held_.clear();
  return all;
}

}  // namespace dl::cluster
