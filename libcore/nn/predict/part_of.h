// A part of a network, for prediction: from some of its values to others.
//
// An encoder is the part of an autoencoder from its input to its code, a
// decoder that from the code to the output; features are the values of any
// node.

#ifndef DL_LIBCORE_NN_PREDICT_PART_OF_H_
#define DL_LIBCORE_NN_PREDICT_PART_OF_H_

#include <span>
#include <string>

#include "libcore/nn/model/model.h"

namespace dl::nn {

// inputs: names of inputs or nodes, whose values are given; none: the network's
// own inputs, as far as they are needed, which data then call what they did.
// outputs: one or more nodes, of any type, whose values are wanted; in this
// order. The part has the parameters, statistics and normalizers that it has in
// the whole; of the data it knows what the whole does, of nodes that are inputs
// now nothing. Its values are those of the whole network at the same place, on
// the cpu and reference to the bit, unless a fusion spans the cut.  The part is
// not written as a document, nor trained. Throws Error: kUsage, "no node is
// called 'cod'; did you mean 'code'? The nodes are ..."; an output does not
// depend on an input, or on more than these.
Model part_of(const Model& model, std::span<const std::string> inputs,
              std::span<const std::string> outputs);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_PART_OF_H_
