// What a worker measures of itself when the master asks what more hosts would
// bring.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "libcore/base/clock.h"
#include "libcore/cluster/worker/shared_parameters.h"
#include "libcore/cluster/worker/trainer.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/exchange/delta.h"
#include "libcore/exchange/device_quanta.h"
#include "libcore/exchange/threshold.h"

namespace dl::cluster {

namespace {

// Mini-batches that do not count, while caches and thresholds settle.
constexpr std::int64_t kWarmUp = 5;

// Seconds: a share of a core is given in turns of up to a tenth of one, between
// which a host is as fast as the whole core.
constexpr double kLongEnough = 1;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// The value below which that part of them is.
double quantile(std::vector<double>& values, double part) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(
                           part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

// Codes updates as sharing does, where it does, and times it.
class CodecTimer {
 public:
  CodecTimer(Replica& replica, const SharingSettings& settings)
      : replica_(replica),
        keeper_(keeper_of(replica, settings, 0)),
        coder_(keeper_ ? UpdateCoder(settings, replica.tensors(), *keeper_)
                       : UpdateCoder(settings, replica.tensors(), 0)) {
    if (!keeper_) {
      target_.resize(coder_.elements());
      return;
    }
    there_ = keeper_->allocate(replica.network().parameters().shape);
    quanta_.emplace(*keeper_);
  }

  // Of the last compute(), whose update on the host the caller has if it must
  // be there to be coded.
  void run(std::span<const float> update) {
    message_.clear();
    const double begin = monotonic_seconds();
    if (keeper_)
      coder_.encode(replica_.network().update(), 1, message_);
    else
      coder_.encode(update, 1, message_);
    const double between = monotonic_seconds();
    if (keeper_) {
      quanta_->decode(message_, -1, there_->view());
      keeper_->finish();
    } else {
      exchange::decode_threshold(message_, -1, target_);
    }
    encode.push_back(between - begin);
    decode.push_back(monotonic_seconds() - between);
  }
  bool on_device() const { return keeper_ != nullptr; }
  std::size_t bytes() const { return message_.size(); }

  std::vector<double> encode, decode;

 private:
  Replica& replica_;
  tensor::Device* const keeper_;
  UpdateCoder coder_;
  std::vector<float> target_;
  std::unique_ptr<tensor::Buffer> there_;
  std::optional<exchange::DeviceQuanta> quanta_;
  std::vector<std::byte> message_;
};

std::size_t delta_bytes(std::span<const float> update,
                        const exchange::DeltaFormat& format) {
  std::vector<float> residual(format.lossy() ? update.size() : 0);
  std::vector<std::byte> message;
  exchange::encode_delta(update, format, residual, message);
  return message.size();
}

}  // namespace

void Trainer::probe(const Probe& probe) {
  Probed answer;
  if (probe.batches == 0) {
    answer.load = probe.load;
    return mail_.outbox.push(answer.to_message());
  }
  Replica& replica = learner_->replica();
  replica.network().initialise();  // the master sends no parameters for this
  const std::int64_t batches = loader_->batches(false, {});
  SharingSettings sharing = settings_.sharing;
  sharing.warmup = 0;  // what an update takes once it is over
  CodecTimer codec(replica, sharing);
  std::vector<double> compute;
  std::vector<float> parameters = replica.parameters();
  std::span<const float> update;
  std::int64_t queued = 0;
  double counted = 0;  // seconds, of mini-batches that count
  for (std::int64_t i = 0; i < kWarmUp + probe.batches || counted < kLongEnough;
       ++i) {
    // The next one is read while one is computed, as in training.
    for (; queued < i + 2; ++queued)
      loader_->add({false, 0, queued % batches, 1});
    const double begin = monotonic_seconds();
    const LoadedBatch& batch = loader_->next();
    replica.compute(replica.network().batch_of(batch.set),
                    {i, 0, static_cast<std::uint64_t>(i)});
    if (!codec.on_device()) update = replica.update();
    const double seconds = monotonic_seconds() - begin;
    codec.run(update);
    if (codec.on_device()) update = replica.update();
    // Trained on, as updates of parameters that stand still are all alike.
    for (std::size_t k = 0; k < update.size(); ++k) parameters[k] -= update[k];
    replica.set_parameters(parameters);
    ++mail_.progress;
    if (i < kWarmUp) continue;
    compute.push_back(seconds);
    counted += seconds;
  }
  loader_->drop();
  codec.encode.erase(codec.encode.begin(), codec.encode.begin() + kWarmUp);
  codec.decode.erase(codec.decode.begin(), codec.decode.begin() + kWarmUp);
  answer.compute = mean(compute);
  answer.compute_from = quantile(compute, 0.1);
  answer.compute_to = quantile(compute, 0.9);
  answer.encode = mean(codec.encode);
  answer.decode = mean(codec.decode);
  answer.update_bytes = static_cast<std::int64_t>(codec.bytes());
  answer.delta_bytes =
      static_cast<std::int64_t>(delta_bytes(update, settings_.averaging.delta));
  mail_.outbox.push(answer.to_message());
}

}  // namespace dl::cluster
