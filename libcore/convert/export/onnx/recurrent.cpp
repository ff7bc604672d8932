// Recurrent layers: LSTM, GRU and RNN of ONNX, which have the steps first.
//
// Their sequences may be shorter, but padding is always at the end.  Where
// there is a mask, the steps that count are brought to the front, and what the
// cell says of them back to where they were.

#include "libcore/nn/layers/parts/recurrent.h"

#include "libcore/convert/export/onnx/layer.h"
#include "libcore/device/api/recurrent.h"

namespace dl::convert {
namespace {

using device::Activation;

struct Cell {
  const char* type;
  std::int64_t gates;
  // Our block of `units` for each of ONNX's.
  Ints order;
};

struct Function {
  const char* name;
  Reals alpha, beta;
};

Function function_of(const OnnxLayer& layer, const char* key) {
  switch (layer.settings.one_of<Activation>(key)) {
    case Activation::kIdentity:
      return {"Affine", {1}, {0}};
    case Activation::kRelu:
      return {"Relu", {}, {}};
    case Activation::kSigmoid:
      return {"Sigmoid", {}, {}};
    case Activation::kTanh:
      return {"Tanh", {}, {}};
    case Activation::kHardSigmoid:
      return {"HardSigmoid", {device::kCellSlope}, {0.5}};
    case Activation::kSoftsign:
      return {"Softsign", {}, {}};
    default:
      layer.refuse("\"" + std::string(key) + "\": \"" +
                   layer.settings.text(key) +
                   "\" has no counterpart in ONNX's recurrent operators; "
                   "want identity, relu, sigmoid, tanh, hard_sigmoid or "
                   "softsign");
  }
}

// Blocks of rows in another order; -1 is zeros.
void append(std::vector<float>& to, std::span<const float> from,
            const Ints& order, std::size_t block) {
  for (const std::int64_t k : order) {
    if (k < 0)
      to.insert(to.end(), block, 0.0F);
    else
      to.insert(to.end(), from.begin() + k * static_cast<std::int64_t>(block),
                from.begin() + (k + 1) * static_cast<std::int64_t>(block));
  }
}

class Recurrent {
 public:
  Recurrent(OnnxLayer& layer, Cell cell)
      : layer_(layer),
        g_(layer.graph),
        cell_(std::move(cell)),
        units_(layer.settings.integer("units")),
        bias_(layer.settings.flag("bias")),
        peepholes_(layer.is_on("peepholes")),
        merge_(layer.settings.one_of<nn::Bidirectional>("bidirectional")),
        directions_(merge_ == nn::Bidirectional::kNone ? 1 : 2) {}

  void write();

 private:
  OnnxAttributes attributes() const;
  std::vector<std::string> weights() const;
  std::string stacked(std::size_t which, const char* name, const Ints& order,
                      std::int64_t columns) const;
  std::string joined(const std::string& y, std::int64_t axis) const;

  OnnxLayer& layer_;
  OnnxGraph& g_;
  Cell cell_;
  std::int64_t units_;
  bool bias_, peepholes_;
  nn::Bidirectional merge_;
  std::int64_t directions_;
};

OnnxAttributes Recurrent::attributes() const {
  std::vector<Function> each;
  if (cell_.gates > 1) each.push_back(function_of(layer_, "gate_activation"));
  each.push_back(function_of(layer_, "activation"));
  if (cell_.gates == 4) each.push_back(each.back());
  std::vector<std::string> names;
  Reals alphas, betas;
  for (std::int64_t d = 0; d < directions_; ++d)
    for (const Function& f : each) {
      names.emplace_back(f.name);
      alphas.insert(alphas.end(), f.alpha.begin(), f.alpha.end());
      betas.insert(betas.end(), f.beta.begin(), f.beta.end());
    }
  OnnxAttributes all{
      {"hidden_size", units_},
      {"direction",
       std::string(directions_ == 1 ? "forward" : "bidirectional")},
      {"activations", names}};
  if (!alphas.empty()) {
    all.emplace_back("activation_alpha", alphas);
    all.emplace_back("activation_beta", betas);
  }
  if (cell_.gates == 3)
    all.emplace_back("linear_before_reset",
                     std::int64_t{!layer_.is_on("reset_before")});
  return all;
}

// Tensor `which` of each direction, [directions, blocks * units (, columns)].
std::string Recurrent::stacked(std::size_t which, const char* name,
                               const Ints& order, std::int64_t columns) const {
  const std::size_t each = 2u + bias_ + peepholes_;
  std::vector<float> all;
  for (std::int64_t d = 0; d < directions_; ++d)
    append(
        all, layer_.values(static_cast<std::size_t>(d) * each + which), order,
        static_cast<std::size_t>(units_ * std::max<std::int64_t>(columns, 1)));
  Ints shape{directions_, static_cast<std::int64_t>(order.size()) * units_};
  if (columns > 0) shape.push_back(columns);
  return g_.weight(layer_.name(0) + name, shape, all);
}

std::vector<std::string> Recurrent::weights() const {
  std::vector<std::string> all{
      stacked(0, ".W", cell_.order, layer_.inputs[0].shape[1]),
      stacked(1, ".R", cell_.order, units_), ""};
  if (!bias_) return all;
  // The biases of W, and those of R: of a gru that resets behind the product,
  // the fourth block.
  Ints order = cell_.order;
  order.insert(order.end(), cell_.order.size(), -1);
  if (layer_.shape(2)[0] > cell_.gates * units_) order.back() = cell_.gates;
  all[2] = stacked(2, ".B", order, 0);
  return all;
}

// [.., directions, units] with directions on `axis`, as one.
std::string Recurrent::joined(const std::string& y, std::int64_t axis) const {
  switch (merge_) {
    case nn::Bidirectional::kNone:
      return g_.node("Squeeze", {y, g_.ints({axis})});
    case nn::Bidirectional::kAdd:
      return g_.reduce("ReduceSum", y, {axis}, false);
    case nn::Bidirectional::kMultiply:
      return g_.reduce("ReduceProd", y, {axis}, false);
    case nn::Bidirectional::kAverage:
      return g_.reduce("ReduceMean", y, {axis}, false);
    case nn::Bidirectional::kConcat:
      break;
  }
  return g_.reshape(y, batch_of(layer_.output.shape));
}

void Recurrent::write() {
  const std::int64_t steps = layer_.inputs[0].shape[0],
                     features = layer_.inputs[0].shape[1];
  const bool masked = !layer_.mask().empty();
  std::string x = layer_.x(), lengths, some;
  OnnxSteps which;
  if (masked) {
    which = onnx_steps(g_, layer_.mask(), steps);
    x = take_steps(g_, x, which.order, features);
    // A sequence without real steps is read as one step, whose output is
    // dropped.
    const std::string count = g_.node("Squeeze", {which.count, g_.ints({1})});
    lengths = g_.cast(g_.node("Max", {count, g_.real(1)}), OnnxType::kInt32);
    some = g_.node("Min", {which.count, g_.real(1)});
  }
  std::vector<std::string> in{g_.transpose(x, {1, 0, 2})};
  for (std::string& weight : weights()) in.push_back(std::move(weight));
  in.push_back(lengths);
  if (peepholes_) {
    in.insert(in.end(), {"", "", stacked(2u + bias_, ".P", {0, 2, 1}, 0)});
  }
  const auto y = g_.node_of(cell_.type, in, attributes(), 2);
  if (!layer_.settings.flag("return_sequences")) {
    // [directions, batch, units]
    const std::string last = joined(g_.transpose(y[1], {1, 0, 2}), 1);
    return layer_.give(masked ? g_.node("Mul", {last, some}) : last);
  }
  // [steps, directions, batch, units]
  const std::string all = joined(g_.transpose(y[0], {2, 0, 1, 3}), 2);
  if (!masked) return layer_.give(all);
  layer_.give(
      clear_steps(g_, take_steps(g_, all, which.rank, layer_.output.shape[1]),
                  layer_.mask(), 2, false));
}

void lstm(OnnxLayer& layer) {
  Recurrent(layer, {"LSTM", 4, {0, 3, 1, 2}}).write();
}
void gru(OnnxLayer& layer) { Recurrent(layer, {"GRU", 3, {0, 1, 2}}).write(); }
void simple(OnnxLayer& layer) { Recurrent(layer, {"RNN", 1, {0}}).write(); }

}  // namespace

std::span<const OnnxRule> onnx_recurrent() {
  static constexpr OnnxRule kRules[] = {
      {"lstm", lstm}, {"gru", gru}, {"simple_rnn", simple}};
  return kRules;
}

}  // namespace dl::convert
