// The layout of a network, which follows from its configuration: the shapes
// between its layers, its parameters by name and where they lie in the flat
// vectors.
//
// Network compiles from it, the model file takes names and shapes from it,
// and parse_network() finds layers that do not fit with it.

#ifndef DL_LIBCORE_NN_LAYOUT_H_
#define DL_LIBCORE_NN_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

// A named range of one of the flat vectors; its name has the layer's before it:
// "conv1/weight", "bn1/running_mean".
struct Segment : TensorSpec {
  std::int64_t offset = 0;  // in reals
  std::size_t layer = 0;    // index into NetworkConfig::layers
  std::int64_t elements() const { return shape.elements(); }
};

// [begin, end) of the parameters, which share an updater: neighbors with equal
// configurations are one range.  The state of all ranges lies one after the
// other, that of a range as [per_parameter, end - begin].
struct StateRange {
  std::int64_t begin = 0, end = 0;
  int per_parameter = 0;
  std::int64_t offset = 0;  // in the updater state
  UpdaterConfig updater;
};

// One row of --dry-run.
struct LayerSummary {
  std::string name, type;
  tensor::Shape output;  // of one example
  std::int64_t parameters = 0;
  double flops = 0;  // forward, for one example; a multiply-add is 2
};

struct LayerLayout {
  std::vector<ValueSpec> inputs;  // as its type sees them
  ValueSpec output;               // as others do
  // Number of steps of a layer that takes each step separately; else 0.
  std::int64_t each_of = 0;
  // Whose mask the output has: an input of the network, a layer that makes
  // one or joins those of its inputs, or none.
  std::optional<Value> mask;
  bool joins_masks = false;
  bool step_by_step = false;         // see LayerShape
  std::vector<CarriedSpec> carried;  // see LayerShape
  // Segments [begin, end) of Layout::parameters and ::statistics, in the order
  // of the layer's blueprint; those of the layer that it shares with.
  std::size_t parameters_begin = 0, parameters_end = 0;
  std::size_t statistics_begin = 0, statistics_end = 0;
  // The segment of another layer that it uses transposed; its own lack the
  // first of its blueprint then.
  std::optional<std::size_t> tied = {};
  double flops = 0;
  std::int64_t summed = 0;  // see LayerShape
  BufferPolicy buffers;
};

struct Layout {
  std::vector<ValueSpec> inputs;    // as NetworkConfig::inputs
  std::vector<LayerLayout> layers;  // as NetworkConfig::layers
  std::vector<Segment> parameters;
  std::vector<Segment> statistics;
  std::vector<StateRange> state;
  std::int64_t parameter_count = 0;  // lengths of the flat vectors
  std::int64_t statistics_count = 0;
  std::int64_t state_count = 0;

  const ValueSpec& form(Value v) const {
    return v < inputs.size() ? inputs[v] : layers[v - inputs.size()].output;
  }
};

// Throws Error: kConfig, "layers[3] ('conv2d2'): kernel 5x5 is larger than its
// input 4x4x50"; the network has more than 2^40 parameters.
Layout layout_of(const NetworkConfig& config);

std::vector<LayerSummary> summarise(const NetworkConfig& config,
                                    const Layout& layout);

// The name of component `index` of an updater's state: adam "m", "v".
const char* state_name(device::Updater kind, int index);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYOUT_H_
