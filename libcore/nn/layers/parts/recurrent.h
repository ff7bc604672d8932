// The common part of recurrent layers: their keys, and how they run a cell of
// the device in one direction or in both.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_RECURRENT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_RECURRENT_H_

#include <memory>
#include <vector>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn {

// How a recurrent layer that reads in both directions joins their outputs.
enum class Bidirectional { kNone, kConcat, kAdd, kMultiply, kAverage };
template <>
std::span<const std::string_view> names_of<Bidirectional>();

namespace layers {

// units, bias, activation, gate_activation (where the cell has gates),
// return_sequences and bidirectional.
std::vector<Key> recurrent_keys(device::Cell cell);

// Parameters: weight, recurrent_weight, perhaps bias and, of settings that have
// `peepholes`, peephole; with both directions, the same again as
// backward_weight, ...
// Throws Error: kConfig, the input is no sequence.
LayerShape infer_recurrent(device::Cell cell, const LayerSettings& settings,
                           const ValueSpec& input);

std::unique_ptr<Layer> make_recurrent(device::Cell cell, const LayerSite& site,
                                      Memory& memory);

// The type of layers of such a cell.
template <device::Cell cell>
LayerType recurrent_type(std::string_view name, std::string_view words) {
  return {
      .name = name,
      .words = words,
      .keys = recurrent_keys(cell),
      .trains = Trains::kRecurrentWeights,
      .recurrent = true,
      .infer =
          [](const LayerSettings& settings, std::span<const ValueSpec> inputs) {
            return infer_recurrent(cell, settings, inputs[0]);
          },
      .make =
          [](const LayerSite& site, Memory& memory) {
            return make_recurrent(cell, site, memory);
          }};
}

}  // namespace layers
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_RECURRENT_H_
