#include "libcore/cluster/master/epoch/averaging/result_audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

namespace {

constexpr double kTimesUsual = 4;                   // a norm that stands out
constexpr double kForgetUsual = 0.9;                // with each result
constexpr double kTimesTold = 3, kTimesBefore = 2;  // a loss far worse
constexpr double kSampleErrors = 3;
constexpr double kMostTolerance = 1e6;

double norm_of_vector(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

// A loss that may be below 0, as densities have.
bool is_beyond(double loss, double of, double times) {
  return !(loss <= of + (times - 1) * std::fabs(of));
}

// The factor with which is_beyond() begins to hold.
double factor_of(double loss, double of) {
  return std::min(kMostTolerance, 1 + (loss - of) / std::fabs(of));
}

}  // namespace

// The first one is held against the parameters themselves.
bool ResultAudit::stands_out(const RunContext& context, double size) const {
  if (usual_ > 0) return size > kTimesUsual * usual_;
  return size > norm_of_vector(context.state.parameters);
}

// One party alone may be wrong by any factor, but not another with it.
double ResultAudit::agreed_factor() const {
  double most = 0, second = 0;
  for (const auto& [party, factor] : doubted_) {
    second = std::max(second, std::min(most, factor));
    most = std::max(most, factor);
  }
  return second;
}

std::string ResultAudit::fault_of(RunContext& context, const Member& member,
                                  const Result& result,
                                  std::span<const float> delta) {
  const RunState& state = context.state;
  if (std::exchange(version_, state.version) != state.version) doubted_.clear();
  const double size = norm_of_vector(delta);
  const auto is_sound = [&] {
    usual_ = std::max(kForgetUsual * usual_, size);
    return std::string();
  };
  if (!stands_out(context, size) || context.members.workers().size() < 2)
    return is_sound();
  std::vector<float> replica(state.parameters);
  std::ranges::transform(replica, delta, replica.begin(), std::plus<>());
  const auto come_to = context.loss_of(replica, result.statistics);
  if (!come_to) return is_sound();
  const double told = result.loss_sum / static_cast<double>(result.examples);
  const double least = come_to->loss - kSampleErrors * come_to->error;
  if (!is_beyond(least, told, tolerance_ * kTimesTold)) return is_sound();
  const auto before = context.loss_of(state.parameters, state.statistics);
  if (!before || !std::isfinite(before->loss) ||
      !is_beyond(come_to->loss, before->loss, tolerance_ * kTimesBefore))
    return is_sound();
  double& factor = doubted_[member.party()];
  factor = std::max(factor, factor_of(come_to->loss, before->loss));
  tolerance_ = std::max(tolerance_, agreed_factor());
  if (!is_beyond(come_to->loss, before->loss, tolerance_ * kTimesBefore))
    return is_sound();
  return "what it came to has a loss of " + format("%.3g", come_to->loss) +
         " on a sample of the data, it tells of " + format("%.3g", told) +
         ", and before the round it was " + format("%.3g", before->loss);
}

}  // namespace dl::cluster
