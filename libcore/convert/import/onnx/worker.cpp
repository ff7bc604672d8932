// Evaluation of loops over known numbers.

#include "libcore/convert/import/onnx/worker.h"

#include <algorithm>
#include <cmath>

namespace dl::convert::onnx {
namespace {

std::optional<Constant> multiplied(const Constant& a, const Constant& b) {
  if (a.shape().size() != 2 || b.shape().size() != 2 ||
      a.shape()[1] != b.shape()[0])
    return std::nullopt;
  const auto rows = static_cast<std::size_t>(a.shape()[0]),
             inner = static_cast<std::size_t>(a.shape()[1]),
             columns = static_cast<std::size_t>(b.shape()[1]);
  std::vector<float> all(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k)
        sum += a.at(r * inner + k) * b.at(k * columns + c);
      all[r * columns + c] = static_cast<float>(sum);
    }
  return Constant::of_reals({a.shape()[0], b.shape()[1]}, std::move(all));
}

// Part i of the equal ones that a Split makes.
std::optional<Constant> split_part(const Node& node, const Constant& whole,
                                   std::size_t i) {
  const auto rank = static_cast<std::int64_t>(whole.shape().size());
  std::int64_t axis = node.integer("axis", 0);
  if (axis < 0) axis += rank;
  const auto count = static_cast<std::int64_t>(node.out.size());
  if (axis < 0 || axis >= rank || node.has("split") || node.in.size() != 1)
    return std::nullopt;
  const std::int64_t extent = whole.shape()[static_cast<std::size_t>(axis)];
  if (extent % count != 0) return std::nullopt;
  const std::int64_t each = extent / count,
                     begin = static_cast<std::int64_t>(i) * each;
  Node slice;
  slice.op = "Slice";
  const auto one = [](std::int64_t v) { return Constant::of_wholes({1}, {v}); };
  const Constant from = one(begin), to = one(begin + each), along = one(axis);
  return folded(slice, {&whole, &from, &to, &along});
}

}  // namespace

const std::map<std::string, Function>& cell_functions() {
  static const std::map<std::string, Function> all = {
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }}};
  return all;
}

const Constant* constant_around(const Site& site, const std::string& name) {
  Node reader;
  reader.in = {name};
  return Site(site.import(), reader).constant(0);
}

const Constant* Worker::value(const std::string& name) {
  if (const auto found = known_.find(name); found != known_.end())
    return &found->second;
  const Node* node = maker(name);
  if (node == nullptr) return constant_around(site_, name);
  constexpr std::size_t kDeepest = 500;
  if (running_.size() > kDeepest || !running_.insert(node).second)
    return nullptr;
  const bool done = run(*node);
  running_.erase(node);
  const auto found = known_.find(name);
  return done && found != known_.end() ? &found->second : nullptr;
}

bool Worker::run(const Node& node) {
  std::vector<const Constant*> in;
  in.reserve(node.in.size());
  for (const std::string& name : node.in)
    in.push_back(name.empty() ? nullptr : value(name));
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] == nullptr && !node.in[i].empty()) return false;
  if (node.op == "Split" && node.domain.empty() && in.size() == 1) {
    for (std::size_t i = 0; i < node.out.size(); ++i) {
      auto part = split_part(node, *in[0], i);
      if (!part) return false;
      set(node.out[i], std::move(*part));
    }
    return true;
  }
  std::optional<Constant> made;
  const auto function = cell_functions().find(node.op);
  if (node.op == "MatMul" && in.size() == 2) {
    made = multiplied(*in[0], *in[1]);
  } else if (function != cell_functions().end() && in.size() == 1) {
    std::vector<float> all = in[0]->reals();
    for (float& one : all) one = static_cast<float>(function->second(one));
    made = Constant::of_reals(in[0]->shape(), std::move(all));
  } else {
    made = folded(node, in);
  }
  if (!made || node.out.empty()) return false;
  left_ -= made->elements();
  if (left_ < 0) return false;
  set(node.out[0], std::move(*made));
  return true;
}

}  // namespace dl::convert::onnx
