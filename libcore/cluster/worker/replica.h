// A worker's network: its vectors to and from the host, and one guarded step.

#ifndef DL_LIBCORE_CLUSTER_WORKER_REPLICA_H_
#define DL_LIBCORE_CLUSTER_WORKER_REPLICA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/device/api/precision.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/network.h"

namespace dl::cluster {

// nn::UpdateSink of what lies in host memory.
using UpdateSink =
    std::function<void(std::size_t at, std::span<const float> piece)>;

// Is shown of a gradient what is found so far, which is from element `from` to
// the end and stays as it is until the step is over; loss: of the mini-batch.
using GradientSink = std::function<void(double loss, std::size_t from,
                                        std::span<const float> found)>;

// Used by one thread at a time.
class Replica {
 public:
  // start: kLater, the parameters are those that the master sends.
  // Throws Error: kConfig, kUnavailable (no such device, or too little
  // memory).
  Replica(const nn::NetworkConfig& config, const data::Normalizers& normalizers,
          std::int64_t batch, const std::string& device, int threads,
          nn::Start start = nn::Start::kDrawn,
          device::Precision precision = device::Precision::kFloat32);

  nn::Network& network() { return *network_; }
  // Number of elements of each tensor of the parameters, in their order.
  std::vector<std::size_t> tensors() const;

  // Learning rate of each tensor in a step.
  std::vector<double> learning_rates(const nn::Position& at) const;

  // Throw Error: kProtocol, the sizes differ from the network's.
  void set_parameters(std::span<const float> values);
  void set_statistics(std::span<const float> values);
  // Sets the updater's state; empty: starts it afresh.
  void set_updater_state(std::span<const float> values);

  std::vector<float> parameters();
  std::vector<float> statistics() { return get(network_->statistics()); }
  std::vector<float> updater_state() { return get(network_->updater_state()); }
  // Change that the last compute() wants subtracted from the parameters, or the
  // last gradient(); there until the next of these.
  std::span<const float> update();
  // The parameters where they lie, to be changed between two steps; empty where
  // the device's memory is not the host's: then set_parameters() it is.
  std::span<float> parameters_in_place();
  // Room for as many values as there are parameters, which a step overwrites;
  // empty: there is none in host memory.
  std::span<float> room();
  // Gives back that memory from an element on, if all is much, until the next
  // step: what the last one found there is lost.
  void release_room(std::size_t from = 0);

  // The device where parameters and updates can stay in its memory from step to
  // step: it is not the host's, and of float.  Else null.
  device::Device* resident_device();

  // Forward, backward and updater for one mini-batch, or for each segment of
  // it (Network::segments()), each from the parameters that the one before
  // left.
  // fault: what is not finite, or a loss above kMostLoss times that of chance,
  // or "".  After a fault the statistics are as
  // before, and so is the updater's state unless the updater itself made the
  // fault, or segments before it have changed it; then it starts afresh.
  // A network does not recover from it.
  static constexpr double kMostLoss = 1e10;
  struct Step {
    double loss = 0;
    std::string fault;
    bool updater_afresh = false;
  };
  // Only the gradient, which the sink is shown from its end on, as it is found,
  // but not all of it after a fault.  statistics() are of this step from the
  // first call on, and move after a fault as well.  Of a network without
  // segments (kBug).
  Step gradient(const nn::Batch& batch, const nn::Position& at,
                const GradientSink& sink);
  // Up to the update, which of segments is the sum of theirs.  The parameters
  // stay as they are.  The sink is shown the update as it is written; only
  // where that is in host memory (kBug).
  Step compute(const nn::Batch& batch, const nn::Position& at,
               const UpdateSink& sink = {});
  // And subtracts the update from the parameters, in the same pass.  They stay
  // as they are after a fault, unless the updater made it, which is found when
  // it has written, or segments before have changed them.  Then they are lost,
  // and nothing can be done with the replica (Error{kBug}) until
  // set_parameters().
  Step train(const nn::Batch& batch, const nn::Position& at);

 private:
  Step step(const nn::Batch& batch, const nn::Position& at, device::UpdateTo to,
            const UpdateSink& sink);
  Step step(const nn::Batch& batch, std::int64_t segment,
            const nn::Position& at, device::UpdateTo to,
            const UpdateSink& sink);
  double most_loss() const;
  std::string fault_of(double loss, bool gradient_finite) const;
  Step each_segment(const nn::Batch& batch, const nn::Position& at);
  Step compute_segments(const nn::Batch& batch, const nn::Position& at,
                        const UpdateSink& sink);
  void show(const UpdateSink& sink);
  // Throws Error: kBug, it is not on the host.
  std::span<const float> update_on_host();
  std::vector<float> get(tensor::View from);
  void set(tensor::View to, std::span<const float> values, const char* what);

  // Device of the first lane, owned by network_.
  device::Device* device_ = nullptr;
  std::unique_ptr<nn::Network> network_;
  std::optional<double> loss_of_chance_;  // nn/data/baseline_loss.h
  tensor::Tensor scratch_;
  tensor::Tensor update_;  // used if update() is not in host memory
  std::unique_ptr<tensor::Buffer> kept_statistics_;
  // Parameters before compute_segments().
  std::unique_ptr<tensor::Buffer> before_;
  bool parameters_lost_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_REPLICA_H_
