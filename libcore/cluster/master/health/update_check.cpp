#include "libcore/cluster/master/health/update_check.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::cluster {

namespace {

constexpr double kForget = 0.999;     // of usual_, with each update
constexpr double kRounding = 1.0001;  // thresholds travel as binary32

// Throws Error: kProtocol, it does not decode.
exchange::ThresholdInfo inspect(const Update& update, std::size_t elements) {
  if (update.payload.empty()) return {elements};
  return exchange::inspect_threshold(update.payload);
}

}  // namespace

UpdateCheck::UpdateCheck(const exchange::ThresholdRule& rule)
    : usual_(rule.has_target() || rule.finds_first() ? 0 : rule.initial) {}

void UpdateCheck::start_from(double threshold) {
  usual_ = std::max(usual_, threshold);
}

std::string UpdateCheck::fault_of(const Update& update, double times,
                                  std::span<const float> parameters) try {
  const auto number = [](double value) { return format("%.2g", value); };
  const auto info = inspect(update, parameters.size());
  if (info.elements != parameters.size())
    return "it is for " + std::to_string(info.elements) + " elements, not " +
           std::to_string(parameters.size());
  if (!std::cmp_equal(info.quanta, update.quanta))
    return "it has " + std::to_string(info.quanta) + " quanta and says " +
           std::to_string(update.quanta);
  if (!(update.threshold <= exchange::kMaxThreshold) ||
      (usual_ > 0 && update.threshold > kProportion * usual_))
    return "its threshold of " + number(update.threshold) +
           " is out of all proportion: of late there was none above " +
           number(usual_);
  if (info.mean > kRounding * update.threshold)
    return "its quanta are of " + number(info.mean) +
           " on average, and its threshold is " + number(update.threshold);
  mass_ = info.mass;
  step_ = times * static_cast<double>(info.largest);
  return bound_.fault_of(step_, parameters);
} catch (const Error& error) {
  return error.what();
}

void UpdateCheck::accepted(const Update& update) {
  bound_.added(step_);
  usual_ = std::max(kForget * usual_, update.threshold);
}

}  // namespace dl::cluster
