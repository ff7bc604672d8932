#include "libcore/nn/layers/step_index.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::nn::layers {

using tensor::DType;
using tensor::View;

StepIndex::StepIndex(const LayerSite& site, std::int64_t each, Memory& memory)
    : device_(site.device),
      steps_(site.input()[0]),
      each_(each),
      index_(memory.allocate({site.max_batch * each}, DType::kI32)) {
  if (site.max_batch * steps_ > 0x7fffffff)
    throw Error{Code::kConfig, "a mini-batch has more than 2^31 - 1 steps"};
  host_.resize(DType::kI32, index_.shape);
  mask_.resize(DType::kF64, {site.max_batch, steps_});
}

View StepIndex::choose(Choose rows_of, View mask, std::int64_t n) {
  mask_.resize(DType::kF64, {n, steps_});
  if (mask.empty())
    std::ranges::fill(mask_.as<double>(), 1.0);
  else
    device_->download(mask_, mask);
  host_.resize(DType::kI32, {n * each_});
  const auto all = host_.as<std::int32_t>();
  const auto real = std::as_const(mask_).as<double>();
  const auto each = static_cast<std::size_t>(each_),
             steps = static_cast<std::size_t>(steps_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const auto rows = all.subspan(i * each, each);
    rows_of(rows, real.subspan(i * steps, steps));
    for (std::int32_t& row : rows) row += static_cast<std::int32_t>(i * steps);
  }
  const View index = index_.at(0, host_.shape());
  device_->upload(index, host_);
  return index;
}

}  // namespace dl::nn::layers
