// Layer-wise pretraining of stacked autoencoders (Bengio et al. 2007): each of
// the layers that can learn by themselves does so in a network of its own, on
// what the layers before it, which have learnt already, make of the data.

#ifndef DL_LIBCORE_NN_MODEL_PRETRAIN_H_
#define DL_LIBCORE_NN_MODEL_PRETRAIN_H_

#include <span>
#include <string>
#include <vector>

#include "libcore/nn/model/model.h"

namespace dl::nn {

// The layers of a type that can learn by itself, in the order in which they do.
// Throws Error: kConfig, there are none; the network has several inputs.
std::vector<std::string> pretrained_layers(const NetworkConfig& network);

// The network, as its document, in which this layer learns: what is before it
// is frozen and as in predictions, and what it is to give back is what goes
// into it.  Its layers have the names of the whole's; it needs no labels.
// Throws Error: kConfig, the layer takes each step of a sequence by itself;
// what is before it has parameters of a layer that is not.
std::string pretraining_network(const NetworkConfig& network,
                                const std::string& layer);

// The network as it is after some of its layers have learnt, one model of each
// so far; other layers as drawn.  Normalizers are those of the first.
Model pretrained(const NetworkConfig& network, std::span<const Model> stages,
                 std::span<const std::string> layers);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MODEL_PRETRAIN_H_
