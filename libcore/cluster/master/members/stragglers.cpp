#include "libcore/cluster/master/members/stragglers.h"

#include <algorithm>
#include <cmath>

namespace dl::cluster {

namespace {

constexpr double kSmoothTime = 0.2;
constexpr double kMuchSlower = 3;
constexpr double kFor = 5;               // seconds, before it is told of
constexpr double kForUnknown = 10;       // one so slow may get no work any more
constexpr double kOtherwise = 2;         // a factor that has changed by so much
constexpr double kBarren = 20;           // times the median
constexpr std::int64_t kKnownAfter = 8;  // mini-batches

bool is_known(const Member& member) {
  return member.batch_seconds > 0 && member.measured >= kKnownAfter;
}

}  // namespace

void note_begun(Member& member, double now) { member.busy_since = now; }

void note_trained(Member& member, std::int64_t batches, double now) {
  // The first of all is longer: memory is laid out, and code is made.
  if (member.busy_since > 0 && member.measured > 0) {
    const double seconds =
        (now - member.busy_since) / static_cast<double>(batches);
    member.batch_seconds =
        member.batch_seconds > 0
            ? member.batch_seconds +
                  kSmoothTime * (seconds - member.batch_seconds)
            : seconds;
  }
  member.measured += batches;
  member.busy_since = now;
}

void note_at_least(Member& member, std::int64_t batches, double now) {
  if (now - member.busy_since >
      member.batch_seconds * static_cast<double>(batches))
    note_trained(member, batches, now);
}

Medians::Medians(const std::vector<Member*>& workers) {
  for (const Member* worker : workers)
    if (is_known(*worker)) known_.push_back(worker->batch_seconds);
  std::ranges::sort(known_);
}

double Medians::of_others(const Member& member) const {
  const auto own = std::ranges::lower_bound(known_, member.batch_seconds);
  const bool among =
      is_known(member) && own != known_.end() && *own == member.batch_seconds;
  const std::size_t others = known_.size() - (among ? 1 : 0);
  if (others == 0) return 0;
  // The slower of two middle ones is taken.
  const std::size_t middle = others / 2;
  const auto before = static_cast<std::size_t>(own - known_.begin());
  return known_[among && before <= middle ? middle + 1 : middle];
}

double longest_without_answer(const Member& member, double median,
                              std::int64_t batches, double least) {
  return std::max(least, kBarren * median * static_cast<double>(batches)) *
         std::exp2(member.times_barren);
}

std::vector<Straggler> find_stragglers(const std::vector<Member*>& workers,
                                       double now) {
  std::vector<Straggler> result;
  const Medians medians(workers);
  for (Member* member : workers) {
    const double median = medians.of_others(*member);
    if (!(median > 0) || member->batch_seconds < kMuchSlower * median) {
      member->slow_since = 0;
      continue;
    }
    if (member->slow_since == 0) member->slow_since = now;
    const double factor = member->batch_seconds / median;
    const double told = member->told_slower;
    const bool news =
        told == 0 || factor > kOtherwise * told || told > kOtherwise * factor;
    const double wait = is_known(*member) ? kFor : kForUnknown;
    if (!news || now - member->slow_since < wait) continue;
    member->told_slower = factor;
    result.push_back({member, factor});
  }
  return result;
}

}  // namespace dl::cluster
