// A type of layers: what is known of it before there is a device.
//
// Each is a constant of the file layers/NAME.cpp, which holds its forward and
// backward as well; layers/list.inc names them all.  The checks of documents,
// their resolved form, the JSON Schema and dl-layers(5) follow from `keys` and
// `words`, the layout of a network from `infer`.
//
// To add one, see CONTRIBUTING.md.

#ifndef DL_LIBCORE_NN_CONFIG_LAYER_TYPE_H_
#define DL_LIBCORE_NN_CONFIG_LAYER_TYPE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/settings.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

class Layer;
class Memory;
struct LayerSite;

// The value between two layers, of one example.
struct ValueSpec {
  tensor::Shape shape;
  bool steps = false;  // a sequence [steps, ...], which may have a mask
  // Examples that lie one behind another: all of one, then all of the next.
  std::int64_t copies = 1;
  // Whole numbers (kI32) that stand for something: an input of the network,
  // for types that read tokens.
  bool tokens = false;
  bool operator==(const ValueSpec&) const = default;
};

// The role of a tensor for initialization, regularization and updaters: l1, l2
// and weight_init concern weights, l1_bias, l2_bias, bias_init and bias_updater
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

// The mask of a layer's output: that of its inputs which are sequences
// of as many steps, of different ones their product; none; or one that it
// makes.
enum class MaskRule { kPassed, kNone, kMade };

// State that a layer carries from step to step of each example.
struct CarriedSpec {
  std::string name;  // "h"
  tensor::Shape shape;
};

// Properties that the plan of memory may count on.  The defaults hold for every
// layer.
struct BufferPolicy {
  // The output is the first input, in another shape: nothing is computed.
  bool alias = false;
  // forward() may write its output over the first input, and backward() the
  // first input's gradient over the output's.
  bool in_place = false, gradient_in_place = false;
  // Values that backward() reads again.
  bool keeps_inputs = true, keeps_output = true;
  // backward() may leave something else in the output's gradient.
  bool spoils_gradient = false;
  // The gradient of every input is that of the output.
  bool passes_gradient = false;
  // The gradient of every input but the first is what backward() leaves in the
  // output's.
  bool passes_rest = false;
};

// The plan of a layer: what becomes of its inputs.
struct LayerShape {
  ValueSpec output;
  std::vector<TensorSpec> parameters = {}, statistics = {};
  double flops = 0;  // forward, for one example; a multiply-add is 2
  BufferPolicy buffers = {};
  MaskRule mask = MaskRule::kPassed;
  // Its output at a step of a sequence follows from that step alone,
  bool step_by_step = false;
  // or from the steps before it as well, through these alone.
  std::vector<CarriedSpec> carried = {};
  // Numbers that it has summed over the lanes at once (LaneGroup): then it runs
  // on lanes without examples as well.
  std::int64_t summed = 0;
};

// The keys of training that layers of a type have.
enum class Trains {
  kNothing,
  kOthers,           // updater, gradient_normalization, gradient_threshold
  kWeights,          // and bias_updater, regularization, weight_init, bias_init
  kRecurrentWeights  // and recurrent_init
};

// How many inputs a layer takes.
inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);
struct Arity {
  std::size_t least = 1, most = 1;
};

// A range of the last dimension of an input.
struct Columns {
  std::int64_t begin = 0, end = 0;
};

// Is told of a mistake: a key of the layer, and what is wrong with it.
using Complaint =
    std::function<void(std::string_view key, const std::string& what)>;

struct LayerType {
  std::string_view name;  // "conv2d"
  // Its purpose, as dl-layers(5) has it: sentences in scdoc's format.
  std::string_view words = {};
  // Its names elsewhere; in lower case, letters and digits alone.
  std::vector<std::string_view> other_names = {};
  std::vector<Key> keys = {};  // its own, beside type, name and training's
  Trains trains = Trains::kNothing;
  bool recurrent = false;  // goes through sequences, step by step
  // Makes inputs of two dimensions sequences; so do recurrent ones.
  bool reads_sequences = false;
  Arity inputs = {};

  // Fills in the defaults that are phrases.
  void (*complete)(LayerSettings&) = nullptr;
  // Finds what is wrong though each key by itself is not.
  void (*check)(const LayerSettings&, const Complaint&) = nullptr;
  // The number of tokens that a type knows which reads token numbers alone,
  // from 0.
  std::int64_t (*tokens)(const LayerSettings&) = nullptr;
  bool adds_loss = false;  // see LayerSite::loss
  // The output of types with a loss, whose layers are OutputLayers.
  OutputSpec (*output)(const LayerSettings&) = nullptr;

  // The columns of types that take some of the input as they are; none: this
  // layer takes another part.  rank: of the input.
  std::optional<Columns> (*columns)(const LayerSettings&, int rank) = nullptr;
  // Outside training it gives what goes in.
  bool disturbs = false;
  // Pretraining of types that can learn before the network does (pretrain.h):
  // the nodes of a network that stand in place of this one then, of the same
  // name one that has its parameters, last one with a loss.  inputs: how many
  // numbers go in.
  std::vector<Json> (*pretraining)(const Json& node,
                                   std::int64_t inputs) = nullptr;

  // Whether such a layer can take a scaling of its output over outside training
  // (Layer::absorb()); null: none can.
  bool (*absorbs)(const LayerSettings&) = nullptr;
  // Its key `activation` is what is done to the output last.
  bool activates = false;
  // Lanes can compute it jointly (Joint); its first parameter is the weight
  // [units, inputs].
  bool divides = false;

  // Throws Error: kConfig, "kernel 5x5 is larger than its input 4x4x50".  That
  // tensors and output are not too large is for the caller to check.
  LayerShape (*infer)(const LayerSettings&,
                      std::span<const ValueSpec> inputs) = nullptr;
  // Null where the output is the input in another shape.
  std::unique_ptr<Layer> (*make)(const LayerSite&, Memory&) = nullptr;
};

// All of them, in the order of dl-layers(5).
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
tensor::Shape checked_shape(std::span<const std::int64_t> extents,
                            const std::string& what);
void check_size(const tensor::Shape& shape, const std::string& what);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_LAYER_TYPE_H_
