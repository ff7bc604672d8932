#include "libcore/cluster/health/told_losses.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace dl::cluster {

namespace {

constexpr std::size_t kRecentTold = 32;                 // answers of a member
constexpr std::size_t kEnoughTold = 3, kManyTold = 16;  // that tell something
constexpr std::size_t kMostMembers = 4096;
constexpr double kApart = 0.9;  // of pairs of answers, its own is higher
constexpr double kTimesHigher = 1.3, kTimesLower = 0.5;
constexpr double kTimesOwn = 1.5, kErrors = 3;
constexpr std::size_t kNewestTold = 8;
constexpr double kTimesDenied = 2, kTimesError = 6;  // standard errors

// Sorted losses.
struct Sample {
  std::vector<double> sorted;
  double sum = 0;

  explicit Sample(std::vector<double> values) : sorted(std::move(values)) {
    std::ranges::sort(sorted);
    sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  }
  double mean() const { return sum / static_cast<double>(sorted.size()); }
  double below(double loss) const {
    return static_cast<double>(std::ranges::lower_bound(sorted, loss) -
                               sorted.begin());
  }
};

// Counts the pairs of its own and another one's in which its own is higher.
double share_above(const Sample& own, const Sample& all) {
  double above = 0;
  for (const double loss : own.sorted)
    above += all.below(loss) - own.below(loss);
  return above / static_cast<double>(own.sorted.size() *
                                     (all.sorted.size() - own.sorted.size()));
}

}  // namespace

void ToldLosses::add(std::uint64_t member, std::uint64_t version,
                     double loss_sum, std::int64_t examples) {
  Told& told = members_[member];
  told.recent.push_back({version,
                         told.recent.empty() ? 0 : told.recent.back().version,
                         loss_sum / static_cast<double>(examples)});
  if (told.recent.size() > kRecentTold) told.recent.pop_front();
  told.last = ++answers_;
  told.loss_sum += loss_sum;
  told.examples += examples;
  if (members_.size() > kMostMembers) members_.erase(members_.begin());
}

void ToldLosses::begin_epoch() {
  for (auto& [number, told] : members_) {
    told.loss_sum = 0;
    told.examples = 0;
  }
}

std::vector<double> ToldLosses::since(const Told& told, std::uint64_t version) {
  std::vector<double> losses;
  for (const Answer& answer : told.recent)
    if (answer.version >= version) losses.push_back(answer.loss);
  return losses;
}

// Since the losses rose, or of late.
std::optional<ToldLosses::Odd> ToldLosses::odd_one(
    const LossWatch& watch) const {
  if (const auto odd = compare(watch, watch.since())) return odd;
  return compare(watch, 0);
}

bool ToldLosses::is_of_late(const Told& told) const {
  return told.last + 2 * kRecentTold * (members_.size() + 4) > answers_;
}

std::optional<ToldLosses::Odd> ToldLosses::compare(
    const LossWatch& watch, std::uint64_t version) const {
  std::map<std::uint64_t, const Sample> members;
  std::vector<double> pool;
  for (const auto& [number, told] : members_) {
    std::vector<double> losses = since(told, version);
    if (losses.size() < kEnoughTold || !is_of_late(told)) continue;
    pool.insert(pool.end(), losses.begin(), losses.end());
    members.emplace(number, std::move(losses));
  }
  if (members.size() < 2) return std::nullopt;
  const Sample all(std::move(pool));
  for (const auto& [number, own] : members) {
    const Told& told = members_.at(number);
    const auto others =
        static_cast<double>(all.sorted.size() - own.sorted.size());
    const Odd odd{number, own.mean(), (all.sum - own.sum) / others,
                  told.loss_sum, told.examples};
    const double above = share_above(own, all);
    // With two, one may be too low as well as the other too high.
    const bool high = above >= kApart && odd.loss > kTimesHigher * odd.others &&
                      watch.is_near_best(odd.others) &&
                      (members.size() > 2 || watch.is_hopeless(odd.loss));
    const bool low = above <= 1 - kApart &&
                     odd.loss < kTimesLower * odd.others &&
                     members.size() > 2 && own.sorted.size() >= kManyTold;
    if (high || low) return odd;
  }
  return std::nullopt;
}

// An honest worker is near the own loss; where none of several is, it may be
// the own loss that is of something else.
std::optional<ToldLosses::Odd> ToldLosses::contradicted(
    const LossWatch& watch, const OwnLoss& own) const {
  const double most = own.loss + kErrors * own.error;
  if (!std::isfinite(most) || !watch.is_near_best(most)) return std::nullopt;
  std::optional<Odd> highest;
  bool somebody_agrees = false;
  for (const auto& [number, told] : members_) {
    const std::vector<double> losses = since(told, watch.since());
    if (losses.size() < kEnoughTold || !is_of_late(told)) continue;
    const Sample sample(losses);
    const double above =
        1 - sample.below(most) / static_cast<double>(losses.size());
    if (sample.mean() <= kTimesOwn * most || above < kApart ||
        watch.is_near_best(sample.mean()))
      somebody_agrees = true;
    else if (!highest || sample.mean() > highest->loss)
      highest =
          Odd{number, sample.mean(), own.loss, told.loss_sum, told.examples};
  }
  if (!highest || somebody_agrees) return highest;
  return watch.is_hopeless(highest->loss) ? highest : std::nullopt;
}

// --- Without a history ------------------------------------------------------

double ToldLosses::newest_mean(const Told& told) {
  const std::size_t count = std::min(told.recent.size(), kNewestTold);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += told.recent[told.recent.size() - 1 - i].loss;
  return sum / static_cast<double>(count);
}

// The version since which both have told enough: as late as can be, as losses
// fall, and who is slow told of early ones.
std::uint64_t ToldLosses::together(const Told& one, const Told& other) {
  std::uint64_t from =
      std::max(one.recent.front().version, other.recent.front().version);
  for (const Told* told : {&one, &other})
    from =
        std::min(from, told->recent[told->recent.size() - kEnoughTold].version);
  return from;
}

bool ToldLosses::are_in_doubt() {
  if (answers_ < std::max(next_look_, next_doubt_)) return false;
  next_look_ = answers_ + 4 * members_.size();
  const Told *lowest = nullptr, *highest = nullptr;
  for (const auto& [number, told] : members_) {
    if (told.recent.size() < kEnoughTold || !is_of_late(told)) continue;
    if (!lowest || newest_mean(told) < newest_mean(*lowest)) lowest = &told;
    if (!highest || newest_mean(told) > newest_mean(*highest)) highest = &told;
  }
  if (lowest == highest) return false;
  const std::uint64_t from = together(*lowest, *highest);
  std::vector<double> both = since(*highest, from);
  const Sample high(both);
  const std::vector<double> others = since(*lowest, from);
  both.insert(both.end(), others.begin(), others.end());
  const Sample low(others);
  return high.mean() >
             low.mean() + (kTimesDenied - 1) * std::fabs(low.mean()) &&
         share_above(high, Sample(std::move(both))) >= kApart;
}

void ToldLosses::stay_in_doubt() {
  next_doubt_ = answers_ + patience_;
  patience_ *= 2;
}

// Whether its newest loss is above all that the other one has told since that
// one was begun: losses fall meanwhile.  Not if that is forgotten.
bool ToldLosses::was_higher_then(const Told& told, const Told& other) {
  const Answer& newest = told.recent.back();
  if (newest.begun < other.recent.front().version) return false;
  double highest = 0;
  for (const Answer& answer : other.recent)
    if (answer.version >= newest.begun)
      highest = std::max(highest, std::fabs(answer.loss));
  return newest.loss > kTimesHigher * highest;
}

// The other one is as the own loss is, and this one is not.
bool ToldLosses::denies(const Told& told, const Told& other,
                        const OwnLoss& own) {
  const std::size_t newest = std::min(other.recent.size(), kNewestTold);
  if (told.recent.back().version <
      other.recent[other.recent.size() - newest].version)
    return false;  // it has told nothing since, and losses fall
  const std::uint64_t from = together(told, other);
  std::vector<double> both = since(told, from);
  const Sample its(both);
  const std::vector<double> others = since(other, from);
  both.insert(both.end(), others.begin(), others.end());
  const double size = std::fabs(own.loss) + kErrors * own.error;
  const double distance = std::fabs(Sample(others).mean() - own.loss);
  if (distance > (kTimesOwn - 1) * size + kErrors * own.error) return false;
  const auto count = static_cast<double>(its.sorted.size());
  const double above = its.mean() - own.loss;
  const double noise =
      kErrors * own.error + kTimesError * own.deviation / std::sqrt(count);
  const double share = share_above(its, Sample(std::move(both)));
  if (above > std::max(noise, (kTimesDenied - 1) * size))
    return share >= kApart && its.below(own.loss) <= (1 - kApart) * count &&
           was_higher_then(told, other);
  return -above > std::max(noise, (1 - kTimesLower) * size) &&
         share <= 1 - kApart && its.sorted.size() >= kManyTold;
}

// The farthest of several.
std::optional<ToldLosses::Odd> ToldLosses::denied(const OwnLoss& own) const {
  std::optional<Odd> farthest;
  if (!std::isfinite(own.loss)) return farthest;
  for (const auto& member : members_) {
    const auto& told = member.second;
    if (told.recent.size() < kEnoughTold || !is_of_late(told)) continue;
    const double loss = newest_mean(told);
    if (farthest &&
        std::fabs(loss - own.loss) <= std::fabs(farthest->loss - own.loss))
      continue;
    const bool is_denied = std::ranges::any_of(members_, [&](const auto& each) {
      const Told& other = each.second;
      return &other != &told && other.recent.size() >= kEnoughTold &&
             is_of_late(other) && denies(told, other, own);
    });
    if (is_denied)
      farthest =
          Odd{member.first, loss, own.loss, told.loss_sum, told.examples};
  }
  return farthest;
}

}  // namespace dl::cluster
