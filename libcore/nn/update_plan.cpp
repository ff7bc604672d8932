// Cutting the flat vectors into pieces, and taking each through its rules.

#include "libcore/nn/update_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dl::nn {
namespace {

using tensor::View;

// 64 KiB in float32: of two lanes, in the smallest caches of the second level.
constexpr std::int64_t kPiece = 16384;
// Renormalizing would blow up what is nearly nothing.
constexpr double kSmallNorm = 1e-5;

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

}  // namespace

UpdatePlan::UpdatePlan(const NetworkConfig& config, const Layout& layout,
                       const LaneGradients& gradients, int lanes,
                       Memory& memory)
    : lanes_(lanes) {
  cut(layout, gradients);
  for (std::size_t s = 0; s < layout.parameters.size(); ++s)
    rules_.push_back(rule_of(config, layout, s));
  found_.resize(pieces_.size());
  numbers_ = memory.allocate({static_cast<std::int64_t>(pieces_.size())},
                             tensor::DType::kF64);
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

void UpdatePlan::cut(const Layout& layout, const LaneGradients& gradients) {
  for (std::size_t s = 0; s < layout.parameters.size(); ++s) {
    const Segment& segment = layout.parameters[s];
    const std::int64_t end = segment.offset + segment.elements();
    std::int64_t in_lane = gradients.offsets[s];
    for (std::int64_t at = segment.offset; at < end; at += kPiece) {
      pieces_.push_back({at, std::min(at + kPiece, end), s, in_lane});
      if (in_lane != LaneGradients::kNone) in_lane += kPiece;
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

double UpdatePlan::factor(const Rule& rule) const {
  if (!over_norm(rule.normalization)) return 1;
  double squares = 0;
  for (std::size_t p = rule.group_begin; p < rule.group_end; ++p)
    squares += found_[p];
  const double norm = std::sqrt(squares);
  if (renormalizes(rule.normalization)) return norm < kSmallNorm ? 1 : 1 / norm;
  return norm > rule.threshold ? rule.threshold / norm : 1;
}

tensor::StateViews UpdatePlan::components(View state, const Rule& rule,
                                          const Piece& piece) const {
  const StateRange& range = *rule.range;
  tensor::StateViews views;
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

void UpdatePlan::gather(int lane, tensor::Device& device,
                        std::span<const View> gradients, std::int64_t begin,
                        std::int64_t end) {
  const auto first = piece_at(begin), last = piece_at(end);
  const std::size_t own_end = deal(first, last, lane + 1);
  for (std::size_t p = deal(first, last, lane); p < own_end; ++p) {
    const Piece& piece = pieces_[p];
    device.fill(number_of(p), 0);
    if (rules_[piece.segment].frozen) continue;
    const View sum = piece.part_of(gradients[0]);
    if (piece.in_lane != LaneGradients::kNone)
      for (const View& other : gradients.subspan(1))
        device.add(sum, 1, other.at(piece.in_lane, sum.shape));
    // In double: squares of float32 do not overflow, but NaN shows.
    if (over_norm(rules_[piece.segment].normalization))
      device.add_squares(number_of(p), 1, sum);
    else
      device.check_finite(number_of(p), sum);
  }
}

bool UpdatePlan::has_norms() const {
  return std::ranges::any_of(
      rules_, [](const Rule& rule) { return over_norm(rule.normalization); });
}

tensor::UpdaterStep UpdatePlan::step_of(const Rule& rule,
                                        const Position& at) const {
  tensor::UpdaterStep step =
      rule.range->updater.step(at.iteration, at.epoch, at.beside);
  step.step -= at.afresh;
  step.learning_rate *= at.factor;
  step.scale = factor(rule);
  if (rule.normalization == GradientNormalization::kClipElementwise)
    step.limit = rule.threshold;
  step.l1 = rule.l1;
  step.l2 = rule.l2;
  step.decay = rule.decay * at.factor *
               rule.range->updater.learning_rate.at(at.iteration, at.epoch);
  return step;
}

void UpdatePlan::step(int lane, tensor::Device& device, const Position& at,
                      tensor::UpdateTo to, const UpdateSink& sink,
                      View gradient, View parameters, View state) {
  const Rule* rule = nullptr;
  tensor::UpdaterStep step;
  const std::size_t own_end = deal(lane + 1);
  for (std::size_t p = deal(lane); p < own_end; ++p) {
    const Piece& piece = pieces_[p];
    device.fill(number_of(p), 0);
    if (rule != &rules_[piece.segment]) {
      rule = &rules_[piece.segment];
      if (!rule->frozen) step = step_of(*rule, at);
    }
    if (rule->frozen) {
      if (sink) sink(piece.begin, piece.part_of(gradient));
      continue;
    }
    device.update(number_of(p), step, to, piece.part_of(gradient),
                  piece.part_of(parameters), components(state, *rule, piece));
    if (!sink) continue;
    double found = 0;
    device.read({&found, 1}, number_of(p));
    if (std::isfinite(found)) sink(piece.begin, piece.part_of(gradient));
  }
}

bool UpdatePlan::finite(tensor::Device& device) {
  device.read(found_, numbers_);
  return std::ranges::all_of(found_, [](double x) { return std::isfinite(x); });
}

void UpdatePlan::measure(int lane, tensor::Device& device, View parameters) {
  const std::size_t own_end = deal(lane + 1);
  for (std::size_t p = deal(lane); p < own_end; ++p) {
    const Rule& rule = rules_[pieces_[p].segment];
    const View w = pieces_[p].part_of(parameters), number = number_of(p);
    device.fill(number, 0);
    if (rule.frozen) continue;
    if (rule.l1 != 0) device.add_absolute(number, rule.l1, w);
    if (rule.l2 != 0) device.add_squares(number, rule.l2 / 2, w);
  }
}

double UpdatePlan::score(tensor::Device& device) {
  device.read(found_, numbers_);
  return std::accumulate(found_.begin(), found_.end(), 0.0);
}

}  // namespace dl::nn
