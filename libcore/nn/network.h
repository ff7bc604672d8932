// A network, compiled: layers over preallocated memory.
//
// One flat vector each for parameters, running statistics, gradients and
// updater state; layers hold views of them, named as in "conv1/weight".  The
// mini-batch is divided over lanes, each a Device driven by a thread of its
// own with its own activations and gradients; gradients are then summed in the
// order of the lanes, so the result depends on their number but never on
// timing.  Batch normalization sums its statistics over all lanes, and large
// dense layers are divided by units instead (plan_joint.h).
//
// Lanes whose devices have memories of their own get the parameters from the
// first one in each step, and hand it the sum of their gradients; all flat
// vectors are the first one's.
//
// A step allocates nothing and takes no lock but the lanes' barriers.
// A Network is used by one thread at a time.

#ifndef DL_LIBCORE_NN_NETWORK_H_
#define DL_LIBCORE_NN_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/device/api/device.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"
#include "libcore/nn/watch.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// How the parameters of a network for training start.
enum class Start { kDrawn, kLater };

class Network {
 public:
  // Compiles for mini-batches of 1..max_batch examples.  lanes: at least one.
  // training == false: no gradients and no updater state, and parameters are
  // zero until initialise() or put_into() (model.h); else they are drawn,
  // unless `start` leaves that to the caller as well. `parameters`, without
  // training: used where they lie, by devices that can, and must then outlive
  // the network; parameters() is not to be written to. normalizers: features
  // and targets are learnt as these make them; outputs of predict() are in the
  // units of the labels again. Throws Error: kConfig, "layers[3] ('conv2d2'):
  // kernel 5x5 is larger than its input 4x4x50".
  Network(NetworkConfig config, const data::Normalizers& normalizers,
          std::int64_t max_batch,
          std::vector<std::unique_ptr<device::Device>> lanes, bool training,
          std::span<const float> parameters = {}, Start start = Start::kDrawn);
  ~Network();

  const NetworkConfig& config() const;
  std::vector<LayerSummary> summary() const;
  // The shape of an output of one example: [units] or [steps, units].
  tensor::Shape output(std::size_t i = 0) const;
  // Device memory held, of all lanes, without what the device's libraries take
  // for themselves.
  std::size_t memory_bytes() const;

  // The first lane's device: up- and downloads the flat vectors.
  device::Device& device();

  // Checks that data of this kind fits: features of the input's shape (a flat
  // row of as many elements fits as well), labels of the loss's kind (a
  // training network wants some, others check them where there are any).
  // Throws Error: kData, "examples are [28, 28, 1], the network wants [32, 32,
  // 3]".
  void check_data(const data::Metadata& metadata) const;

  // The flat vectors on the first lane's device, and what lies where.  A vector
  // that the network does not have is of no elements.
  tensor::View parameters();
  tensor::View statistics();  // running means and variances
  tensor::View update();      // the gradient, after compute_update() the update
  tensor::View updater_state();
  const std::vector<Segment>& parameter_segments() const;
  const std::vector<Segment>& statistics_segments() const;
  const std::vector<StateRange>& state_ranges() const;

  // Draws new parameters from config().seed and resets statistics and state.
  void initialise();
  void reset_updater_state();

  // Forward and backward over one mini-batch: update() holds the gradient of
  // the loss, which is returned: 1/n sum of mask[i] * loss of example i, n the
  // examples (so a mask of zeros and ones does not change the others' weight);
  // that of a sequence is the sum over its steps, each times its own mask;
  // without regularization.  Statistics move by one step of decay.
  // A loss that is not finite comes back as it is.
  // Throws Error: kData, a label outside 0..units-1 (with its example), or
  // features or labels of the wrong shape.
  double compute_gradient(const Batch& batch, const Position& at,
                          std::int64_t segment = 0,
                          const GradientSink& sink = {});
  // The number of segments of steps into which a network with "tbptt_update"
  // cuts a mini-batch, compute_gradient() being called for each in turn, with
  // an update after it; 1 otherwise.
  std::int64_t segments() const;
  // Whether what the last compute_gradient() left is, so that it may go into an
  // update.
  bool gradient_is_finite() const;
  // compute_gradient() and then compute_update() or apply_update(), without a
  // wait between them: nothing is written where the loss is above that, or it
  // or the gradient is not finite.
  struct StepResult {
    double loss;
    bool gradient_finite;  // and the loss at most that
    bool update_finite;    // of what was written; false if nothing was
  };
  StepResult step(const Batch& batch, const Position& at, std::int64_t segment,
                  device::UpdateTo to, const UpdateSink& sink,
                  double most_loss);
  // Per layer: gradient normalization, l1 and l2 (not for batch_norm), then
  // its updater: update() holds what is to be subtracted from the parameters.
  // Once after each compute_gradient().
  // Returns whether update() and the updater's state are finite, which from a
  // finite gradient they are unless something overflowed.  If not, neither is
  // of use.
  bool compute_update(const Position& at, const UpdateSink& sink = {});
  // The same, subtracted from the parameters in the same pass instead, which
  // are then held to their constraints (constraints.h).
  // Returns whether the parameters and the updater's state are finite; if not,
  // neither is of use.
  bool apply_update(const Position& at);
  // Shows the steps of training from now on; null: no more.  What is watched
  // outlives them.
  void watch(const Watch* watch);

  // l1 |w| + l2/2 w^2 over all parameters: made small beside the loss, and no
  // part of any loss that is reported.
  double regularization_score();

  // Without training: prepares the layers for these parameters and statistics;
  // to be called again after they have changed.  put_into() does it, and so
  // does the first predict().  A training network has nothing to prepare.
  void freeze();

  // The mini-batch that a data set is, until the next call or the set ends.
  const Batch& batch_of(const data::DataSet& set, std::uint64_t serial = 0);
  // Announces the mini-batch of the step after the next one: the device may
  // bring it on its way while that one computes.  It stays as it is until then,
  // or until a mini-batch of another serial is given; of serial 0 it is not
  // looked at.
  void expect(const Batch& batch);
  // The wanted values of output i of a mini-batch: its labels, or the input
  // that is its target, in the shape of `outputs`; then it may go to `room`.
  // Throws Error: kConfig, the target is no input.
  const tensor::Tensor& labels(const Batch& batch, std::size_t i,
                               const tensor::Tensor& outputs,
                               tensor::Tensor& room) const;

  // The outputs, after their activations, in the units of the labels.
  // Dropout is off; batch normalization uses its running statistics.
  // n may exceed max_batch.  On the cpu, without training, an example's output
  // follows from it alone, to the bit: neither the other examples nor the
  // number of lanes change it.
  // state: where sequences go on from and how far they have come, by layer as
  // carried_by() lists it (carried.h), each [n, ...] in kF32; none: they start
  // here.
  void predict(std::span<const Part> inputs, std::vector<Prediction>& outputs,
               std::span<tensor::Tensor> state = {});
  // The values alone, for one input and one output.
  void predict(const tensor::Tensor& features, tensor::Tensor& outputs,
               const tensor::Tensor* features_mask = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_NETWORK_H_
