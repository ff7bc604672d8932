// A pattern is an expression of operators, as "Mul(x,Tanh(Softplus(x)))":
//   x y   any value, the same wherever the letter stands
//   $a    a constant of one number, which becomes the attribute a
//   %w    a constant, the same wherever it stands, which becomes an input
//   _     anything, as a shape that is computed
//   0.5   a constant of this number, to four digits
// The attributes of an AveragePool become those of the node, and of a Softmax
// or Concat the axis. The order of operands of Mul and Add is free, and more
// than two inputs are those of several in a row.  Operators over axes have the
// same ones throughout, which become the attribute axes.  A norm keeps the axes
// that it is over, of which tf2onnx writes a mean in another shape as well.

#include "libcore/convert/import/onnx/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <iterator>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/older.h"

namespace dl::convert::onnx {
namespace {

struct Pattern {
  std::string op;    // or ""
  std::string leaf;  // "x", "$a", "%w", "0.5"
  std::vector<Pattern> in;
};

struct Rule {
  std::string pattern, op, domain;
  Json attributes = Json::object();
};

// x r - mean r + b with r = w / root of the variance; w and b may be none.
std::vector<Rule> norms_of_tensorflow() {
  std::vector<Rule> all;
  const Json none = Json::object(), places{{"axis", 2}};
  for (const bool pooled : {false, true})
    for (const bool reshaped : {false, true})
      for (const bool scaled : {false, true})
        for (const bool offset : {false, true}) {
          const std::string average =
                                pooled ? "GlobalAveragePool(" : "ReduceMean(",
                            mean = average + "x)",
                            less =
                                "Sub(x," +
                                (reshaped ? "Reshape(" + mean + ",%s)" : mean) +
                                ")",
                            root = "Reciprocal(Sqrt(Add(" + average + "Mul(" +
                                   less + "," + less + ")),$epsilon)))",
                            r = scaled ? "Mul(" + root + ",%w)" : root,
                            shift = "Mul(Neg(" + mean + ")," + r + ")";
          all.push_back({"Add(Mul(x," + r + ")," +
                             (offset ? "Add(" + shift + ",%b)" : shift) + ")",
                         "LayerNormalization", "", pooled ? places : none});
        }
  return all;
}

std::vector<Rule> usual_rules() {
  const Json none = Json::object(), by_tanh{{"approximate", "tanh"}},
             soft{{"soft", 1}};
  const std::string v = "Mul(Abs(x),0.6666667)",
                    squared = "Mul(" + v + "," + v + ")",
                    centred = "Sub(x,ReduceMean(x))";
  const auto normed = [&](const std::string& square) {
    return "Div(" + centred + ",Sqrt(Add(ReduceMean(" + square +
           "),$epsilon)))";
  };
  const std::string by_power = normed("Pow(" + centred + ",2)"),
                    by_product = normed("Mul(" + centred + "," + centred + ")");
  // A mean over channels, as one of volumes.
  const auto responding = [](const std::string& seen) {
    return "Div(x,Pow(Add(Mul(Squeeze(AveragePool(Pad(" + seen +
           "(Mul(x,x),%s),%p)),%a),$alpha),$bias),$beta))";
  };
  const std::string mean_square = "Sqrt(Add(ReduceMean(Pow(x,2)),$epsilon))",
                    mean_product = "Sqrt(Add(ReduceMean(Mul(x,x)),$epsilon))";
  return {
      {responding("Reshape"), "LRN", "", none},
      {responding("Unsqueeze"), "LRN", "", none},
      {"Mul(x,0.5,Add(Erf(Div(x,1.4142136)),1))", "Gelu", "", none},
      {"Mul(x,0.5,Add(Erf(Mul(x,0.7071068)),1))", "Gelu", "", none},
      {"Mul(x,0.5,Add(Tanh(Mul(0.7978846,Add(x,Mul(0.044715,Pow(x,3))))),1))",
       "Gelu", "", by_tanh},
      {"Mul(x,0.5,Add(Tanh(Mul(0.7978846,Add(x,Mul(0.044715,x,x,x)))),1))",
       "Gelu", "", by_tanh},
      {"Mul(x,0.5,Add(Tanh(Mul(0.7978846,x,Add(1,Mul(0.044715,Pow(x,2))))),1))",
       "Gelu", "", by_tanh},
      {"Mul(x,0.5,Add(Tanh(Mul(0.7978846,x,Add(1,Mul(0.044715,x,x)))),1))",
       "Gelu", "", by_tanh},
      {"Mul(x,Sigmoid(x))", "Swish", kOwnDomain, none},
      {"Mul(x,Sigmoid(Mul(x,$beta)))", "Swish", kOwnDomain, none},
      {"Mul(x,Tanh(Softplus(x)))", "Mish", "", none},
      {"Mul(x,x,x)", "Cube", kOwnDomain, none},
      {"Pow(x,3)", "Cube", kOwnDomain, none},
      {"Relu(Tanh(x))", "RectifiedTanh", kOwnDomain, none},
      {"Div(x,Add(1,Abs(x)))", "Softsign", "", none},
      {"Where(Greater(x,20),x,Softplus(x))", "Softplus", "", none},
      {"Where(Greater(Mul(x,$beta),$threshold),x,Div(Softplus(Mul(x,$beta)),"
       "$beta))",
       "ScaledSoftplus", kOwnDomain, none},
      {"Log(Sigmoid(x))", "LogSigmoid", kOwnDomain, none},
      {"Log(Softmax(x))", "LogSoftmax", "", none},
      {"Where(LessOrEqual(Abs(x),$lambd),0,x)", "Shrink", "", none},
      {"Where(Or(Cast(Greater(x,$lambd)),Cast(Less(x,$low))),x,0)", "Shrink",
       "", none},
      {"Add(Where(Greater(x,$lambd),Sub(x,$lambd),0),Where(Less(x,$low),Add(x,"
       "$lambd),0))",
       "Shrink", "", soft},
      {"Where(Greater(Abs(x),$lambd),Sub(x,Mul(Sign(x),$lambd)),Mul(x,0))",
       "Shrink", "", soft},
      {"Where(Greater(x,0),x,Mul(x,$alpha))", "LeakyRelu", "", none},
      {"Where(GreaterOrEqual(x,0),x,Mul(x,$alpha))", "LeakyRelu", "", none},
      {"Where(LessOrEqual(x,$threshold),$value,x)", "Threshold", kOwnDomain,
       none},
      {"Where(Greater(x,$threshold),x,$value)", "Threshold", kOwnDomain, none},
      {"Mul(x,Cast(Greater(x,0)))", "Relu", "", none},
      {"Where(Less(x,$threshold),Mul(Sub(x,$threshold),$slope),Min(x,$limit))",
       "CappedRelu", kOwnDomain, none},
      {"Mul(1.7159,Sign(x),Sub(1,Reciprocal(Sum(1," + v + "," + squared +
           ",Mul(1.41645,Mul(" + squared + "," + squared + "))))))",
       "RationalTanh", kOwnDomain, none},
      {"Add(Mul(" + by_power + ",%w),%b)", "LayerNormalization", "", none},
      {"Add(Mul(" + by_product + ",%w),%b)", "LayerNormalization", "", none},
      {by_power, "LayerNormalization", "", none},
      {by_product, "LayerNormalization", "", none},
      {"Where(IsNaN(Softmax(x)),0,Softmax(x))", "Softmax", "", none},
      {"Div(x,Sqrt(Add(ReduceSumSquare(x),$epsilon)))", "L2Normalize",
       kOwnDomain, none},
      {"Div(x,Expand(Clip(ReduceL2(x),$floor),_))", "L2Normalize", kOwnDomain,
       none},
      {"Div(x,Clip(ReduceL2(x),$floor))", "L2Normalize", kOwnDomain, none},
      {"Div(x,ReduceL2(x))", "L2Normalize", kOwnDomain, none},
      {"Pow(ReduceSum(Pow(Abs(x),$p)),$root)", "ReducePNorm", kOwnDomain, none},
      {"Pow(Mul(AveragePool(Pow(Abs(x),$p)),$points),$root)", "PNormPool",
       kOwnDomain, none},
      {"Pow(ReduceSum(Pow(x,2)),0.5)", "ReduceL2", "", none},
      {"Sqrt(ReduceSum(Pow(x,2)))", "ReduceL2", "", none},
      {"Sqrt(ReduceSum(Mul(x,x)))", "ReduceL2", "", none},
      {"Sqrt(ReduceSumSquare(x))", "ReduceL2", "", none},
      {"Div(x," + mean_square + ")", "RMSNormalization", "", none},
      {"Div(x," + mean_product + ")", "RMSNormalization", "", none},
      {"Mul(x,Reciprocal(" + mean_square + "))", "RMSNormalization", "", none},
      {"Mul(x,Reciprocal(" + mean_product + "))", "RMSNormalization", "", none},
      {"Mul(x,Div(1," + mean_square + "))", "RMSNormalization", "", none},
      {"Mul(x,Div(1," + mean_product + "))", "RMSNormalization", "", none},
      {"Sqrt(Add(ReduceSumSquare(Sub(x,y)),$epsilon))", "L2Distance",
       kOwnDomain, none},
      {"Div(ReduceSum(Mul(x,y)),Max(Sqrt(Mul(ReduceSum(Mul(x,x)),ReduceSum(Mul("
       "y,y)))),$floor))",
       "CosineSimilarity", kOwnDomain, none},
      {"Concat(Sub(1,Sigmoid(x)),Sigmoid(x))", "SigmoidPair", kOwnDomain, none},
      {"ReduceSum(Mul(x,y))", "Dot", kOwnDomain, none}};
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> made = usual_rules();
    std::ranges::move(norms_of_tensorflow(), std::back_inserter(made));
    return made;
  }();
  return all;
}

// Reads "Op(a,b)" or a leaf.
Pattern parse(const char*& at) {
  const char* begin = at;
  while (*at != '\0' && *at != '(' && *at != ',' && *at != ')') ++at;
  const std::string word(begin, at);
  if (*at != '(') return {.op = {}, .leaf = word, .in = {}};
  Pattern pattern{.op = word, .leaf = {}, .in = {}};
  do {
    ++at;
    pattern.in.push_back(parse(at));
  } while (*at == ',');
  ++at;
  return pattern;
}

bool is_near(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max(std::abs(a), std::abs(b));
}

bool is_reduction(const std::string& op) { return op.starts_with("Reduce"); }

struct Match {
  std::map<std::string, std::string> values;  // by letter
  std::map<std::string, double> numbers;
  std::vector<std::pair<std::string, std::string>> constants;  // "%w", and it
  std::optional<Sizes> axes;
  std::optional<std::int64_t> axis;  // of a Softmax or Concat
  bool keeps = true;                 // what is reduced stays an axis

  std::string constant(const std::string& leaf) const {
    const auto one = std::ranges::find(
        constants, leaf, &std::pair<std::string, std::string>::first);
    return one == constants.end() ? "" : one->second;
  }
  Json window = Json::object();
};

class Matcher {
 public:
  explicit Matcher(const Model& model) : model_(model) {
    for (const Node& node : model.nodes)
      for (const std::string& out : node.out) makers_[out] = &node;
  }

  bool matches(const Pattern& pattern, const Node& node, Match& found) const;

 private:
  bool matches(const Pattern& pattern, const std::string& value,
               Match& found) const;
  bool matches_leaf(const std::string& leaf, const std::string& value,
                    Match& found) const;
  bool in_any_order(const std::vector<Pattern>& patterns,
                    std::vector<std::string> values, Match& found) const;
  void spread(const std::string& op, std::size_t count, std::size_t from,
              std::vector<std::string> values,
              std::vector<std::vector<std::string>>& all) const;
  bool add_axes(const Node& node, Match& found) const;

  const Model& model_;
  std::map<std::string, const Node*> makers_;
};

bool Matcher::matches_leaf(const std::string& leaf, const std::string& value,
                           Match& found) const {
  const auto constant = model_.constants.find(value);
  const bool known = constant != model_.constants.end();
  if (leaf[0] == '_') return true;
  if (leaf[0] == 'x' || leaf[0] == 'y')
    return !known && found.values.emplace(leaf, value).first->second == value;
  if (!known) return false;
  if (leaf[0] == '%') {
    if (found.constant(leaf).empty()) found.constants.emplace_back(leaf, value);
    return found.constant(leaf) == value;
  }
  if (constant->second.elements() != 1) return false;
  const double number = constant->second.at(0);
  if (leaf[0] == '$')
    return std::isfinite(number) &&
           found.numbers.emplace(leaf.substr(1), number).first->second ==
               number;
  return is_near(number, std::atof(leaf.c_str()));
}

bool Matcher::add_axes(const Node& node, Match& found) const {
  Sizes axes = node.integers("axes", {});
  if (!node.input(1).empty()) {
    const auto given = model_.constants.find(node.in[1]);
    if (given == model_.constants.end()) return false;
    axes = given->second.wholes();
  }
  const bool keeps = node.integer("keepdims", 1) != 0;
  if (!found.axes) {
    found.axes = axes;
    found.keeps = keeps;
  }
  return *found.axes == axes && found.keeps == keeps &&
         node.integer("noop_with_empty_axes", 0) == 0;
}

bool Matcher::matches(const Pattern& pattern, const std::string& value,
                      Match& found) const {
  if (pattern.op.empty()) return matches_leaf(pattern.leaf, value, found);
  const auto maker = makers_.find(value);
  return maker != makers_.end() && maker->second->out[0] == value &&
         matches(pattern, *maker->second, found);
}

// All ways in which a product of products has as many factors.
void Matcher::spread(const std::string& op, std::size_t count, std::size_t from,
                     std::vector<std::string> values,
                     std::vector<std::vector<std::string>>& all) const {
  if (values.size() == count) {
    all.push_back(std::move(values));
    return;
  }
  for (std::size_t i = from; i < values.size(); ++i) {
    const auto maker = makers_.find(values[i]);
    if (maker == makers_.end() || maker->second->op != op ||
        maker->second->in.size() != 2)
      continue;
    std::vector<std::string> more = values;
    more[i] = maker->second->in[0];
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                maker->second->in[1]);
    spread(op, count, i, std::move(more), all);
  }
}

bool Matcher::in_any_order(const std::vector<Pattern>& patterns,
                           std::vector<std::string> values,
                           Match& found) const {
  std::ranges::sort(values);
  do {
    Match tried = found;
    bool good = true;
    for (std::size_t i = 0; i < patterns.size() && good; ++i)
      good = matches(patterns[i], values[i], tried);
    if (good) {
      found = std::move(tried);
      return true;
    }
  } while (std::ranges::next_permutation(values).found);
  return false;
}

bool Matcher::matches(const Pattern& pattern, const Node& node,
                      Match& found) const {
  if (pattern.op != node.op || !node.domain.empty()) return false;
  if (node.has("broadcast") && node.has("axis")) return false;  // older.h
  if (is_reduction(node.op)) {
    if (node.in.empty()) return false;
    return add_axes(node, found) && matches(pattern.in[0], node.in[0], found);
  }
  const bool free = node.op == "Mul" || node.op == "Add";
  if (free && node.in.size() == 2) {
    std::vector<std::vector<std::string>> all;
    spread(node.op, pattern.in.size(), 0, node.in, all);
    return std::ranges::any_of(all, [&](const auto& values) {
      return in_any_order(pattern.in, values, found);
    });
  }
  // Inputs left out at the end count as absent.
  std::size_t count = node.in.size();
  while (count > 0 && node.in[count - 1].empty()) --count;
  if (count != pattern.in.size()) return false;
  if (node.op == "Softmax" || node.op == "Concat") {
    const std::int64_t axis =
        node.op == "Concat" ? concat_axis(node)
                            : node.integer("axis", joins_axes(node) ? 1 : -1);
    if (found.axis.value_or(axis) != axis) return false;
    found.axis = axis;
  }
  if (node.op == "AveragePool") found.window = node.attributes;
  Match tried = found;
  for (std::size_t i = 0; i < count; ++i)
    if (!matches(pattern.in[i], node.in[i], tried)) return false;
  found = std::move(tried);
  return true;
}

bool is_norm(const Rule& rule) {
  return rule.op == "LayerNormalization" || rule.op == "RMSNormalization" ||
         rule.op == "L2Normalize";
}

Node made_of(const Node& last, const Rule& rule, const Match& found) {
  Node node = last;
  node.op = rule.op;
  node.domain = rule.domain;
  node.in = {found.values.at("x")};
  if (const auto y = found.values.find("y"); y != found.values.end())
    node.in.push_back(y->second);
  if (is_norm(rule))
    node.in.insert(node.in.end(), {found.constant("%w"), found.constant("%b"),
                                   found.constant("%s")});
  else
    for (const auto& [leaf, value] : found.constants) node.in.push_back(value);
  node.attributes = rule.attributes;
  node.attributes.update(found.window);
  if (found.axis) node.attributes["axis"] = *found.axis;
  for (const auto& [name, number] : found.numbers)
    node.attributes[name] = number;
  if (found.axes) {
    node.attributes["axes"] = *found.axes;
    node.attributes["keepdims"] = found.keeps ? 1 : 0;
  }
  return node;
}

void find_patterns(Model& model) {
  static const std::vector<Pattern> patterns = [] {
    std::vector<Pattern> all;
    for (const Rule& rule : rules()) {
      const char* at = rule.pattern.c_str();
      all.push_back(parse(at));
    }
    return all;
  }();
  const Matcher matcher(model);
  std::deque<std::pair<std::size_t, Node>> made;
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const Node& node = model.nodes[n];
      Match found;
      if (node.out.empty() || patterns[i].op != node.op ||
          !matcher.matches(patterns[i], node, found) ||
          found.values.count("x") == 0 || (is_norm(rules()[i]) && !found.keeps))
        continue;
      made.emplace_back(n, made_of(node, rules()[i], found));
      break;
    }
  for (auto& [n, node] : made) model.nodes[n] = std::move(node);
}

void fold_constants(Model& model) {
  std::int64_t left = most_numbers(model);
  for (const Node& node : model.nodes) {
    if (node.out.size() != 1) continue;
    if (node.op == "Constant" || node.op == "Shape") continue;
    const auto in = constant_inputs(model.constants, node);
    if (!in) continue;
    auto constant = folded(node, *in);
    // A constant that repeats one number by the batch is folded once the batch
    // is known.
    if (!constant ||
        (constant->repeats() && constant->elements() > kMostFolded))
      continue;
    take_numbers(node, *constant, left);
    model.constants.emplace(node.out[0], std::move(*constant));
  }
}

// Constants are nodes in some files.
void name_constants(Model& model) {
  for (const Node& node : model.nodes) {
    if (node.op != "Constant" || !node.domain.empty() || node.out.size() != 1)
      continue;
    const auto& given = node.attributes;
    std::optional<Constant> made;
    if (given.contains("value") && given["value"].is_object() &&
        given["value"].contains("tensor")) {
      const auto found =
          model.constants.find(given["value"]["tensor"].get<std::string>());
      if (found != model.constants.end()) made = found->second;
    } else if (given.contains("value_int")) {
      made = Constant::of_wholes({}, {node.integer("value_int", 0)});
    } else if (given.contains("value_float")) {
      made = Constant::of_reals(
          {}, {static_cast<float>(node.number("value_float", 0))});
    } else if (given.contains("value_ints")) {
      Sizes values = node.integers("value_ints", {});
      const auto count = static_cast<std::int64_t>(values.size());
      made = Constant::of_wholes({count}, std::move(values));
    } else if (given.contains("value_floats")) {
      const auto values = node.numbers("value_floats");
      made = Constant::of_reals({static_cast<std::int64_t>(values.size())},
                                {values.begin(), values.end()});
    }
    if (made) model.constants.emplace(node.out[0], std::move(*made));
  }
}

}  // namespace

void simplify(Model& model) {
  name_constants(model);
  fold_constants(model);
  find_patterns(model);
}

}  // namespace dl::convert::onnx
