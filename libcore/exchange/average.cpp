#include "libcore/exchange/average.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "libcore/base/error.h"

namespace dl::exchange {

Average::Average(std::size_t slots, std::size_t elements)
    : elements_(elements), parts_(slots) {}

void Average::put(std::size_t slot, std::vector<float> values, double weight) {
  require(slot < parts_.size() && !parts_[slot], "a slot is averaged once");
  if (!(weight >= 0 && std::isfinite(weight)))
    throw Error{Code::kProtocol, "a weight that is no number >= 0"};
  if (weight == 0) values.clear();
  if (weight > 0 && values.size() != elements_)
    throw Error{Code::kProtocol,
                "a replica of " + std::to_string(values.size()) +
                    " values, want " + std::to_string(elements_)};
  auto bad = std::count_if(values.begin(), values.end(),
                           [](float v) { return !std::isfinite(v); });
  if (bad > 0)
    throw Error{Code::kProtocol,
                "a replica has " + std::to_string(bad) + " non-finite values"};
  parts_[slot] = Part{std::move(values), weight};
}

bool Average::complete() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part.has_value(); });
}

std::vector<float> Average::result() const {
  require(complete(), "an average of all slots");
  double weights = 0;
  for (const auto& part : parts_) weights += part->weight;
  require(weights > 0, "an average has weight");
  std::vector<float> result(elements_);
  // In blocks, so that the sums stay in the first cache.
  constexpr std::size_t kBlock = 1024;
  std::vector<double> sums(kBlock);
  for (std::size_t at = 0; at < elements_; at += kBlock) {
    const std::size_t n = std::min(kBlock, elements_ - at);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const auto& part : parts_) {
      if (part->weight == 0) continue;
      for (std::size_t i = 0; i < n; ++i)
        sums[i] += part->weight * static_cast<double>(part->values[at + i]);
    }
    for (std::size_t i = 0; i < n; ++i)
      result[at + i] = static_cast<float>(sums[i] / weights);
  }
  return result;
}

}  // namespace dl::exchange
