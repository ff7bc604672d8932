// Attention and embeddings.

#include <cmath>

#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

// Number added to the score of a masked key: no number of others brings its
// weight above 0.
constexpr double kUnseen = -1e9;

class Attention {
 public:
  explicit Attention(OnnxLayer& layer)
      : layer_(layer),
        g_(layer.graph),
        heads_(layer.settings.integer("heads")),
        size_(layer.settings.integer("head_size")),
        queries_(layer.inputs.front().shape[0]),
        keys_(layer.inputs.back().shape[0]) {}

  void write() {
    const std::size_t last = layer_.inputs.size() - 1;
    const std::string q = split(projection(layer_.x(0), 0), queries_,
                                {0, 2, 1, 3}),
                      k = split(projection(layer_.x(last), 1), keys_,
                                {0, 2, 3, 1}),
                      v = split(projection(layer_.x(last), 2), keys_,
                                {0, 2, 1, 3});
    std::string scores =
        g_.node("Mul", {g_.node("MatMul", {q, k}),
                        g_.real(1 / std::sqrt(static_cast<double>(size_)))});
    const std::string seen = seen_keys(layer_.mask(last));
    if (!seen.empty())
      scores = g_.node(
          "Add", {scores, g_.node("Mul", {g_.node("Sub", {g_.real(1), seen}),
                                          g_.real(kUnseen)})});
    std::string weights =
        g_.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    // A query that sees no key has weights for all.
    if (!seen.empty()) weights = g_.node("Mul", {weights, seen});
    const std::string mixed =
        g_.transpose(g_.node("MatMul", {weights, v}), {0, 2, 1, 3});
    layer_.give(
        projection(g_.reshape(mixed, {0, queries_, heads_ * size_}), 3));
    layer_.give_mask(layer_.mask(0));
  }

 private:
  std::string projection(const std::string& x, std::size_t i) {
    const bool bias = layer_.settings.flag("bias");
    const std::size_t at = i * (bias ? 2 : 1);
    const std::string y =
        g_.node("MatMul", {x, layer_.turned_weight(at, {1, 0})});
    return bias ? g_.node("Add", {y, layer_.weight(at + 1)}) : y;
  }

  std::string split(const std::string& x, std::int64_t steps,
                    const Ints& order) {
    return g_.transpose(g_.reshape(x, {0, steps, heads_, size_}), order);
  }

  // 1 or 0, for scores [batch, heads, queries, keys]; "" if all are.
  std::string seen_keys(const std::string& mask) {
    std::string seen;
    if (!mask.empty()) seen = g_.node("Unsqueeze", {mask, g_.ints({1, 2})});
    if (!layer_.is_on("causal")) return seen;
    Reals before;
    for (std::int64_t i = 0; i < queries_; ++i)
      for (std::int64_t j = 0; j < keys_; ++j) before.push_back(j <= i ? 1 : 0);
    const std::string causal = g_.reals(before, {queries_, keys_});
    return seen.empty() ? causal : g_.node("Mul", {seen, causal});
  }

  OnnxLayer& layer_;
  OnnxGraph& g_;
  std::int64_t heads_, size_, queries_, keys_;
};

void attention(OnnxLayer& layer) { Attention(layer).write(); }

void embedding(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  layer.give(g.node("Gather", {layer.weight(0), layer.x()}));
  if (!layer.is_on("mask_zero")) return;
  const std::string zero = g.node("Equal", {layer.x(), g.ints({0})});
  const std::string real = g.cast(g.node("Not", {zero}), OnnxType::kFloat);
  layer.give_mask(layer.mask().empty() ? real
                                       : g.node("Mul", {real, layer.mask()}));
}

// As layers/positional_embedding.cpp computes them.
std::string waves(OnnxGraph& g, const tensor::Shape& shape) {
  Reals table;
  for (std::int64_t step = 0; step < shape[0]; ++step)
    for (std::int64_t at = 0; at < shape[1]; ++at) {
      const double power =
          static_cast<double>(at - at % 2) / static_cast<double>(shape[1]);
      const double angle = static_cast<double>(step) / std::pow(10000.0, power);
      table.push_back(at % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return g.reals(table, {shape[0], shape[1]});
}

void positional_embedding(OnnxLayer& layer) {
  const std::string table = layer.is_on("sinusoidal")
                                ? waves(layer.graph, layer.inputs[0].shape)
                                : layer.weight(0);
  layer.give(layer.graph.node("Add", {layer.x(), table}));
}

}  // namespace

std::span<const OnnxRule> onnx_attention() {
  static constexpr OnnxRule kRules[] = {
      {"multi_head_attention", attention},
      {"embedding", embedding},
      {"positional_embedding", positional_embedding}};
  return kRules;
}

}  // namespace dl::convert
