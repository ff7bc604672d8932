// The residual: adding, clipping, scaling.

#include "libcore/exchange/residual/residual.h"

#include <cmath>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold_reader.h"

namespace dl::exchange {

Residual::Residual(std::vector<std::size_t> parts)
    : parts_(std::move(parts)), quanta_(parts_.size()) {
  require(parts_.size() <= kMaxParts, "parts of an update");
  for (const std::size_t elements : parts_) {
    require(elements > 0, "empty part");
    starts_.push_back(elements_);
    elements_ += elements;
  }
}

void Residual::require_thresholds(std::span<const float> thresholds) const {
  require(thresholds.size() == parts_.size(), "a threshold for each part");
  for (const float threshold : thresholds)
    require(threshold > 0 && std::isfinite(threshold), "threshold");
}

}  // namespace dl::exchange
