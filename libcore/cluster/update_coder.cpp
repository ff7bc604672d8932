#include "libcore/cluster/update_coder.h"

#include <algorithm>
#include <cmath>

#include "libcore/cluster/exchange_stats.h"

namespace dl::cluster {

namespace {

constexpr std::size_t kSample = 4096;  // elements looked at for quantiles

}  // namespace

UpdateCoder::UpdateCoder(const SharingSettings& settings,
                         std::span<const std::size_t> tensors, double momentum)
    : clip_multiple_(settings.clip_multiple),
      clip_every_(settings.clip_every),
      encoder_(exchange::parts_of(tensors, settings.per_tensor)),
      first_control_(settings.threshold,
                     exchange::parts_of(tensors, settings.per_tensor),
                     settings.warmup) {
  if (momentum > 0)
    momentum_.emplace(encoder_.residual().size(), momentum, settings.masking);
  sample_.reserve(2 * kSample);
}

std::span<const float> UpdateCoder::prepare(std::span<const float> update) {
  return momentum_ ? momentum_->add(update) : update;
}

void UpdateCoder::keep(std::span<const float> prepared) {
  ledger_.given += exchange::accumulate(encoder_.residual(), prepared);
}

std::int64_t UpdateCoder::encode(std::span<const float> prepared,
                                 std::int64_t batches,
                                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  const auto thresholds = control_.next(encoder_.residual(), prepared);
  const std::int64_t quanta = encoder_.encode(prepared, thresholds, out);
  sent(batches, std::span(out).subspan(begin), thresholds);
  return quanta;
}

void UpdateCoder::begin() {
  thresholds_ = control_.next(encoder_.residual(), {});
  encoder_.begin(thresholds_);
}

std::int64_t UpdateCoder::finish(std::int64_t batches,
                                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  const std::int64_t quanta = encoder_.finish(out);
  sent(batches, std::span(out).subspan(begin), thresholds_);
  return quanta;
}

void UpdateCoder::sent(std::int64_t batches, std::span<const std::byte> message,
                       std::span<const float> thresholds) {
  ++messages_;
  sent_threshold_ = control_.mean();
  ledger_.sent.add(exchange::inspect_threshold(message).mass);
  if (momentum_) momentum_->sent(message);
  unclipped_ += batches;
  if (clip_every_ > 0 && unclipped_ >= clip_every_) clip(thresholds);
  control_.sent(encoder_.quanta());
}

void UpdateCoder::clip(std::span<const float> thresholds) {
  unclipped_ = 0;
  std::span<float> rest = encoder_.residual();
  for (std::size_t p = 0; p < encoder_.parts().size(); ++p) {
    const std::size_t elements = encoder_.parts()[p];
    ledger_.clipped.add(exchange::clip_residual(
        rest.first(elements),
        static_cast<float>(clip_multiple_ * thresholds[p])));
    rest = rest.subspan(elements);
  }
}

void UpdateCoder::give_back(std::span<const std::byte> message) {
  exchange::decode_threshold(message, 1.0F, encoder_.residual());
  ledger_.returned.add(exchange::inspect_threshold(message).mass);
}

void UpdateCoder::forget() {
  const std::span<float> residual = encoder_.residual();
  ledger_.clipped.add(exchange::mass_of(residual));
  std::ranges::fill(residual, 0.0F);
  if (momentum_) momentum_->forget();
  control_ = first_control_;
  messages_ = unclipped_ = 0;
}

void UpdateCoder::drop(std::span<const std::byte> message) {
  ledger_.dropped.add(exchange::inspect_threshold(message).mass);
}

MassLedger UpdateCoder::ledger() {
  MassLedger ledger = ledger_;
  ledger.given += encoder_.given();
  ledger.residual = exchange::mass_of(encoder_.residual());
  return ledger;
}

void UpdateCoder::start_from(double threshold) {
  if (messages_ == 0) control_.start_from(threshold);
}

double UpdateCoder::residual_norm() {
  double squares = 0;
  for (const float r : encoder_.residual())
    squares += static_cast<double>(r) * r;
  return std::sqrt(squares);
}

std::array<double, 4> UpdateCoder::residual_quantiles() {
  const std::span<const float> residual = encoder_.residual();
  const std::size_t step = std::max<std::size_t>(1, residual.size() / kSample);
  sample_.clear();
  for (std::size_t i = 0; i < residual.size(); i += step)
    sample_.push_back(std::fabs(residual[i]));
  std::array<double, 4> quantiles{};
  auto from = sample_.begin();
  for (std::size_t q = 0; q < quantiles.size(); ++q) {
    const auto last = static_cast<double>(sample_.size() - 1);
    const auto at = sample_.begin() + static_cast<std::ptrdiff_t>(
                                          ExchangeStats::kQuantiles[q] * last);
    std::nth_element(from, at, sample_.end());
    quantiles[q] = static_cast<double>(*at);
    from = at;
  }
  return quantiles;
}

}  // namespace dl::cluster
