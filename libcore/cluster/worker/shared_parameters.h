// The parameters that all workers of sharing have alike, to the bit, whenever
// they have applied as many updates: the network's own or, where it trains on
// others in between (step_ahead(), step_alone()) or has its own on a device,
// apart from them.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SHARED_PARAMETERS_H_
#define DL_LIBCORE_CLUSTER_WORKER_SHARED_PARAMETERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/settings/sharing_settings.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/exchange/codec/device_quanta.h"
#include "libcore/exchange/rules/fasgd.h"
#include "libcore/nn/update/constrainer.h"

namespace dl::cluster {

class ParameterHistory;

// The device that keeps parameters and residual in its memory, so that only
// coded updates cross its bus; null: they are the host's.  Momentum of what is
// sent, fasgd, constraints and parameters of a worker's own between two fetches
// are the host's arithmetic, which is the master's too.
device::Device* keeper_of(Replica& replica, const SharingSettings& settings,
                          double momentum);

// Used by one thread at a time.
class SharedParameters {
 public:
  virtual ~SharedParameters() = default;

  // Takes the parameters of the state, which are as many.
  virtual void take(const State& state) = 0;
  // Throws Error: kProtocol, as exchange::decode_threshold().
  virtual void apply(const Apply& apply) = 0;
  // The parameters in host memory, valid until the next call of a function
  // here.
  virtual std::span<const float> values() = 0;
  // Sets the network's parameters to these.
  virtual void settle() = 0;
  // Sets the network's parameters to UpdateCoder::step_ahead() of these.
  virtual void step_ahead(UpdateCoder& coder, double own, double others,
                          std::int64_t workers) = 0;
};

// Parameters in host memory: each step takes the update there, and copies the
// network's parameters to its device.
class HostParameters final : public SharedParameters {
 public:
  // The replica outlives this object.  history: the parameters after each
  // update; null: it applies updates itself.
  HostParameters(Replica& replica, const SharingSettings& settings,
                 ParameterHistory* history);

  void take(const State& state) override;
  void apply(const Apply& apply) override;
  std::span<const float> values() override;
  void settle() override;
  void step_ahead(UpdateCoder& coder, double own, double others,
                  std::int64_t workers) override;

  // The network continues from these with its own updates.
  void begin_alone() { working_ = apart_; }
  void step_alone(float rate, std::span<const float> update);

 private:
  void keep_apart();
  void look_up();

  Replica& replica_;
  const nn::Constrainer constrain_;
  ParameterHistory* const history_;
  std::span<float> parameters_;  // parameters of the network, or apart_
  std::vector<float> apart_;
  std::vector<float> working_;  // parameters that the network trains on instead
  std::optional<exchange::Fasgd> fasgd_;  // set if that is the staleness rule
  // State of parameters apart: the network's follow in settle(), and are others
  // in between.
  bool changed_ = true;
  bool behind_ = false;  // with a history: parameters are of an earlier one
  std::uint64_t sequence_ = 0;
};

// Parameters in the memory of a device, to which only coded updates go.
class DeviceParameters final : public SharedParameters {
 public:
  // The replica outlives this object.  device: keeper_of() the replica.
  DeviceParameters(Replica& replica, device::Device& device);

  void take(const State& state) override;
  void apply(const Apply& apply) override;
  std::span<const float> values() override;
  void settle() override;
  void step_ahead(UpdateCoder& coder, double own, double others,
                  std::int64_t workers) override;

 private:
  tensor::View network() { return replica_.network().parameters(); }
  tensor::View view() { return apart_ ? apart_->view() : network(); }

  Replica& replica_;
  device::Device& device_;
  exchange::DeviceQuanta quanta_;
  std::unique_ptr<tensor::Buffer> apart_;  // set once there are other workers
  bool changed_ = true;                    // as in HostParameters
  tensor::Tensor fetched_{tensor::DType::kF32, {0}};
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SHARED_PARAMETERS_H_
