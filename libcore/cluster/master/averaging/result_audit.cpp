#include "libcore/cluster/master/averaging/result_audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/number_format.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

namespace {

constexpr double kTimesUsual = 4;                   // a norm that stands out
constexpr double kForgetUsual = 0.9;                // with each result
constexpr double kTimesTold = 3, kTimesBefore = 2;  // a loss far worse
constexpr double kSampleErrors = 3;
constexpr double kMostTolerance = 1e6;
constexpr double kRest = 50;  // times as long as a look: until the next one
constexpr double kLeastRest = 0.5;

double norm_of_difference(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

// A loss that may be below 0, as densities have.
bool is_beyond(double loss, double of, double times) {
  return !(loss <= of + (times - 1) * std::fabs(of));
}

}  // namespace

// While nothing is known of sizes, each stands out.
bool ResultAudit::is_due(const RunContext& context, const Member& member,
                         double size) {
  const bool stands_out = size > kTimesUsual * usual_;
  return stands_out || member.rejections > 0 || context.now >= next_;
}

std::string ResultAudit::fault_of(RunContext& context, const Member& member,
                                  const Result& result,
                                  std::span<const float> delta) {
  const RunState& state = context.state;
  if (std::exchange(version_, state.version) != state.version) doubted_.clear();
  const double size = norm_of_difference(delta);
  const auto is_sound = [&] {
    usual_ = std::max(kForgetUsual * usual_, size);
    return std::string();
  };
  if (!is_due(context, member, size) || context.members.workers().size() < 2)
    return is_sound();
  std::vector<float> replica(state.parameters);
  std::ranges::transform(replica, delta, replica.begin(), std::plus<>());
  const double began = monotonic_seconds();
  const auto come_to = context.loss_of(replica, result.statistics);
  next_ =
      context.now + std::max(kLeastRest, kRest * (monotonic_seconds() - began));
  if (!come_to) return is_sound();
  const double told = result.loss_sum / static_cast<double>(result.examples);
  const double least = come_to->loss - kSampleErrors * come_to->error;
  if (!is_beyond(least, told, tolerance_ * kTimesTold)) return is_sound();
  const auto before = context.loss_of(state.parameters, state.statistics);
  if (!before || !std::isfinite(before->loss) ||
      !is_beyond(come_to->loss, before->loss, tolerance_ * kTimesBefore))
    return is_sound();
  doubted_.insert(member.party());
  if (doubted_.size() > 1) {
    tolerance_ = std::min(kMostTolerance,
                          std::max(tolerance_, come_to->loss / before->loss));
    return is_sound();
  }
  return "what it came to has a loss of " + format("%.3g", come_to->loss) +
         " on a sample of the data, it tells of " + format("%.3g", told) +
         ", and before the round it was " + format("%.3g", before->loss);
}

}  // namespace dl::cluster
