// Operators of the domain ai.onnx.ml, which converters of scikit-learn use:
// linear models and what scales columns.

#include "libcore/convert/import/onnx/ml.h"

#include <algorithm>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

Constant row_of(const std::vector<double>& values) {
  return Constant::of_reals({static_cast<std::int64_t>(values.size())},
                            {values.begin(), values.end()});
}

// (x - offset) * scale by column.
void scaler(Site& site) {
  const std::vector<double> offset = site.node().numbers("offset"),
                            scale = site.node().numbers("scale");
  const Flow& flow = site.flow(0);
  if (flow.axes.empty() || offset.size() != scale.size())
    site.refuse("it has not as many offsets as scales");
  const std::size_t axis = flow.axes.size() - 1;
  const auto columns = static_cast<std::size_t>(site.extent_of(flow, axis));
  if (offset.size() != columns && offset.size() != 1)
    site.refuse("it is for other columns than its input has");
  std::vector<double> factor, added;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t own = offset.size() == 1 ? 0 : i;
    factor.push_back(scale[own]);
    added.push_back(-offset[own] * scale[own]);
  }
  const Constant w = row_of(factor), b = row_of(added);
  site.give(scaled_by(site, flow, axis, &w, &b));
}

// f(factor (W x + b)) of a linear model with so many outputs.
Flow linear(Site& site, std::int64_t outputs, const Json& activation,
            double factor = 1) {
  std::vector<double> weights = site.node().numbers("coefficients");
  std::vector<double> biases = site.node().numbers("intercepts");
  const Flow& flow = site.flow(0);
  if (flow.axes.empty() || outputs < 1)
    site.refuse("its coefficients are not those of its input");
  const std::int64_t columns = site.extent_of(flow, flow.axes.size() - 1);
  if (std::cmp_not_equal(weights.size(), columns * outputs) ||
      (!biases.empty() && std::cmp_not_equal(biases.size(), outputs)))
    site.refuse("its coefficients are not those of its input");
  biases.resize(static_cast<std::size_t>(outputs), 0);
  for (std::vector<double>* all : {&weights, &biases})
    for (double& one : *all) one *= factor;
  const Constant bias = row_of(biases);
  const Constant weight =
      Constant::of_reals({outputs, columns}, {weights.begin(), weights.end()});
  return site.product(flow, outputs, weight, false, &bias, activation);
}

Json activation_after(const Site& site) {
  const std::string after = site.node().text("post_transform", "NONE");
  if (after == "NONE") return {};
  if (after == "SOFTMAX") return "softmax";
  if (after == "LOGISTIC") return "sigmoid";
  site.refuse("its post_transform is \"" + after +
              "\"; NONE, SOFTMAX or LOGISTIC would be needed");
}

void regressor(Site& site) {
  site.give(
      linear(site, site.node().integer("targets", 1), activation_after(site)));
}

// Whether what it gives sums up to 1: a softmax, or two numbers of which one is
// the other's opposite before a sigmoid.
bool sums_up(const Node& node, const Json& activation, std::int64_t outputs) {
  if (activation == Json("softmax")) return true;
  const std::vector<double> w = node.numbers("coefficients"),
                            b = node.numbers("intercepts");
  if (activation != Json("sigmoid") || outputs != 2) return false;
  const std::size_t half = w.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    if (w[i] != -w[half + i]) return false;
  return b.empty() || (b.size() == 2 && b[0] == -b[1]);
}

// Its label is none of the outputs any more (labels.h).  If one of two numbers
// is the other's opposite, sigmoids are a softmax of half of them, which says
// which class it is.
void classifier(Site& site) {
  const Node& node = site.node();
  const auto outputs = static_cast<std::int64_t>(
      std::max(node.texts("classlabels_strings").size(),
               node.integers("classlabels_ints", {}).size()));
  const Json activation = activation_after(site);
  const bool pair = activation == Json("sigmoid") && outputs == 2 &&
                    sums_up(node, activation, outputs);
  Flow flow = pair ? linear(site, outputs, "softmax", 0.5)
                   : linear(site, outputs, activation);
  if (node.out.size() < 2) site.refuse("it gives no scores");
  // A division by the sum, which is 1.
  const auto& readers = site.import().readers;
  const auto found = readers.find(node.out[1]);
  if (sums_up(node, activation, outputs) && found != readers.end())
    for (const Node* next : found->second)
      if (next != nullptr && next->op == "Normalizer" &&
          next->text("norm", "MAX") == "L1" && next->out.size() == 1) {
        site.import().done.insert(next);
        site.import().flows.insert_or_assign(next->out[0], flow);
      }
  site.give(std::move(flow), 1);
}

// Columns by their numbers.
void extract(Site& site) {
  const Flow& flow = site.flow(0);
  if (flow.axes.empty()) site.refuse("its input has no columns");
  site.give(site.taken(flow, flow.axes.size() - 1,
                       site.known(1, "list of columns").wholes()));
}

}  // namespace

std::vector<Operator> ml_operators() {
  return {{"ArrayFeatureExtractor", extract},
          {"Scaler", scaler},
          {"LinearRegressor", regressor},
          {"LinearClassifier", classifier}};
}

}  // namespace dl::convert::onnx
