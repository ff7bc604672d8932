#include "libcore/cluster/worker/update_coder.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
                         std::span<const std::size_t> tensors,
                         std::unique_ptr<exchange::ThresholdEncoder> here,
                         std::unique_ptr<exchange::DeviceResidual> there)
    : tensors_(tensors.begin(), tensors.end()),
      clip_multiple_(settings.clip_multiple),
      clip_every_(settings.clip_every),
      here_(std::move(here)),
      there_(std::move(there)),
      residual_(here_ ? static_cast<exchange::Residual&>(*here_) : *there_),
      first_control_(settings.threshold, residual_.parts(), settings.warmup),
      rates_(tensors.size()),
      highest_rates_(tensors.size()) {
  sample_.reserve(2 * kSample);
}

UpdateCoder::UpdateCoder(const SharingSettings& settings,
                         std::span<const std::size_t> tensors, double momentum)
    : UpdateCoder(settings, tensors,
                  std::make_unique<exchange::ThresholdEncoder>(
                      exchange::parts_of(tensors, settings.per_tensor)),
                  nullptr) {
  if (momentum > 0) momentum_.emplace(elements(), momentum, settings.masking);
}

UpdateCoder::UpdateCoder(const SharingSettings& settings,
                         std::span<const std::size_t> tensors,
                         device::Device& device)
    : UpdateCoder(
          settings, tensors, nullptr,
          std::make_unique<exchange::DeviceResidual>(
              exchange::parts_of(tensors, settings.per_tensor), device)) {}

exchange::ThresholdEncoder& UpdateCoder::on_host() {
  require(here_ != nullptr, "an update of the host's for a device's residual");
  return *here_;
}

exchange::DeviceResidual& UpdateCoder::on_device() {
  require(there_ != nullptr, "an update of a device's for the host's residual");
  return *there_;
}

void UpdateCoder::follow(std::span<const double> rates) {
  const auto parts = residual_.parts();
  std::size_t begin = 0, part = 0, part_end = parts.empty() ? 0 : parts[0];
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const std::size_t elements = tensors_[t];
    const std::size_t at = begin;
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
    if (change < 1) residual_.shrink(at, elements, static_cast<float>(change));
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
  ledger_.given += exchange::accumulate(on_host().residual(), prepared);
}

void UpdateCoder::keep(tensor::View update) { on_device().add(update); }

std::int64_t UpdateCoder::encode(std::span<const float> prepared,
                                 std::int64_t batches,
                                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  const auto thresholds = control_.next(on_host().residual(), prepared);
  const std::int64_t quanta = here_->encode(prepared, thresholds, out);
  sent(batches, std::span(out).subspan(begin), thresholds);
  return quanta;
}

std::int64_t UpdateCoder::encode(tensor::View update, std::int64_t batches,
                                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  exchange::DeviceResidual& residual = on_device();
  if (!update.empty()) residual.add(update);
  const auto thresholds = control_.next(
      [&residual](std::size_t at, std::size_t elements, std::size_t size,
                  float floor, Philox& random, std::vector<float>& magnitudes) {
        return residual.look(at, elements, size, floor, random, magnitudes);
      });
  const std::int64_t quanta = residual.encode(thresholds, out);
  sent(batches, std::span(out).subspan(begin), thresholds);
  return quanta;
}

void UpdateCoder::begin() {
  thresholds_ = control_.next(on_host().residual(), {});
  here_->begin(thresholds_);
}

std::int64_t UpdateCoder::finish(std::int64_t batches,
                                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  const std::int64_t quanta = on_host().finish(out);
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
  if (clip_every_ > 0 && unclipped_ >= clip_every_) {
    unclipped_ = 0;
    residual_.clip(clip_multiple_, thresholds);
  }
  control_.sent(residual_.quanta());
}

void UpdateCoder::step_ahead(std::span<const float> parameters, double own,
                             double others, std::int64_t workers,
                             std::span<float> to) {
  const auto times =
      static_cast<float>(own + others * held_back_.times(workers));
  const std::span<const float> residual = on_host().residual();
  require(parameters.size() == residual.size() && to.size() == residual.size(),
          "vectors of one size");
  const float* from = parameters.data();
  const float* rest = residual.data();
  float* out = to.data();
  for (std::size_t i = 0; i < to.size(); ++i)
    out[i] = from[i] - times * rest[i];
}

void UpdateCoder::step_ahead(tensor::View parameters, double own, double others,
                             std::int64_t workers, tensor::View to) {
  const double times = own + others * held_back_.times(workers);
  on_device().step_ahead(parameters, static_cast<float>(times), to);
}

void UpdateCoder::give_back(std::span<const std::byte> message) {
  residual_.give_back(message);
  ledger_.returned.add(exchange::inspect_threshold(message).mass);
}

void UpdateCoder::forget() {
  residual_.clear();
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
  ledger.given += residual_.given();
  ledger.clipped = residual_.cut();
  ledger.residual = residual_.mass();
  return ledger;
}

void UpdateCoder::start_from(double threshold) {
  if (messages_ == 0) control_.start_from(threshold);
}

std::array<double, 4> UpdateCoder::residual_quantiles() {
  residual_.magnitudes(std::max<std::size_t>(1, elements() / kSample), sample_);
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
