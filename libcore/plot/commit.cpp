// Sums and shares.

#include "libcore/plot/commit.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace dl::plot {
namespace {

// The part of `parts` that is in the ranges.
Parts common(const Parts& parts, const Parts& ranges) {
  Parts all;
  for (const Commit::Part& part : parts)
    for (const Commit::Part& range : ranges) {
      const double first = std::max(part.first, range.first);
      const double end = std::min(part.end, range.end);
      if (first < end)
        all.push_back(
            {first, end,
             part.examples * (end - first) / (part.end - part.first)});
    }
  return all;
}

double sum_of_parts(const Parts& parts,
                    const std::function<double(const Commit::Part&)>& of) {
  double all = 0;
  for (const Commit::Part& part : parts) all += of(part);
  return all;
}

}  // namespace

Parts parts_of(EventValue json) {
  constexpr double kMostBatches = 0x1p53;
  Parts parts;
  if (!json.is_array()) return parts;
  for (EventValue range = json.first(); range; range = range.next()) {
    if (!range.is_array() || range.size() < 2) continue;
    const EventValue first = range.first(), count = first.next();
    const EventValue examples = count.next() ? count.next() : count;
    const double end = first.number() + count.number();
    if (first.number() >= 0 && count.number() >= 0 && end <= kMostBatches &&
        examples.is_number())
      parts.push_back({first.number(), end, examples.number()});
  }
  return parts;
}

std::int64_t Cutter::Rounded::of(std::int64_t amount, double share) {
  before += static_cast<double>(amount);
  const double now = std::round(share * before);
  return static_cast<std::int64_t>(now - std::exchange(given, now));
}

void Cutter::cut(Commit& commit) {
  if (!commit.parts || commit.parts != of_) begin(commit);
  commit.examples = examples_.of(commit.examples, share_of_examples_);
  commit.bytes = bytes_.of(commit.bytes, share_of_examples_);
  commit.count = count_.of(commit.count, share_of_batches_);
  if (commit.parts) commit.parts = left_;
}

void Cutter::begin(const Commit& commit) {
  const auto first = static_cast<double>(commit.first);
  const auto end = static_cast<double>(commit.end);
  of_ = commit.parts;
  const Parts parts = of_ ? *of_ : Parts{{first, end, end - first}};
  left_ = std::make_shared<const Parts>(common(parts, ranges_));
  const auto batches = [](const Commit::Part& p) { return p.end - p.first; };
  const auto examples = [](const Commit::Part& p) { return p.examples; };
  share_of_batches_ = sum_of_parts(*left_, batches) /
                      std::max(1.0, sum_of_parts(parts, batches));
  share_of_examples_ = sum_of_parts(*left_, examples) /
                       std::max(1.0, sum_of_parts(parts, examples));
  examples_ = bytes_ = count_ = {};
}

void add_earlier(Commit& to, const Commit& from) {
  const auto mean = [](double a, std::int64_t n, double b, std::int64_t m) {
    if (!std::isfinite(a)) return b;
    if (!std::isfinite(b) || n + m == 0) return a;
    return (a * static_cast<double>(n) + b * static_cast<double>(m)) /
           static_cast<double>(n + m);
  };
  to.loss = mean(to.loss, to.examples, from.loss, from.examples);
  to.staleness = mean(to.staleness, to.commits, from.staleness, from.commits);
  to.first = std::min(to.first, from.first);
  to.end = std::max(to.end, from.end);
  to.count += from.count;
  to.examples += from.examples;
  to.bytes += from.bytes;
  to.commits += from.commits;
  to.parts = nullptr;
}

}  // namespace dl::plot
