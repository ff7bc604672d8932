// Cutting the flat vectors into pieces, and taking each through its rules.

#include "libcore/nn/update/update_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace dl::nn {
namespace {

using tensor::View;

// The places of totals_.
constexpr std::size_t kLoss = 0, kGathered = 1, kWritten = 2;

bool over_norm(GradientNormalization n) {
  return n != GradientNormalization::kNone &&
         n != GradientNormalization::kClipElementwise;
}

bool over_layer(GradientNormalization n) {
  return n == GradientNormalization::kRenormalizeL2PerLayer ||
         n == GradientNormalization::kClipL2PerLayer;
}

bool renormalizes(GradientNormalization n) {
  return n == GradientNormalization::kRenormalizeL2PerLayer ||
         n == GradientNormalization::kRenormalizeL2PerParameter;
}

// Clears the numbers of pieces begin to end - 1: each by itself is a call to a
// GPU.
void clear(device::Device& device, View numbers, std::size_t begin,
           std::size_t end) {
  if (begin == end) return;
  device.fill(numbers.at(static_cast<std::int64_t>(begin),
                         {static_cast<std::int64_t>(end - begin)}),
              0);
}

}  // namespace

UpdatePlan::UpdatePlan(const NetworkConfig& config, const Layout& layout,
                       const LaneGradients& gradients, int lanes,
                       Memory& memory)
    : lanes_(lanes) {
  cut(layout, gradients, memory.device().capabilities().piece);
  for (std::size_t s = 0; s < layout.parameters.size(); ++s)
    rules_.push_back(rule_of(config, layout, s));
  const auto numbers = [&](std::size_t count) {
    // A network may have no parameters.
    return memory.allocate(
        {static_cast<std::int64_t>(std::max<std::size_t>(count, 1))},
        tensor::DType::kF64);
  };
  gathered_ = numbers(pieces_.size());
  written_ = numbers(pieces_.size());
  factors_ = numbers(rules_.size());
  totals_ = numbers(3);
  count_trained();
}

void UpdatePlan::count_trained() {
  trained_.push_back(0);
  for (const Piece& piece : pieces_) {
    const bool frozen = rules_[piece.segment].frozen;
    trained_.push_back(trained_.back() +
                       (frozen ? 0 : piece.end - piece.begin));
  }
}

std::size_t UpdatePlan::deal(std::size_t first, std::size_t last,
                             int lane) const {
  if (lane == lanes_) return last;
  const std::int64_t all = trained_[last] - trained_[first];
  const auto begin = trained_.begin() + static_cast<std::ptrdiff_t>(first),
             end = trained_.begin() + static_cast<std::ptrdiff_t>(last);
  return static_cast<std::size_t>(
      std::lower_bound(begin, end, trained_[first] + all * lane / lanes_) -
      trained_.begin());
}

void UpdatePlan::cut(const Layout& layout, const LaneGradients& gradients,
                     std::int64_t piece) {
  for (std::size_t s = 0; s < layout.parameters.size(); ++s) {
    const Segment& segment = layout.parameters[s];
    const std::int64_t end = segment.offset + segment.elements();
    std::int64_t in_lane = gradients.offsets[s];
    for (std::int64_t at = segment.offset; at < end; at += piece) {
      pieces_.push_back({at, std::min(at + piece, end), s, in_lane});
      if (in_lane != LaneGradients::kNone) in_lane += piece;
    }
  }
}

UpdatePlan::Rule UpdatePlan::rule_of(const NetworkConfig& config,
                                     const Layout& layout,
                                     std::size_t segment) const {
  const Segment& tensor = layout.parameters[segment];
  const Training& training = config.layers[tensor.layer].training;
  Rule rule{.frozen = training.frozen,
            .normalization = training.gradient_normalization,
            .threshold = training.gradient_threshold,
            .l1 = 0,
            .l2 = 0,
            .decay = 0,
            .group_begin = 0,
            .group_end = 0,
            .range = nullptr};
  if (tensor.role == Role::kWeight) {
    rule.l1 = training.regularization.l1;
    rule.l2 = training.regularization.l2;
    rule.decay =
        training.updater.weight_decay + training.regularization.weight_decay;
  } else if (tensor.role == Role::kBias) {
    rule.l1 = training.regularization.l1_bias;
    rule.l2 = training.regularization.l2_bias;
    rule.decay = training.regularization.weight_decay_bias;
  }
  // Pieces are in the order of segments, and those in that of layers.
  const bool by_layer = over_layer(rule.normalization);
  const auto group_of = [&](const Piece& p) {
    return by_layer ? layout.parameters[p.segment].layer : p.segment;
  };
  const std::size_t own = by_layer ? tensor.layer : segment;
  const auto first =
      std::partition_point(pieces_.begin(), pieces_.end(),
                           [&](const Piece& p) { return group_of(p) < own; });
  const auto last = std::partition_point(
      first, pieces_.end(), [&](const Piece& p) { return group_of(p) <= own; });
  rule.group_begin = static_cast<std::size_t>(first - pieces_.begin());
  rule.group_end = static_cast<std::size_t>(last - pieces_.begin());
  for (const StateRange& range : layout.state)
    if (range.begin <= tensor.offset && tensor.offset < range.end)
      rule.range = &range;
  return rule;
}

void UpdatePlan::judge(device::Device& device, std::span<const View> losses,
                       double most_loss) {
  const View loss = number(totals_, kLoss), all = number(totals_, kGathered);
  device.fill(totals_, 0);
  for (const View& share : losses) device.add_numbers(loss, share);
  device.add_numbers(all, gathered_);
  device.check_at_most(all, loss, most_loss);
  // Squares of what is infinite are no NaN, which the guard is to be.
  device.check_at_most(all, all, std::numeric_limits<double>::max());
  for (std::size_t s = 0; s < rules_.size(); ++s) {
    const Rule& rule = rules_[s];
    if (!over_norm(rule.normalization)) continue;
    const bool always = renormalizes(rule.normalization);
    const auto begin = static_cast<std::int64_t>(rule.group_begin),
               end = static_cast<std::int64_t>(rule.group_end);
    device.norm_factor(number(factors_, s), gathered_.at(begin, {end - begin}),
                       always ? 1 : rule.threshold, always);
  }
}

void UpdatePlan::judge_written(device::Device& device) {
  const View written = number(totals_, kWritten);
  device.fill(written, 0);
  device.add_numbers(written, written_);
  device.expect_reading(totals_);
}

UpdatePlan::StepResult UpdatePlan::found(device::Device& device) {
  std::array<double, 3> totals{};
  device.read(totals, totals_);
  return {totals[kLoss], std::isfinite(totals[kGathered]),
          std::isfinite(totals[kWritten])};
}

device::StateViews UpdatePlan::components(View state, const Rule& rule,
                                          const Piece& piece) const {
  const StateRange& range = *rule.range;
  device::StateViews views;
  std::int64_t at = range.offset + piece.begin - range.begin;
  for (int i = 0; i < range.per_parameter; ++i) {
    views[static_cast<std::size_t>(i)] =
        state.at(at, {piece.end - piece.begin});
    at += range.end - range.begin;
  }
  return views;
}

std::size_t UpdatePlan::piece_at(std::int64_t element) const {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(pieces_, element, {}, &Piece::begin) -
      pieces_.begin());
}

// Adjacent pieces that are only checked are checked at once.
bool UpdatePlan::only_checked(std::size_t piece) const {
  const Rule& rule = rules_[pieces_[piece].segment];
  return !rule.frozen && !over_norm(rule.normalization);
}

void UpdatePlan::gather(int lane, device::Device& device,
                        std::span<const View> gradients, std::int64_t begin,
                        std::int64_t end) {
  const auto first = piece_at(begin), last = piece_at(end);
  const std::size_t own = deal(first, last, lane),
                    own_end = deal(first, last, lane + 1);
  clear(device, gathered_, own, own_end);
  for (std::size_t p = own; p < own_end; ++p) {
    const Piece& piece = pieces_[p];
    if (rules_[piece.segment].frozen) continue;
    const View found = number(gathered_, p);
    if (gradients.size() == 1 && only_checked(p)) {
      while (p + 1 < own_end && only_checked(p + 1)) ++p;
      device.check_finite(
          found, gradients[0].at(piece.begin, {pieces_[p].end - piece.begin}));
      continue;
    }
    const View sum = piece.part_of(gradients[0]);
    if (piece.in_lane != LaneGradients::kNone)
      for (const View& other : gradients.subspan(1))
        device.add(sum, 1, other.at(piece.in_lane, sum.shape));
    // In double: squares of float32 do not overflow, but NaN shows.
    if (over_norm(rules_[piece.segment].normalization))
      device.add_squares(found, 1, sum);
    else
      device.check_finite(found, sum);
  }
}

bool UpdatePlan::has_norms() const {
  return std::ranges::any_of(
      rules_, [](const Rule& rule) { return over_norm(rule.normalization); });
}

device::UpdaterStep UpdatePlan::step_of(std::size_t segment, const Position& at,
                                        bool guarded) const {
  const Rule& rule = rules_[segment];
  device::UpdaterStep step =
      rule.range->updater.step(at.iteration, at.epoch, at.concurrent_replicas);
  step.step -= at.updater_reset_at;
  step.learning_rate *= at.factor;
  if (over_norm(rule.normalization)) step.factor = number(factors_, segment);
  if (guarded) step.guard = number(totals_, kGathered);
  if (rule.normalization == GradientNormalization::kClipElementwise)
    step.limit = rule.threshold;
  step.l1 = rule.l1;
  step.l2 = rule.l2;
  step.decay = rule.decay * at.factor *
               rule.range->updater.learning_rate.at(at.iteration, at.epoch);
  return step;
}

void UpdatePlan::step(int lane, device::Device& device, const Position& at,
                      device::UpdateTo to, bool guarded, const UpdateSink& sink,
                      View gradient, View parameters, View state) {
  const Rule* rule = nullptr;
  device::UpdaterStep step;
  const std::size_t own = deal(lane), own_end = deal(lane + 1);
  clear(device, written_, own, own_end);
  std::array<device::Updating, 16> some;  // a GPU has one launch for them
  std::size_t count = 0;
  const auto update = [&] {
    device.update(to, std::span(some).first(std::exchange(count, 0)));
  };
  for (std::size_t p = own; p < own_end; ++p) {
    const Piece& piece = pieces_[p];
    const View found = number(written_, p);
    if (rule != &rules_[piece.segment]) {
      rule = &rules_[piece.segment];
      if (!rule->frozen) step = step_of(piece.segment, at, guarded);
    }
    if (rule->frozen) {
      if (sink) sink(piece.begin, piece.part_of(gradient));
      continue;
    }
    some[count++] = {found, step, piece.part_of(gradient),
                     piece.part_of(parameters),
                     components(state, *rule, piece)};
    if (!sink && count < some.size()) continue;
    update();
    if (!sink) continue;
    double one = 0;
    device.read({&one, 1}, found);
    if (std::isfinite(one)) sink(piece.begin, piece.part_of(gradient));
  }
  update();
}

void UpdatePlan::measure(int lane, device::Device& device, View parameters) {
  const std::size_t own = deal(lane), own_end = deal(lane + 1);
  clear(device, written_, own, own_end);
  for (std::size_t p = own; p < own_end; ++p) {
    const Rule& rule = rules_[pieces_[p].segment];
    const View w = pieces_[p].part_of(parameters), score = number(written_, p);
    if (rule.frozen) continue;
    if (rule.l1 != 0) device.add_absolute(score, rule.l1, w);
    if (rule.l2 != 0) device.add_squares(score, rule.l2 / 2, w);
  }
}

double UpdatePlan::score(device::Device& device) {
  const View sum = number(totals_, kWritten);
  device.fill(sum, 0);
  device.add_numbers(sum, written_);
  double score = 0;
  device.read({&score, 1}, sum);
  return score;
}

}  // namespace dl::nn
