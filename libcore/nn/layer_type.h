// A type of layers: what is known of it before there is a device.
//
// Each is a constant of the file layers/NAME.cpp, which holds its forward and
// backward as well; layers/list.inc names them all.  The checks of documents,
// their resolved form, the JSON Schema and the tables of dl-network(5) follow
// from `keys`, the layout of a network from `plan`.
//
// To add one: its file, its line in list.inc, a test of its gradient, and its
// words in dl-network(5); the tests of that page print the entries and the
// schema that are missing.

#ifndef DL_LIBCORE_NN_LAYER_TYPE_H_
#define DL_LIBCORE_NN_LAYER_TYPE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/nn/config.h"
#include "libcore/nn/config_table.h"
#include "libcore/nn/settings.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

class Layer;
class Memory;
struct LayerSite;

// What flows between two layers, of one example.
struct Form {
  tensor::Shape shape;
  bool steps = false;  // a sequence [steps, features], which may have a mask
};

// What a tensor is to initialisation, regularization and updaters: l1, l2 and
// weight_init concern weights, l1_bias, l2_bias, bias_init and bias_updater
// biases.  Others start at `start`, are not regularized, and follow `updater`.
// Statistics start at `start` and are not trained.
enum class Role { kWeight, kBias, kOther, kStatistic };

// A tensor that a layer keeps from step to step.
struct TensorSpec {
  std::string name;  // "weight"
  tensor::Shape shape;
  Role role = Role::kWeight;
  std::int64_t fan_in = 0;  // of weights, as initialise.h uses them
  std::int64_t fan_out = 0;
  bool recurrent = false;  // a weight that starts by recurrent_init
  double start = 0;
  // Elements of a bias that start at a value of their own.
  struct Part {
    std::int64_t begin = 0, count = 0;
    double start = 0;
  } part = {};
};

// What becomes of a layer's inputs.
struct Blueprint {
  Form output;
  std::vector<TensorSpec> parameters = {}, statistics = {};
  double flops = 0;  // forward, for one example; a multiply-add is 2
  // Numbers that it has summed over the lanes at once (LaneSum): then it runs
  // on lanes without examples as well.
  std::int64_t summed = 0;
};

// Which keys of training layers of a type have.
enum class Trains {
  kNothing,
  kOthers,           // updater, gradient_normalization, gradient_threshold
  kWeights,          // and bias_updater, regularization, weight_init, bias_init
  kRecurrentWeights  // and recurrent_init
};

// When the output has room of its own: else it lies where the input does.
enum class Room { kAlways, kInTraining, kNever };

// Is told of a mistake: a key of the layer, and what is wrong with it.
using Complaint =
    std::function<void(std::string_view key, const std::string& what)>;

struct LayerType {
  std::string_view name;  // "conv2d"
  // What others call it; in lower case, letters and digits alone.
  std::vector<std::string_view> other_names = {};
  std::vector<Key> keys = {};  // its own, beside type, name and training's
  Trains trains = Trains::kNothing;
  bool recurrent = false;  // makes an input of two dimensions a sequence
  Room room = Room::kAlways;

  // Fills in the defaults that are phrases.
  void (*complete)(Settings&) = nullptr;
  // Finds what is wrong though each key by itself is not.
  void (*check)(const Settings&, const Complaint&) = nullptr;
  // Of types with a loss, whose layers are OutputLayers.
  OutputSpec (*output)(const Settings&) = nullptr;

  // Throws Error: kConfig, "kernel 5x5 is larger than its input 4x4x50".  That
  // tensors and output are not too large is for the caller to check.
  Blueprint (*plan)(const Settings&, std::span<const Form> inputs) = nullptr;
  std::unique_ptr<Layer> (*make)(const LayerSite&, Memory&) = nullptr;
};

// All of them, in the order of dl-network(5).
std::span<const LayerType* const> layer_types();

// The type of that name, which there must be.
const LayerType& layer_type(std::string_view name);

// The most numbers in a tensor, and in a network.
inline constexpr std::int64_t kMaxReals = std::int64_t{1} << 40;

// As a double, which holds numbers beyond all memory as well.
double numbers_in(const tensor::Shape& shape);

// A shape from settings, which may be of any size.
// Throws Error: kConfig, "weight has more than 2^40 numbers".
tensor::Shape checked_shape(std::initializer_list<std::int64_t> extents,
                            const std::string& what);
void check_size(const tensor::Shape& shape, const std::string& what);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYER_TYPE_H_
