// The table of attributes and inputs that are read.

#include "libcore/convert/import/onnx/schema.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::onnx {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

// Attributes as words, "name", "name:from" or "name:from-to", by opsets.
struct KnownOperator {
  std::string_view name;
  std::size_t inputs;  // at most
  std::string_view attributes;
};

constexpr std::string_view kOldBroadcast = "axis:1-6 broadcast:1-6";
constexpr std::string_view kReduce =
    "axes:1-17 keepdims noop_with_empty_axes:18";
constexpr std::string_view kCell =
    "activation_alpha activation_beta activations clip direction hidden_size "
    "input_forget layout:14 linear_before_reset:3 output_sequence:1-6";

constexpr KnownOperator kOperators[] = {
    {"Abs", 1, ""},
    {"Add", 2, kOldBroadcast},
    {"And", 2, kOldBroadcast},
    {"AveragePool", 1,
     "auto_pad ceil_mode:10 count_include_pad:7 dilations:19 kernel_shape pads "
     "strides"},
    {"BatchNormalization", 5,
     "epsilon is_test:1-6 momentum spatial:1-8 training_mode:14"},
    {"Cast", 1, "round_mode:24 saturate:19 to"},
    {"Ceil", 1, ""},
    {"Celu", 1, "alpha"},
    {"Clip", 3, "max:1-10 min:1-10"},
    {"Concat", kAny, "axis"},
    {"Constant", 0,
     "value value_float:12 value_floats:12 value_int:12 value_ints:12"},
    {"ConstantOfShape", 1, "value"},
    {"Conv", 3, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", 3,
     "auto_pad dilations group kernel_shape output_padding output_shape pads "
     "strides"},
    {"DepthToSpace", 1, "blocksize mode:11"},
    {"Div", 2, kOldBroadcast},
    {"Dropout", 3, "is_test:1-6 ratio:1-11 seed:12"},
    {"Elu", 1, "alpha"},
    {"Equal", 2, kOldBroadcast},
    {"Erf", 1, ""},
    {"Exp", 1, ""},
    {"Expand", 2, ""},
    {"Flatten", 1, "axis"},
    {"Floor", 1, ""},
    {"GRU", 6, kCell},
    {"Gather", 2, "axis"},
    {"GatherND", 2, "batch_dims:12"},
    {"Gelu", 1, "approximate"},
    {"Gemm", 3, "alpha beta broadcast:1-6 transA transB"},
    {"GlobalAveragePool", 1, ""},
    {"GlobalLpPool", 1, "p"},
    {"GlobalMaxPool", 1, ""},
    {"Greater", 2, kOldBroadcast},
    {"GreaterOrEqual", 2, ""},
    {"GroupNormalization", 3, "epsilon num_groups stash_type:21"},
    {"HardSigmoid", 1, "alpha beta"},
    {"HardSwish", 1, ""},
    {"Identity", 1, ""},
    {"InstanceNormalization", 3, "epsilon"},
    {"IsNaN", 1, ""},
    {"LRN", 1, "alpha beta bias size"},
    {"LSTM", 8, kCell},
    {"LayerNormalization", 3, "axis epsilon stash_type"},
    {"LeakyRelu", 1, "alpha"},
    {"Less", 2, kOldBroadcast},
    {"LessOrEqual", 2, ""},
    {"Log", 1, ""},
    {"LogSoftmax", 1, "axis"},
    {"LpNormalization", 1, "axis p"},
    {"LpPool", 1,
     "auto_pad ceil_mode:18 dilations:18 kernel_shape p pads strides"},
    {"Loop", kAny, "body"},
    {"MatMul", 2, ""},
    {"Max", kAny, ""},
    {"MaxPool", 1,
     "auto_pad ceil_mode:10 dilations:10 kernel_shape pads storage_order:8 "
     "strides"},
    {"Mean", kAny, ""},
    {"Min", kAny, ""},
    {"Mish", 1, ""},
    {"Mod", 2, "fmod"},
    {"Mul", 2, kOldBroadcast},
    {"Neg", 1, ""},
    {"Not", 1, ""},
    {"Or", 2, kOldBroadcast},
    {"PRelu", 2, ""},
    {"Pad", 4, "mode paddings:1-1 pads:2-10 value:1-10"},
    {"Pow", 2, kOldBroadcast},
    {"RMSNormalization", 2, "axis epsilon stash_type"},
    {"RNN", 6, kCell},
    {"Range", 3, "stash_type:27"},
    {"Reciprocal", 1, ""},
    {"ReduceL1", 2, kReduce},
    {"ReduceL2", 2, kReduce},
    {"ReduceLogSumExp", 2, kReduce},
    {"ReduceMax", 2, kReduce},
    {"ReduceMean", 2, kReduce},
    {"ReduceMin", 2, kReduce},
    {"ReduceProd", 2, kReduce},
    {"ReduceSum", 2, "axes:1-12 keepdims noop_with_empty_axes:13"},
    {"ReduceSumSquare", 2, kReduce},
    {"Relu", 1, ""},
    {"Reshape", 2, "allowzero:14 shape:1-4"},
    {"Resize", 4,
     "antialias:18 axes:18 coordinate_transformation_mode:11 cubic_coeff_a:11 "
     "exclude_outside:11 extrapolation_value:11 keep_aspect_ratio_policy:18 "
     "mode nearest_mode:11"},
    {"Selu", 1, "alpha gamma"},
    {"Shape", 1, "end:15 start:15"},
    {"Shrink", 1, "bias lambd"},
    {"Sigmoid", 1, ""},
    {"Sign", 1, ""},
    {"Slice", 5, "axes:1-9 ends:1-9 starts:1-9"},
    {"Softmax", 1, "axis"},
    {"Softplus", 1, ""},
    {"Softsign", 1, ""},
    {"SpaceToDepth", 1, "blocksize mode:28"},
    {"Split", 2, "axis num_outputs:18 split:1-12"},
    {"Sqrt", 1, ""},
    {"Squeeze", 2, "axes:1-12"},
    {"Sub", 2, kOldBroadcast},
    {"Sum", kAny, ""},
    {"Swish", 1, "alpha"},
    {"Tanh", 1, ""},
    {"ThresholdedRelu", 1, "alpha"},
    {"Tile", 3, ""},
    {"Transpose", 1, "perm"},
    {"Trilu", 2, "upper"},
    {"Unsqueeze", 2, "axes:1-12"},
    {"Upsample", 2, "height_scale:1-6 mode scales:7-8 width_scale:1-6"},
    {"Where", 3, ""}};

constexpr KnownOperator kMlOperators[] = {
    {"ArrayFeatureExtractor", 2, ""},
    {"LinearClassifier", 1,
     "classlabels_ints classlabels_strings coefficients intercepts multi_class "
     "post_transform"},
    {"LinearRegressor", 1, "coefficients intercepts post_transform targets"},
    {"Normalizer", 1, "norm"},
    {"Scaler", 1, "offset scale"}};

const KnownOperator* find(const Node& node) {
  using Table = std::map<std::string_view, const KnownOperator*>;
  const auto table = [](const auto& operators) {
    Table made;
    for (const KnownOperator& one : operators) made.emplace(one.name, &one);
    return made;
  };
  static const Table own = table(kOperators), ml = table(kMlOperators);
  if (!node.domain.empty() && node.domain != kMlDomain) return nullptr;
  const Table& all = node.domain.empty() ? own : ml;
  const auto found = all.find(node.op);
  return found == all.end() ? nullptr : found->second;
}

// word: "name:from-to".
bool is_in(std::string_view word, const std::string& name, std::int64_t opset) {
  const std::size_t colon = word.find(':');
  if (word.substr(0, colon) != name) return false;
  if (colon == std::string_view::npos) return true;
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + colon + 1, end, from);
  if (at != end) std::from_chars(at + 1, end, to);
  return from <= opset && opset <= to;
}

bool reads(const KnownOperator& known, const std::string& name,
           std::int64_t opset) {
  // A hint of old writers, of which memory an operator may overwrite.
  if (name == "consumed_inputs" && opset < 6) return true;
  for (std::string_view rest = known.attributes; !rest.empty();) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    if (is_in(rest.substr(0, space), name, opset)) return true;
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return false;
}

void want_read(const Node& node) {
  const KnownOperator* known = find(node);
  if (known == nullptr) return;
  for (const auto& [name, value] : node.attributes.items())
    if (!reads(*known, name, node.opset))
      bad_data(node.called() + ": its attribute " + in_quotes(name) +
               " is not read of opset " + std::to_string(node.opset) +
               ", and may change what it does; a node without it would be "
               "needed");
  for (std::size_t i = known->inputs; i < node.in.size(); ++i)
    if (!node.in[i].empty())
      bad_data(node.called() + ": its input " + in_quotes(node.in[i]) +
               " is one more than the " + std::to_string(known->inputs) +
               " that are read of it");
}

void want_opset(const Node& node) {
  const bool ml = node.domain == kMlDomain;
  if (node.domain == kOwnDomain)
    bad_data(node.called() +
             ": it is none of ONNX's own operators; a model of "
             "these would be needed");
  if (!node.domain.empty() && !ml) return;
  const std::int64_t newest = ml ? kNewestMlOpset : kNewestOpset;
  if (node.opset < 1)
    bad_data("it is of opset " + std::to_string(node.opset) +
             ", which there is not");
  if (node.opset > newest)
    bad_data("it is of opset " + std::to_string(node.opset) +
             (ml ? " of ai.onnx.ml" : "") + ", and those up to " +
             std::to_string(newest) +
             " are known here: export it for one of these, or convert it with "
             "onnx.version_converter");
}

}  // namespace

bool is_known(const Node& node) { return find(node) != nullptr; }

void want_known(const Model& model) {
  for (const Node* node : needed(model)) {
    want_opset(*node);
    want_read(*node);
    if (node->body)
      for (const Node& one : node->body->nodes) want_read(one);
  }
}

}  // namespace dl::convert::onnx
