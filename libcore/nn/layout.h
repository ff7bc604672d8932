// What follows from a network's configuration alone: the shapes between its
// layers, its parameters by name and where they lie in the flat vectors.
//
// Network compiles from it, the model file takes names and shapes from it,
// and parse_network() finds layers that do not fit with it.

#ifndef DL_LIBCORE_NN_LAYOUT_H_
#define DL_LIBCORE_NN_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/nn/config.h"
#include "libcore/tensor/device.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

// What a segment is to initialisation, regularization and updaters: l1, l2 and
// weight_init concern weights, l1_bias, l2_bias, bias_init and bias_updater
// biases.  gamma and beta (batch_norm) start at 1 and 0, are not regularized,
// and follow `updater`.  Statistics start at 0 (mean) and 1 (variance).
enum class Role { kWeight, kBias, kGamma, kBeta, kMean, kVariance };

// A named range of one of the flat vectors.
struct Segment {
  std::string name;  // "conv1/weight", "bn1/running_mean"
  tensor::Shape shape;
  std::int64_t offset = 0;  // in reals
  Role role = Role::kWeight;
  std::size_t layer = 0;    // index into NetworkConfig::layers
  std::int64_t fan_in = 0;  // of weights, as initialise.h uses them
  std::int64_t fan_out = 0;
  bool recurrent = false;  // a weight that starts by recurrent_init
  std::int64_t elements() const { return shape.elements(); }
};

// [begin, end) of the parameters, which share an updater: neighbours with equal
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
  tensor::Shape input, output;  // of one example; dense flattens by itself
  // Whether these are sequences [steps, features]: dense and output then work
  // step by step.
  bool input_steps = false, output_steps = false;
  // Segments [begin, end) of Layout::parameters and ::statistics.  parameters:
  // weight, bias or gamma, beta, or, for each direction of a recurrent layer,
  // weight, recurrent_weight, bias; statistics: running_mean, running_variance.
  std::size_t parameters_begin = 0, parameters_end = 0;
  std::size_t statistics_begin = 0, statistics_end = 0;
  double flops = 0;
};

struct Layout {
  std::vector<LayerLayout> layers;  // as NetworkConfig::layers
  std::vector<Segment> parameters;
  std::vector<Segment> statistics;
  std::vector<StateRange> state;
  std::int64_t parameter_count = 0;  // lengths of the flat vectors
  std::int64_t statistics_count = 0;
  std::int64_t state_count = 0;
};

// Throws Error: kConfig, "layers[3] ('conv2d2'): kernel 5x5 is larger than its
// input 4x4x50"; the network has more than 2^40 parameters.
Layout layout_of(const NetworkConfig& config);

std::vector<LayerSummary> summarise(const NetworkConfig& config,
                                    const Layout& layout);

// The primitive of a conv2d or pooling layer over an input [height, width,
// channels], its padding worked out.
tensor::Conv2dSpec conv2d_spec(const LayerConfig& layer,
                               const tensor::Shape& input);
tensor::Pool2dSpec pool2d_spec(const LayerConfig& layer,
                               const tensor::Shape& input);

// That of a recurrent layer over an input [steps, features], of one direction.
// What it writes of rows [steps, 2 units] is left to the caller.
tensor::RecurrentSpec recurrent_spec(const LayerConfig& layer,
                                     const tensor::Shape& input);

// The name of component `index` of an updater's state: adam "m", "v".
const char* state_name(tensor::Updater kind, int index);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYOUT_H_
