#include "libcore/cluster/worker/update_coder.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/cluster/protocol/exchange_stats.h"

namespace dl::cluster {

namespace {

constexpr std::size_t kSample = 4096;  // elements looked at for quantiles
constexpr double kFollow = 0.03;       // change of a rate that is worth a pass
// ... and the most that is followed at a time: UpdateCheck takes what rises
// faster for damaged.
constexpr double kMostRise = 10;

}  // namespace

UpdateCoder::UpdateCoder(const SharingSettings& settings,
                         std::span<const std::size_t> tensors, double momentum)
    : tensors_(tensors.begin(), tensors.end()),
      clip_multiple_(settings.clip_multiple),
      clip_every_(settings.clip_every),
      encoder_(exchange::parts_of(tensors, settings.per_tensor)),
      first_control_(settings.threshold,
                     exchange::parts_of(tensors, settings.per_tensor),
                     settings.warmup),
      rates_(tensors.size()),
      highest_rates_(tensors.size()) {
  if (momentum > 0)
    momentum_.emplace(encoder_.residual().size(), momentum, settings.masking);
  sample_.reserve(2 * kSample);
}

void UpdateCoder::follow(std::span<const double> rates) {
  const auto parts = encoder_.parts();
  std::size_t begin = 0, part = 0, part_end = parts.empty() ? 0 : parts[0];
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const std::size_t elements = tensors_[t];
    const auto residual = encoder_.residual().subspan(begin, elements);
    if (elements > 0 && begin >= part_end) part_end += parts[++part];
    begin += elements;
    double &rate = rates_[t], &highest = highest_rates_[t];
    if (elements == 0 || rates[t] == rate) continue;
    if (rate == 0) {
      rate = highest = rates[t];
      continue;
    }
    const double change =
        std::min(std::min(rates[t], highest) / rate, kMostRise);
    if (std::fabs(change - 1) < kFollow) {
      if (rates[t] > highest) rate = highest = rates[t];
      continue;
    }
    if (change < 1)
      ledger_.clipped.add(
          exchange::shrink_residual(residual, static_cast<float>(change)));
    if (change == 0) continue;
    rate *= change;
    const auto share =
        static_cast<double>(elements) / static_cast<double>(parts[part]);
    control_.scale(part, 1 + share * (change - 1));
  }
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

void UpdateCoder::step_ahead(std::span<const float> parameters, double own,
                             double others, std::int64_t workers,
                             std::span<float> to) {
  const auto times =
      static_cast<float>(own + others * held_back_.times(workers));
  const std::span<const float> residual = encoder_.residual();
  require(parameters.size() == residual.size() && to.size() == residual.size(),
          "vectors of one size");
  const float* from = parameters.data();
  const float* rest = residual.data();
  float* out = to.data();
  for (std::size_t i = 0; i < to.size(); ++i)
    out[i] = from[i] - times * rest[i];
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
  rates_.assign(rates_.size(), 0);
  highest_rates_ = rates_;
  held_back_.forget();
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
