// Goes through the nodes that outputs are made of, in their order.

#include "libcore/convert/import/onnx/make.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/axes.h"
#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

using Shapes = std::map<std::string, tensor::Shape>;
using Targets = std::map<std::string, std::string>;

// Stand-in for an open batch: a prime of which no extent of the model is a
// multiple.
std::int64_t open_batch_of(const Model& model) {
  constexpr std::int64_t kPrimes[] = {1000003, 1000033, 1000037, 1000039};
  const auto in = [](const Sizes& shape, std::int64_t prime) {
    return std::ranges::any_of(shape, [&](std::int64_t extent) {
      return extent > 0 && extent % prime == 0;
    });
  };
  for (const std::int64_t prime : kPrimes)
    if (std::ranges::none_of(
            model.constants,
            [&](const auto& one) { return in(one.second.shape(), prime); }) &&
        std::ranges::none_of(
            model.inputs, [&](const auto& one) { return in(one.dims, prime); }))
      return prime;
  return kPrimes[0];
}

class Maker {
 public:
  Maker(const Model& model, const Shapes& shapes, Import& import)
      : model_(model), shapes_(shapes), import_(import) {}

  std::vector<Flow> make();
  const std::vector<Port>& inputs() const { return inputs_; }

 private:
  void add_input(const InputInfo& info, std::size_t batch);
  Sizes dims_of(const InputInfo& info, std::size_t batch) const;
  void run(const Node& node);

  const Model& model_;
  const Shapes& shapes_;
  Import& import_;
  std::vector<Port> inputs_;
};

bool is_named_batch(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name == "n" || name == "b" || name.find("batch") != std::string::npos;
}

// The dimension of the examples: the one that is called so, the first that is
// open, or the first.
std::size_t batch_of(const InputInfo& info) {
  for (std::size_t k = 0; k < info.dims.size(); ++k)
    if (info.dims[k] < 0 && is_named_batch(info.names[k])) return k;
  const auto open = std::ranges::find(info.dims, -1);
  return open == info.dims.end()
             ? 0
             : static_cast<std::size_t>(open - info.dims.begin());
}

// Without the batch: what the user gave, else what the model says.
Sizes Maker::dims_of(const InputInfo& info, std::size_t batch) const {
  Sizes dims = info.dims;
  if (std::ranges::any_of(dims, [](std::int64_t one) { return one < -1; }))
    throw Error{Code::kData, "the input " + in_quotes(info.name) +
                                 " has a negative dimension"};
  if (!dims.empty())
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(batch));
  for (const std::string& key : {info.name, std::string()})
    if (const auto given = shapes_.find(key); given != shapes_.end()) {
      const auto extents = given->second.extents();
      Sizes own(extents.begin(), extents.end());
      for (std::size_t k = 0; k < dims.size(); ++k)
        if (own.size() != dims.size() || (dims[k] > 0 && dims[k] != own[k]))
          throw Error{Code::kUsage,
                      "--shape: the input " + in_quotes(info.name) +
                          " is not of the shape " + given->second.to_string()};
      return own;
    }
  std::string text;
  for (const std::int64_t extent : dims)
    text += (text.empty() ? "" : ",") +
            (extent < 0 ? std::string("?") : std::to_string(extent));
  if (std::ranges::count(dims, -1) > 0)
    throw Error{Code::kUsage,
                "the input " + in_quotes(info.name) + " is of any size, " +
                    text + "; --shape gives one, as in --shape " +
                    displayed(info.name) + "=" + example_of(text)};
  return dims;
}

void Maker::add_input(const InputInfo& info, std::size_t batch) {
  Graph& graph = *import_.graph;
  Inputs& inputs = *import_.inputs;
  const std::string name = graph.fresh_name(info.name);
  if (inputs.steps_first.count(name) > 0) batch = 1;
  Sizes dims = dims_of(info, batch);
  const std::size_t rank = dims.size();
  if (rank > 6 || batch > rank)
    throw Error{Code::kData, "the input " + in_quotes(info.name) + " has " +
                                 std::to_string(rank + 1) + " dimensions"};
  const bool moved = inputs.moved.count(name) > 0;
  Flow flow;
  for (std::size_t k = 0; k < rank; ++k)
    flow.axes.push_back({static_cast<int>(k)});
  if (moved) {
    std::rotate(dims.begin(), dims.begin() + 1, dims.end());
    std::rotate(flow.axes.begin(), flow.axes.end() - 1, flow.axes.end());
  }
  flow.axes.insert(flow.axes.begin() + static_cast<std::ptrdiff_t>(batch),
                   Axis{kBatch});
  if (dims.empty()) {  // one number an example
    dims.push_back(1);
    flow.axes[0].push_back(0);
  }
  const tensor::Shape shape{std::span<const std::int64_t>(dims)};
  const bool tokens = (!is_real(info.type) || inputs.tokens.count(name) > 0) &&
                      inputs.numbers.count(name) == 0;
  static_cast<Value&>(flow) = graph.input(info.name, shape, tokens);
  if (moved)
    import_.notes->insert(
        "the input " + in_quotes(info.name) +
        " takes its channels last here: " + shape.to_string());
  import_.types[flow.node] = info.type;
  inputs_.push_back({info.name, moved, batch});
  import_.flows.emplace(info.name, std::move(flow));
}

// One number that stands for many is soon more than any network has; of an open
// batch it says nothing.
void want_bounded(const Site& site, const Constant& constant) {
  Sizes shape = constant.shape();
  for (std::int64_t& extent : shape)
    if (site.import().open_batch && extent % site.import().batch == 0)
      extent /= site.import().batch;
  if (constant.repeats() && count_of(shape) > kMostFolded)
    site.refuse("it makes a constant of more than " +
                std::to_string(kMostFolded) + " numbers");
}

void Maker::run(const Node& node) {
  if (import_.done.count(&node) > 0) return;
  Site site(import_, node);
  std::vector<const Constant*> in;
  bool known = !node.in.empty();
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    in.push_back(site.constant(i));
    known = known && (in.back() != nullptr || node.in[i].empty());
  }
  if (known) {
    if (const Constant* value = repeated_value(model_.constants, node))
      in.push_back(value);
    // A value that is the same for all examples is stored once.
    std::optional<Constant> once;
    if (node.op == "Expand" && in.size() == 2 && in[1] != nullptr &&
        in[0] != nullptr && !in[0]->uniform()) {
      Sizes shape = in[1]->wholes();
      if (import_.open_batch && !shape.empty() && shape[0] == import_.batch)
        shape[0] = 1;
      const Sizes dims = in[1]->shape();
      once = Constant::of_wholes(dims, std::move(shape));
      in[1] = &*once;
    }
    if (auto constant = folded(node, in)) {
      want_bounded(site, *constant);
      take_numbers(node, *constant, import_.left);
      return site.give(std::move(*constant));
    }
  }
  const Make rule = find_operator(node);
  if (rule == nullptr) site.refuse(why_not(node));
  rule(site);
}

std::vector<Flow> Maker::make() {
  const std::vector<const Node*> nodes = needed(model_);
  std::set<std::string> read;
  for (const Node* node : nodes)
    for (const std::string& in : node->in) {
      import_.readers[in].push_back(node);
      read.insert(in);
    }
  for (const std::string& out : model_.outputs)
    import_.readers[out].push_back(nullptr);
  for (const auto& [name, shape] : shapes_)
    if (!name.empty() &&
        std::ranges::none_of(
            model_.inputs,
            [&, &key = name](const auto& input) { return input.name == key; }))
      throw Error{Code::kUsage,
                  "--shape: the model has no input " + in_quotes(name)};
  bool first = true;
  for (const InputInfo& info : model_.inputs) {
    if (read.count(info.name) == 0) continue;
    const std::size_t batch = batch_of(info);
    if (first) {
      import_.open_batch = info.dims.empty() || info.dims[batch] < 0;
      import_.batch =
          import_.open_batch ? open_batch_of(model_) : info.dims[batch];
    }
    first = false;
    add_input(info, batch);
  }
  for (const Node* node : nodes) run(*node);
  std::vector<Flow> outputs;
  for (const std::string& name : model_.outputs) {
    const auto found = import_.flows.find(name);
    if (found == import_.flows.end())
      throw Error{Code::kData,
                  "its output " + in_quotes(name) + " follows from no input"};
    outputs.push_back(found->second);
  }
  return outputs;
}

// As ONNX has it, or with its channels last.
struct Output {
  Value value;
  bool moved = false;
  std::size_t batch = 0;
};
Output finished(Import& import, const Flow& flow, const std::string& name) {
  Node node;
  node.name = name;
  node.op = "output";
  node.out = {name};
  Site site(import, node);
  Flow given = flow;
  // A batch of one is no axis of what is one with others.
  if (site.extent(flow, kBatch) == 1)
    for (Axis& axis : given.axes)
      if (axis.size() > 1) std::erase(axis, kBatch);
  const Flow plain = site.plain(given);
  std::vector<Axis> ours;
  for (const Axis& axis : plain.axes)
    if (axis.size() == 1 && axis[0] != kBatch) ours.push_back(axis);
  const auto rank = static_cast<int>(ours.size());
  // [n, c, ...] as [..., c].
  bool moved = rank > 1 && ours[0] == Axis{rank - 1} &&
               plain.axes[0] == Axis{kBatch} && plain.axes[1] == ours[0];
  for (int k = 1; k < rank; ++k)
    moved = moved && ours[static_cast<std::size_t>(k)] == Axis{k - 1};
  const auto batch = static_cast<std::size_t>(
      std::ranges::find_if(plain.axes,
                           [](const Axis& axis) {
                             return std::ranges::count(axis, kBatch) > 0;
                           }) -
      plain.axes.begin());
  if (moved || ours.empty()) return {plain, moved, batch};
  return {site.shaped(plain, ours), false, batch};
}

std::vector<Aim> aims_of(const Model& model, const Targets& targets,
                         const Import& import) {
  std::vector<Aim> aims(model.outputs.size());
  for (std::size_t i = 0; i < aims.size(); ++i) {
    const auto target = targets.find(model.outputs[i]);
    if (target == targets.end()) continue;
    const auto input = import.flows.find(target->second);
    if (input != import.flows.end() &&
        import.inputs->moved.count(input->second.node) == 0)
      aims[i].keys["target"] = input->second.node;
  }
  return aims;
}

// With something to train where there is nothing.
Value with_factors(Graph& graph, const Value& value) {
  Value made = graph.add(
      {{"type", "element_multiply"}, {"name", graph.fresh_name("factors")}},
      {value});
  const auto all_of = [](float one) {
    return [one](std::span<float> all) { std::ranges::fill(all, one); };
  };
  graph.fill(made.node, "weight", all_of(1));
  graph.fill(made.node, "bias", all_of(0));
  return made;
}

}  // namespace

Result make_network(const Model& model, const Shapes& shapes,
                    const Targets& targets) {
  if (model.outputs.empty()) throw Error{Code::kData, "it has no outputs"};
  Inputs inputs;
  for (;;) {
    Result result;
    Graph graph(inputs.sequences, {});
    const Inputs before = inputs;
    Import import{.model = &model,
                  .graph = &graph,
                  .inputs = &inputs,
                  .notes = &result.notes,
                  .left = most_numbers(model)};
    try {
      Maker maker(model, shapes, import);
      const std::vector<Flow> flows = maker.make();
      std::vector<Value> values;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        const Output output = finished(import, flows[i], model.outputs[i]);
        values.push_back(output.value);
        result.outputs.push_back(
            {model.outputs[i], output.moved, output.batch});
      }
      graph.drop_unread(values);
      inputs.sequences |= graph.reads_sequences();
      inputs.all_frozen |= !graph.trains();
      if (inputs != before) continue;
      if (!graph.trains()) {
        values[0] = with_factors(graph, values[0]);
        result.notes.insert(
            "nothing of it is trained: here a factor and an offset of its "
            "output are, which are 1 and 0");
      }
      result.document =
          graph.document(values, aims_of(model, targets, import), true);
      result.document["weight_init"] = "xavier_uniform";
      result.fills = graph.fills();
      result.inputs = maker.inputs();
      return result;
    } catch (const Again&) {
      require(inputs != before, "a model that is made again and again");
    }
  }
}

}  // namespace dl::convert::onnx
