// Pieces of a round's Results: asked for, kept until all slots have theirs, and
// averaged.

#include "libcore/cluster/master/epoch/averaging/pulled_sums.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/protocol/message_sync.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

namespace {

// Pieces of a slot that are asked for at a time: enough that a line does not
// wait for the next request, and of all slots together half a Result at most.
constexpr std::size_t kMostAsked = 8, kFewestAsked = 2;
constexpr std::size_t kFewestPieces = 16;

}  // namespace

PulledSums::PulledSums(std::size_t slots, std::size_t elements)
    : elements_(elements),
      piece_(
          std::clamp(elements / kFewestPieces, std::size_t{1}, kLargestPiece)),
      window_(std::clamp(pieces() / (2 * std::max<std::size_t>(1, slots)),
                         kFewestAsked, kMostAsked)),
      slots_(slots) {}

std::size_t PulledSums::size_of(std::size_t piece) const {
  return std::min(piece_, elements_ - piece * piece_);
}

void PulledSums::offer(std::size_t slot, const SlotCount& count) {
  Slot& of = slots_[slot];
  if (of.given) return;
  of.given = true;
  of.count = count;
}

void PulledSums::put(std::size_t slot, const SlotCount& count,
                     std::vector<float> values) {
  require(values.size() == elements_, "a Result of another size");
  Slot& of = slots_[slot];
  of.given = of.is_here = true;
  of.count = count;
  of.whole = std::move(values);
  of.come.clear();
  average();
}

void PulledSums::pass_over(std::size_t slot) {
  slots_[slot].given = slots_[slot].passed_over = true;
  average();
}

void PulledSums::lose(std::size_t slot) {
  if (!slots_[slot].given || slots_[slot].passed_over) return;
  slots_[slot] = {};
  if (next_ == 0) return;
  next_ = 0;
  for (Slot& each : slots_) {
    each.asked = 0;
    each.come.clear();
  }
}

std::uint64_t PulledSums::lease_of(std::size_t slot) const {
  return slots_[slot].given ? slots_[slot].count.lease : 0;
}

bool PulledSums::owes(std::size_t slot) const {
  const Slot& of = slots_[slot];
  return of.given && !of.is_here && of.asked > next_ + of.come.size();
}

void PulledSums::request(
    const std::function<bool(std::size_t, const Pull&)>& send) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.given || slot.passed_over || slot.is_here) continue;
    for (; slot.asked < std::min(pieces(), next_ + window_); ++slot.asked) {
      Pull pull;
      pull.lease = slot.count.lease;
      pull.fence = slot.count.fence;
      pull.first = static_cast<std::int64_t>(slot.asked * piece_);
      pull.count = static_cast<std::int64_t>(size_of(slot.asked));
      if (!send(i, pull)) break;
    }
  }
}

bool PulledSums::take(std::size_t slot, std::size_t first,
                      std::vector<float> values) {
  Slot& of = slots_[slot];
  const std::size_t piece = first / piece_;
  if (!of.given || of.is_here || piece < next_ || piece >= of.asked ||
      first % piece_ != 0 || values.size() != size_of(piece) ||
      !of.come.emplace(piece, std::move(values)).second)
    return false;
  average();
  return true;
}

bool PulledSums::has(const Slot& slot, std::size_t piece) const {
  return slot.passed_over || slot.is_here ||
         (slot.given && slot.come.contains(piece));
}

void PulledSums::average() {
  for (; next_ < pieces() &&
         std::ranges::all_of(
             slots_, [&](const Slot& slot) { return has(slot, next_); });
       ++next_) {
    const std::size_t first = next_ * piece_, count = size_of(next_);
    exchange::Average sums(slots_.size(), count);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      std::vector<float> values;
      if (slot.is_here) {
        const auto begin =
            slot.whole.begin() + static_cast<std::ptrdiff_t>(first);
        values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      } else if (!slot.passed_over) {
        values = std::move(slot.come.extract(next_).mapped());
      }
      sums.put(i, std::move(values), static_cast<double>(slot.count.examples));
    }
    // Not more than is there, as clearing the rest takes long.
    mean_.reserve(elements_);
    mean_.resize(first);
    const std::vector<float> mean = sums.result();
    mean_.insert(mean_.end(), mean.begin(), mean.end());
  }
  if (!complete() || !counts_.empty()) return;
  for (Slot& slot : slots_) {
    counts_.push_back(slot.count);
    slot.whole = std::vector<float>();
  }
}

}  // namespace dl::cluster
