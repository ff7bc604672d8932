// From updates to messages: what a worker of sharing has of its own between
// two mini-batches.  Thresholds, residual and its clipping, momentum where
// gradients are shared.
//
// The residual lies where the updates do: in memory of the host, or in that of
// a device, which keeps it, so that only coded updates cross to the host.  Then
// there is no momentum, and no coding by pieces.

#ifndef DL_LIBCORE_CLUSTER_WORKER_UPDATE_CODER_H_
#define DL_LIBCORE_CLUSTER_WORKER_UPDATE_CODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/mass_ledger.h"
#include "libcore/cluster/settings/sharing_settings.h"
#include "libcore/device/api/device.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/exchange/residual/device_residual.h"
#include "libcore/exchange/residual/held_back.h"
#include "libcore/exchange/residual/momentum_correction.h"
#include "libcore/exchange/rules/threshold_control.h"

namespace dl::cluster {

// Used by one thread at a time.
class UpdateCoder {
 public:
  // tensors: their elements, in the order of the parameters.  momentum: of the
  // gradients that are shared, 0 for none.
  UpdateCoder(const SharingSettings& settings,
              std::span<const std::size_t> tensors, double momentum);
  // Coder for updates in the device's memory; it outlives the coder, and its
  // reals are of float. At most exchange::kMostOnDevice elements (kBug).
  UpdateCoder(const SharingSettings& settings,
              std::span<const std::size_t> tensors, device::Device& device);

  // Call before an update with the learning rates of each tensor for it.
  // The residual and the thresholds shrink as the rate falls; otherwise rests
  // of earlier updates would come when steps are meant to be small, and be
  // large compared with them.  Thresholds rise again with the rate, up to its
  // former height; they find higher ones by themselves, and a rate that is far
  // too high stays bounded.
  void follow(std::span<const double> rates);
  // Prepares one mini-batch: returns the update, or with momentum the velocity.
  // Valid until the next call.
  std::span<const float> prepare(std::span<const float> update);
  // Keeps a prepared update for the next message.
  void keep(std::span<const float> prepared);
  // Appends the message of all kept updates, of `prepared` (may be empty) and
  // of the residual to `out`; it covers so many mini-batches.  Returns its
  // quanta.
  std::int64_t encode(std::span<const float> prepared, std::int64_t batches,
                      std::vector<std::byte>& out);

  // encode() of updates on the device, which are not prepared.
  void keep(tensor::View update);
  std::int64_t encode(tensor::View update, std::int64_t batches,
                      std::vector<std::byte>& out);

  // encode() while the update is being written, by pieces and from any
  // threads: begin(), take() until all of it was, finish(); or undo() if it is
  // not to be sent.  Only where by_pieces(): the thresholds follow from
  // earlier messages, and there is no momentum.
  bool by_pieces() const {
    return here_ != nullptr && !momentum_ && !control_.samples();
  }
  void begin();
  void take(std::size_t at, std::span<const float> piece) {
    here_->take(at, piece);
  }
  std::int64_t finish(std::int64_t batches, std::vector<std::byte>& out);
  void undo(std::span<const float> update) { here_->undo(update); }

  // Notes a message of another worker, of so many workers.
  void hear(std::span<const std::byte> message, std::int64_t workers) {
    if (held_back_.listens(workers))
      held_back_.hear(residual_.overlap(message));
  }
  // Into `to`: the parameters as they are once so many workers have sent what
  // they hold back, as far as this one can tell.  What they are multiplied with
  // when they are applied: `own` what this one holds back, `others` the rest.
  void step_ahead(std::span<const float> parameters, double own, double others,
                  std::int64_t workers, std::span<float> to);
  // step_ahead() on the device, except for rounding.
  void step_ahead(tensor::View parameters, double own, double others,
                  std::int64_t workers, tensor::View to);

  // Returns the quanta of a message that was not applied to the residual.
  void give_back(std::span<const std::byte> message);
  // Forgets everything so far: residual, thresholds and momentum begin as they
  // did.
  void forget();
  // Notes that it will never be known whether the message was applied.
  void drop(std::span<const std::byte> message);

  std::size_t elements() const { return residual_.elements(); }
  // Threshold of the last message.
  double threshold() const { return sent_threshold_; }
  // Begins with the threshold of others; only before the first message.
  void start_from(double threshold);
  MassLedger ledger();  // one pass over the residual
  double residual_norm() { return residual_.norm(); }
  // Quantiles of a sample of |residual|, at ExchangeStats::kQuantiles.
  std::array<double, 4> residual_quantiles();

 private:
  UpdateCoder(const SharingSettings& settings,
              std::span<const std::size_t> tensors,
              std::unique_ptr<exchange::ThresholdEncoder> here,
              std::unique_ptr<exchange::DeviceResidual> there);
  exchange::ThresholdEncoder& on_host();
  exchange::DeviceResidual& on_device();
  void sent(std::int64_t batches, std::span<const std::byte> message,
            std::span<const float> thresholds);

  const std::vector<std::size_t> tensors_;
  const double clip_multiple_;
  const std::int64_t clip_every_;
  // Exactly one of the two is set.
  const std::unique_ptr<exchange::ThresholdEncoder> here_;
  const std::unique_ptr<exchange::DeviceResidual> there_;
  exchange::Residual& residual_;
  const exchange::ThresholdControl first_control_;
  exchange::ThresholdControl control_ = first_control_;
  // Learning rates of each tensor: that residual and thresholds are for, and
  // the highest so far; 0: not known.
  std::vector<double> rates_, highest_rates_;
  exchange::HeldBack held_back_;
  std::optional<exchange::MomentumCorrection> momentum_;
  std::span<const float> thresholds_;  // in use from begin() to finish()
  double sent_threshold_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t unclipped_ = 0;  // mini-batches since the last clipping
  MassLedger ledger_;           // without parts that encoder and residual have
  std::vector<float> sample_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_UPDATE_CODER_H_
