#include "libcore/cluster/master/epoch/lease.h"

#include <algorithm>
#include <iterator>

#include "libcore/base/error.h"

namespace dl::cluster {

LeaseTable::LeaseTable(std::int64_t batches, std::uint64_t& next_id)
    : states_(static_cast<std::size_t>(batches), State::kFree),
      fences_(static_cast<std::size_t>(batches), 0),
      careful_(static_cast<std::size_t>(batches)),
      condemned_(static_cast<std::size_t>(batches)),
      next_id_(next_id) {}

std::int64_t LeaseTable::batches() const {
  return static_cast<std::int64_t>(states_.size());
}

std::int64_t LeaseTable::free() const {
  return batches() - committed_ - leased_ - passed_over_;
}

bool LeaseTable::any_free(std::int64_t first, std::int64_t count) const {
  const auto begin = states_.begin() + first;
  return std::find(begin, begin + count, State::kFree) != begin + count;
}

bool LeaseTable::any_free() const {
  while (lowest_free_ < batches() &&
         states_[static_cast<std::size_t>(lowest_free_)] != State::kFree)
    ++lowest_free_;
  return lowest_free_ < batches();
}

void LeaseTable::restore(const Ranges& committed) {
  for (const auto& [first, count] : committed) {
    if (first < 0 || count < 1 || first > batches() - count)
      throw Error{Code::kData,
                  "committed mini-batches are outside of the epoch"};
    for (std::int64_t i = first; i < first + count; ++i) {
      State& state = states_[static_cast<std::size_t>(i)];
      if (state == State::kPassedOver) continue;
      if (state == State::kCommitted)
        throw Error{Code::kData, "a mini-batch is committed twice"};
      state = State::kCommitted;
      ++committed_;
    }
  }
}

std::optional<Lease> LeaseTable::grant(std::uint64_t worker, std::int64_t most,
                                       std::int64_t end, const May& may) {
  end = std::min(end, batches());
  if (!any_free() || most < 1) return std::nullopt;
  const auto fits = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return states_[at] == State::kFree && (!careful_[at] || !may || may(i));
  };
  std::int64_t first = lowest_free_, count = 0;
  while (first < end && !fits(first)) ++first;
  if (first >= end) return std::nullopt;
  while (first + count < end && count < most && fits(first + count)) ++count;
  return lease_out(worker, first, count);
}

std::optional<Lease> LeaseTable::grant_at(std::uint64_t worker,
                                          std::int64_t first,
                                          std::int64_t count) {
  const auto begin = states_.begin() + first;
  if (!any_free(first, count) ||
      !std::all_of(begin, begin + count, [](State s) {
        return s == State::kFree || s == State::kPassedOver;
      }))
    return std::nullopt;
  return lease_out(worker, first, count);
}

Lease LeaseTable::lease_out(std::uint64_t worker, std::int64_t first,
                            std::int64_t count) {
  Lease lease;
  lease.id = next_id_++;
  lease.worker = worker;
  lease.first = first;
  lease.count = count;
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    lease.fence = std::max<std::uint64_t>(lease.fence, fences_[at] + 1);
    if (states_[at] == State::kPassedOver) continue;
    if (states_[at] == State::kFree) ++leased_;
    states_[at] = State::kLeased;
    lease.careful = lease.careful || careful_[at];
    ++lease.work;
  }
  std::fill_n(fences_.begin() + lease.first, lease.count, lease.fence);
  leases_.emplace(lease.id, lease);
  Held& held = held_[worker];
  held.leases.push_back(lease.id);
  held.left += lease.work;
  return lease;
}

std::optional<Lease> LeaseTable::copy(std::uint64_t id, std::uint64_t worker) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return std::nullopt;
  Lease& original = found->second;
  if (original.twin != 0 || original.worker == worker) return std::nullopt;
  // Mini-batches are committed in order.
  const auto begin = states_.begin() + original.first;
  const auto end = begin + original.count;
  const auto left = std::find(begin, end, State::kLeased);
  if (left == end || std::find(left, end, State::kCommitted) != end)
    return std::nullopt;
  Lease copy = lease_out(worker, left - states_.begin(), end - left);
  original.twin = copy.id;
  copy.twin = leases_.at(copy.id).twin = id;
  return copy;
}

std::int64_t LeaseTable::prefix() const {
  while (prefix_ < batches() && is_settled(prefix_)) ++prefix_;
  return prefix_;
}

bool LeaseTable::holds(std::uint64_t id, std::uint64_t fence,
                       std::int64_t first, std::int64_t count) const {
  const Lease* lease = find(id, fence);
  if (!lease || count < 1 || count > lease->count || first < lease->first ||
      first > lease->first + lease->count - count)
    return false;
  const auto begin = states_.begin() + first, end = begin + count;
  return std::find(begin, end, State::kLeased) != end &&
         std::all_of(begin, end, [](State s) {
           return s == State::kLeased || s == State::kPassedOver;
         });
}

bool LeaseTable::commit(std::uint64_t id, std::uint64_t fence,
                        std::int64_t first, std::int64_t count) {
  if (!holds(id, fence, first, count)) return false;
  const auto begin = states_.begin() + first;
  const std::int64_t done = std::count(begin, begin + count, State::kLeased);
  std::replace(begin, begin + count, State::kLeased, State::kCommitted);
  Lease& lease = leases_.at(id);
  lease.committed += done;
  held_.at(lease.worker).left -= done;
  committed_ += done;
  leased_ -= done;
  return true;
}

void LeaseTable::finish(std::uint64_t id, bool failed) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  const Lease& lease = found->second;
  const auto twin = leases_.find(lease.twin);
  if (twin != leases_.end()) twin->second.twin = 0;
  for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (states_[at] != State::kLeased) continue;
    if (failed) careful_[at] = true;
    if (twin != leases_.end() && twin->second.has(i)) continue;
    states_[at] = State::kFree;
    --leased_;
    lowest_free_ = std::min(lowest_free_, i);
    if (condemned_[at]) condemn(i);
  }
  Held& held = held_.at(lease.worker);
  std::erase(held.leases, id);
  held.left -= lease.work - lease.committed;
  if (held.leases.empty()) held_.erase(lease.worker);
  leases_.erase(found);
}

void LeaseTable::condemn(std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  condemned_[at] = true;
  if (states_[at] != State::kFree) return;
  states_[at] = State::kPassedOver;
  ++passed_over_;
}

const Lease* LeaseTable::find(std::uint64_t id, std::uint64_t fence) const {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.fence != fence) return nullptr;
  return &found->second;
}

std::vector<Lease> LeaseTable::of(std::uint64_t worker) const {
  std::vector<Lease> result;
  const auto found = held_.find(worker);
  if (found == held_.end()) return result;
  for (const std::uint64_t id : found->second.leases)
    result.push_back(leases_.at(id));
  return result;
}

std::size_t LeaseTable::held_by(std::uint64_t worker) const {
  const auto found = held_.find(worker);
  return found == held_.end() ? 0 : found->second.leases.size();
}

std::int64_t LeaseTable::left_of(std::uint64_t worker) const {
  const auto found = held_.find(worker);
  return found == held_.end() ? 0 : found->second.left;
}

Ranges LeaseTable::ranges(State state) const {
  Ranges result;
  for (std::int64_t i = 0; i < batches(); ++i) {
    if (states_[static_cast<std::size_t>(i)] != state) continue;
    if (!result.empty() && result.back().first + result.back().second == i)
      ++result.back().second;
    else
      result.emplace_back(i, 1);
  }
  return result;
}

}  // namespace dl::cluster
