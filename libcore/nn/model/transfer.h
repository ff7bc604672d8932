// The transfer of layers from a model to another network.

#ifndef DL_LIBCORE_NN_MODEL_TRANSFER_H_
#define DL_LIBCORE_NN_MODEL_TRANSFER_H_

#include <span>
#include <string>
#include <vector>

#include "libcore/nn/model/model.h"

namespace dl::nn {

// Names of layers that have parameters or statistics.
struct Transfer {
  std::vector<std::string> taken;  // from the model
  std::vector<std::string> drawn;  // anew, as the network says
  std::vector<std::string> left;   // of the model alone, or unlike
  // "dense1 taken over; output1 drawn anew; head of the model left out"
  std::string to_text() const;
  Json to_json() const;
};

// A model of `config` that starts from `from`: a layer is taken over if there
// is one of its name whose tensors have the same names and shapes, and is not
// named in `reset`.
// Inputs that are the same keep their normalizers, and what is known of their
// columns; so do outputs whose layers are taken over with theirs, and classes
// and targets.  Where they are not, normalizers are left empty.
// Throws Error: kUsage, "--reset: no layer of the network is called 'x'";
// kConfig, nothing fits.
struct Started {
  Model model;
  Transfer transfer;
  bool same_inputs = false, same_outputs = false;
};
Started start_from(const Model& from, const NetworkConfig& config,
                   std::span<const std::string> reset);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MODEL_TRANSFER_H_
