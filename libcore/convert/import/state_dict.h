// Tensors of a PyTorch state dict, in a safetensors file, put into a network.
//
// The map is a JSON object from each tensor of the network, as dl-model(5)
// calls it, to what it is made of:
//   "conv1.weight"                      a tensor of the file, in the order that
//                                       PyTorch has for the layer
//   ["lstm.bias_ih_l0", "..bias_hh_l0"] the sum of several
//   {"from": the above,
//    "rows": [0, 64],                   of the first axis, these alone
//    "order": [0, 2, 3, 1]}             axis i is axis order[i] of the file's,
//                                       in place of the layer's own order

#ifndef DL_LIBCORE_CONVERT_IMPORT_STATE_DICT_H_
#define DL_LIBCORE_CONVERT_IMPORT_STATE_DICT_H_

#include <map>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

struct StateTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
struct StateDict {
  std::map<std::string, StateTensor> tensors;  // of reals, by name
  std::map<std::string, std::string> others;   // types of those that are none
};

// Reads a source, io/source.h.
// Throws Error: kNoInput; kData, it is no safetensors file.
StateDict read_state_dict(const std::string& spec);

// A map by names that are alike, then by shape and order: for each tensor of
// the network, null where nothing fits.
Json proposed_map(const nn::NetworkConfig& config, const StateDict& state);

// The network with the tensors that the map says.
// Throws Error: kConfig, the map lacks a tensor of the network, or says what is
// not in the file, or of another shape: one sentence.
nn::Model mapped_model(nn::NetworkConfig config, const StateDict& state,
                       const Json& map);

// Tensors of reals that the map does not use, as a note says it; "" if there
// are none.
std::string unused_note(const StateDict& state, const Json& map);

// Order of a tensor in PyTorch, which has `shape` here.
struct StateOrder {
  std::vector<std::int64_t> shape;  // there
  std::vector<int> order;           // axis i here is axis order[i] there
  // Blocks of rows that lie otherwise: block i here is blocks[i] there.
  std::vector<int> blocks = {};
  // A matrix whose columns are those of an image [.., channels], which has its
  // channels first there; or none.
  tensor::Shape image = {};
};
StateOrder state_order(const nn::NetworkConfig& config,
                       const nn::Layout& layout, const nn::Segment& segment);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_STATE_DICT_H_
