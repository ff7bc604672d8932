// What a worker measures of itself when the master asks what more hosts would
// bring.

#include <algorithm>
#include <memory>
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

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
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
  for (std::int64_t i = 0; i < kWarmUp + probe.batches; ++i) {
    loader_->add({false, 0, i % batches, 1});
    const LoadedBatch& batch = loader_->next();
    const double begin = monotonic_seconds();
    replica.compute(replica.network().batch_of(batch.set),
                    {i, 0, static_cast<std::uint64_t>(i)});
    std::span<const float> update;
    if (!codec.on_device()) update = replica.update();
    if (i >= kWarmUp) compute.push_back(monotonic_seconds() - begin);
    codec.run(update);
    if (codec.on_device()) update = replica.update();
    // Trained on, as updates of parameters that stand still are all alike.
    for (std::size_t k = 0; k < update.size(); ++k) parameters[k] -= update[k];
    ++mail_.progress;
    if (i + 1 == kWarmUp + probe.batches)
      answer.delta_bytes = static_cast<std::int64_t>(
          delta_bytes(update, settings_.averaging.delta));
    replica.set_parameters(parameters);
  }
  codec.encode.erase(codec.encode.begin(), codec.encode.begin() + kWarmUp);
  codec.decode.erase(codec.decode.begin(), codec.decode.begin() + kWarmUp);
  answer.compute = median(std::move(compute));
  answer.encode = median(codec.encode);
  answer.decode = median(codec.decode);
  answer.update_bytes = static_cast<std::int64_t>(codec.bytes());
  mail_.outbox.push(answer.to_message());
}

}  // namespace dl::cluster
