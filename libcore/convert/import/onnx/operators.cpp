// All operators, and why others are none.

#include <map>

#include "libcore/base/display.h"
#include "libcore/convert/import/onnx/ml.h"
#include "libcore/convert/import/onnx/schema.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {

Make find_operator(const Node& node) {
  static const std::map<std::string_view, Make> linear = [] {
    std::map<std::string_view, Make> made;
    for (const Operator& one : ml_operators()) made.emplace(one.name, one.make);
    return made;
  }();
  static const std::map<std::string_view, Make> all = [] {
    std::map<std::string_view, Make> made;
    for (const auto& family :
         {activation_operators(), combine_operators(), convolution_operators(),
          dense_operators(), loop_operators(), norm_operators(),
          pad_operators(), piecewise_operators(), pool_operators(),
          recurrent_operators(), reduce_operators(), resize_operators(),
          shape_operators()})
      for (const Operator& one : family) made.emplace(one.name, one.make);
    return made;
  }();
  const bool ml = node.domain == kMlDomain;
  // Ours are called as none of ONNX's is.
  if (node.domain != kOwnDomain && !is_known(node)) return nullptr;
  const auto found = ml ? linear.find(node.op) : all.find(node.op);
  return found == (ml ? linear.end() : all.end()) ? nullptr : found->second;
}

std::string why_not(const Node& node) {
  static const std::map<std::string_view, const char*> known = {
      {"If",
       "what follows depends on shapes that are open until it runs; export it "
       "with dynamo=True, or with all extents but the batch fixed"},
      {"Scan", "LSTM, GRU or RNN would be needed"},
      {"ArgMax",
       "export the scores that it looks at; dl-eval(1) and "
       "dl-infer(1) find the largest"},
      {"TopK", "export the scores that it looks at"},
      {"NonMaxSuppression", "export what it reads"},
      {"QuantizeLinear", "a model in floats would be needed"},
      {"DequantizeLinear", "a model in floats would be needed"},
      {"ConvInteger", "a model in floats would be needed"},
      {"MatMulInteger", "a model in floats would be needed"},
      {"QLinearConv", "a model in floats would be needed"},
      {"Einsum", "MatMul with a matrix of weights would be needed"}};
  if (node.domain == kMlDomain)
    return "it is no network; of ai.onnx.ml there are LinearClassifier, "
           "LinearRegressor, Scaler and ArrayFeatureExtractor";
  if (!node.domain.empty() && node.domain != kOwnDomain)
    return "it is none of ONNX's own operators; a model of these would be "
           "needed";
  const auto found = known.find(node.op);
  return found == known.end()
             ? "there is no layer for it; dl-import(1) lists the operators "
               "that there are"
             : found->second;
}

}  // namespace dl::convert::onnx
