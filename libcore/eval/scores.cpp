// Storage of scores, exact or counted.

#include "libcore/eval/scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "libcore/eval/evaluation_base.h"

namespace dl::eval {
namespace {

// Integers that order as the floats do (-0 was made 0 before).
std::int64_t rank_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score);
  const auto size = static_cast<std::int64_t>(bits & 0x7fffffff);
  return (bits >> 31) != 0 ? -size : size;
}

float score_at(std::int64_t rank) {
  const auto size = static_cast<std::uint32_t>(rank < 0 ? -rank : rank);
  return std::bit_cast<float>(size | (rank < 0 ? 0x80000000U : 0U));
}

const std::int64_t kMaxRank = rank_of(std::numeric_limits<float>::max());

// How many of the thresholds i / steps, i >= 1, the score reaches.  They are
// floats as scores are, so that 0.7 reaches 0.7.
std::size_t interval(float score, std::int64_t steps) {
  const auto n = static_cast<double>(steps);
  const auto threshold = [n](double i) { return static_cast<float>(i / n); };
  double i = std::floor(std::clamp(static_cast<double>(score), 0.0, 1.0) * n);
  while (i < n && threshold(i + 1) <= score) ++i;  // rounding
  while (i > 0 && threshold(i) > score) --i;
  return static_cast<std::size_t>(i);
}

}  // namespace

void Scores::Side::sort() {
  if (!sorted) std::sort(scores.begin(), scores.end());
  sorted = true;
}

std::int64_t Scores::Side::size() const {
  return std::accumulate(counts.begin(), counts.end(),
                         static_cast<std::int64_t>(scores.size()));
}

Scores::Scores(std::int64_t steps) : steps_(steps) {
  if (steps > 0) {
    positive_.counts.resize(static_cast<std::size_t>(steps) + 1);
    negative_.counts = positive_.counts;
  }
}

void Scores::add(float score, bool positive) {
  Side& side = positive ? positive_ : negative_;
  if (steps_ > 0) {
    ++side.counts[interval(score, steps_)];
  } else {
    side.scores.push_back(score == 0 ? 0 : score);
    side.sorted = false;
  }
}

void Scores::merge(const Scores& other) {
  const auto join = [](Side& side, const Side& more) {
    side.scores.insert(side.scores.end(), more.scores.begin(),
                       more.scores.end());
    side.sorted = side.sorted && more.scores.empty();
    for (std::size_t i = 0; i < side.counts.size(); ++i)
      side.counts[i] += more.counts[i];
  };
  join(positive_, other.positive_);
  join(negative_, other.negative_);
}

std::pair<std::int64_t, std::int64_t> Scores::reaching(double threshold) const {
  positive_.sort();
  negative_.sort();
  const auto of = [&](const Side& side) {
    if (steps_ == 0)
      return static_cast<std::int64_t>(
          side.scores.end() - std::ranges::lower_bound(side.scores, threshold));
    const double first = std::ceil(
        std::clamp(threshold, 0.0, 1.0) * static_cast<double>(steps_) - 1e-9);
    return std::accumulate(
        side.counts.begin() + static_cast<std::ptrdiff_t>(first),
        side.counts.end(), std::int64_t{0});
  };
  return {of(positive_), of(negative_)};
}

std::int64_t Scores::positives() const { return positive_.size(); }
std::int64_t Scores::negatives() const { return negative_.size(); }

std::vector<Step> Scores::curve() const {
  if (steps_ == 0) return exact_curve();
  std::vector<Step> steps;
  for (std::size_t i = positive_.counts.size(); i-- > 0;)
    steps.push_back({positive_.counts[i], negative_.counts[i],
                     static_cast<float>(static_cast<double>(i) /
                                        static_cast<double>(steps_))});
  return steps;
}

std::vector<Step> Scores::exact_curve() const {
  positive_.sort();
  negative_.sort();
  std::vector<Step> steps;
  auto p = positive_.scores.rbegin();
  auto n = negative_.scores.rbegin();
  const auto p_end = positive_.scores.rend();
  const auto n_end = negative_.scores.rend();
  while (p != p_end || n != n_end) {
    const float score = n == n_end || (p != p_end && *p > *n) ? *p : *n;
    Step step{.score = score};
    for (; p != p_end && *p == score; ++p) ++step.positives;
    for (; n != n_end && *n == score; ++n) ++step.negatives;
    // Steps of negatives alone need no telling apart.
    if (step.positives == 0 && !steps.empty() && steps.back().positives == 0) {
      steps.back().negatives += step.negatives;
      steps.back().score = score;
    } else {
      steps.push_back(step);
    }
  }
  return steps;
}

Json Scores::to_json(Side& side) const {
  if (steps_ > 0) return side.counts;
  side.sort();
  Json gaps = Json::array();
  std::int64_t last = 0;
  for (const float score : side.scores) {
    gaps.push_back(rank_of(score) - last);
    last = rank_of(score);
  }
  return gaps;
}

Json Scores::to_json() const {
  return Json::array({to_json(positive_), to_json(negative_)});
}

void Scores::read(Side& side, const JsonView& json) const {
  if (steps_ > 0) {
    side.counts = read_counts(json, side.counts.size());
    return;
  }
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::int64_t least = i == 0 ? -kMaxRank : 0;
    rank += json.at(i).integer(least, kMaxRank - rank);
    side.scores.push_back(score_at(rank));
  }
}

void Scores::read(const JsonView& json) {
  if (json.size() != 2) json.fail("scores of positives and of negatives");
  read(positive_, json.at(0));
  read(negative_, json.at(1));
}

}  // namespace dl::eval
