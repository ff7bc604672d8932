// The loss of a layer: what layers with one have in common.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_LOSS_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_LOSS_H_

#include <memory>
#include <vector>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// loss and all that says how it counts.
std::vector<Key> loss_keys();
// How many class_weights an output has: one for each class or unit.
std::int64_t class_weights_wanted(const LayerSettings& settings);

// Loss of the settings, without weights of classes and of the loss.
device::LossSpec loss_of(const LayerSettings& settings);

// Whether the outputs are logits, and the loss has its activation inside; and
// whether that is the mean over the steps, or pixels, of a mini-batch that
// count, not over examples.
bool is_from_logits(const LayerSettings& settings);
bool is_over_steps(const LayerSettings& settings);

// Output of settings with units, activation and loss_keys().
OutputSpec output_spec(const LayerSettings& settings);
// Gives them the activation that follows from the loss, where they have none.
void complete_output(LayerSettings& settings);

// The activation that goes with the loss where none is said.
device::Activation activation_for(device::Loss loss);

// Finds what does not go together; settings has units, activation and
// loss_keys().
void check_loss(const LayerSettings& settings, const Complaint& complain);

class OutputLoss {
 public:
  OutputLoss(const LayerSite& site, Memory& memory);

  // Whether compute() takes what goes into the activation, not what comes out.
  bool takes_logits() const { return takes_logits_; }
  // As OutputLayer::loss(), of outputs or logits y [n, units].
  void compute(tensor::View grad, tensor::View y, tensor::View target,
               tensor::View mask, double scale);

 private:
  device::Device* device_;
  tensor::View sum_;  // of losses
  device::LossSpec spec_;
  double weight_;
  bool takes_logits_;
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_LOSS_H_
