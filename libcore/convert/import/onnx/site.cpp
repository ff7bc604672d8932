// Common parts of the importers of ONNX nodes.

#include "libcore/convert/import/onnx/site.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/names.h"

namespace dl::convert::onnx {
namespace {

// Name of the layer: that of its weights without their last part, else of the
// node, without what writers add to it: "layer1.0.conv1" of
// "layer1.0.conv1.weight", and of "/layer1.0/conv1/Conv".
std::string usual_name(const Node& node) {
  for (std::size_t i = 1; i < node.in.size(); ++i) {
    const std::string& in = node.in[i];
    const std::size_t end = in.find_last_of("./");
    constexpr std::string_view kUsual[] = {"weight", "gamma", "kernel", "w"};
    if (end == std::string::npos || end == 0) continue;
    std::string last = in.substr(end + 1);
    if (std::ranges::find(kUsual, last) != std::end(kUsual))
      return in.substr(0, end);
  }
  std::string name = node.name;
  while (name.starts_with('/')) name.erase(0, 1);
  if (name.ends_with("/" + node.op))
    name.resize(name.size() - node.op.size() - 1);
  std::ranges::replace(name, '/', '.');
  if (!name.empty()) return name;
  for (const char c : node.op)
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// Replaces the stand-in for an open batch, a number that nobody gave.
std::string with_batch(const std::string& text, std::int64_t batch) {
  std::string shown;
  for (const char* at = text.data(); *at != '\0';) {
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(at, text.data() + text.size(), value);
    if (error == std::errc() && value > 0 && value % batch == 0)
      shown += value == batch
                   ? "the batch"
                   : std::to_string(value / batch) + " times the batch";
    else
      shown.append(at, std::max(end, at + 1));
    at = std::max(end, at + 1);
  }
  return shown;
}

}  // namespace

const Constant* Site::constant(std::size_t i) const {
  const std::string& name = node_->input(i);
  const auto& given = import_->model->constants;
  if (const auto found = given.find(name); found != given.end())
    return &found->second;
  const auto& made = import_->constants;
  if (const auto found = made.find(name); found != made.end())
    return &found->second;
  return nullptr;
}

const Constant& Site::known(std::size_t i, const char* what) const {
  if (const Constant* found = constant(i)) return *found;
  refuse(std::string("its ") + what +
         " is computed; a constant would be needed");
}

const Flow& Site::flow(std::size_t i) const {
  const auto found = import_->flows.find(node_->input(i));
  if (found != import_->flows.end()) return found->second;
  if (constant(i) != nullptr)
    refuse("its input " + in_quotes(node_->input(i)) +
           " is a constant; a value would be needed");
  refuse("it reads " + in_quotes(node_->input(i)) +
         ", which no node before it gives");
}

void Site::move_channels(const Flow& flow) const {
  constexpr std::string_view kByChannel[] = {"Add",  "Sub",    "Mul",  "Div",
                                             "Cast", "Gather", "Slice"};
  if (flow.shape().rank() < 2 || flow.axes.size() < 3 ||
      flow.axes[1] != Axis{0} || !import_->graph->is_input(flow.node))
    return;
  constexpr int kMostSteps = 16;
  const Node* node = node_;
  for (int steps = 0; node->op != "Conv"; ++steps) {
    if (steps == kMostSteps ||
        std::ranges::find(kByChannel, node->op) == std::end(kByChannel))
      return;
    const auto found = import_->readers.find(node->out.at(0));
    if (found == import_->readers.end() || found->second.size() != 1 ||
        found->second[0] == nullptr || found->second[0]->out.empty())
      return;
    node = found->second[0];
  }
  if (import_->inputs->moved.insert(flow.node).second) throw Again{};
}

std::optional<Sizes> Site::list(std::size_t i, const char* key) const {
  if (has(i)) return known(i, key).wholes();
  if (node_->has(key)) return node_->integers(key, {});
  return std::nullopt;
}

void Site::refuse(const std::string& what) const {
  throw Error{
      Code::kData,
      node_->called() + ": " +
          (import_->open_batch ? with_batch(what, import_->batch) : what)};
}

std::size_t Site::axis(std::int64_t given, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (given < -r || given >= r)
    refuse("its axis " + std::to_string(given) + " is none of its input's " +
           std::to_string(rank));
  return static_cast<std::size_t>(given < 0 ? given + r : given);
}

std::int64_t Site::extent(const Flow& flow, int part) const {
  return part == kBatch ? import_->batch : flow.shape()[part];
}

std::int64_t Site::extent_of(const Flow& flow, std::size_t axis) const {
  std::int64_t product = 1;
  for (const int part : flow.axes[axis]) product *= extent(flow, part);
  return product;
}

Sizes Site::shape(const Flow& flow) const {
  Sizes all;
  for (std::size_t k = 0; k < flow.axes.size(); ++k)
    all.push_back(extent_of(flow, k));
  return all;
}

Value Site::add(const std::string& part, Json layer,
                const std::vector<Value>& from, const std::string& shares) {
  const std::string name = usual_name(*node_);
  layer["name"] =
      import_->graph->fresh_name(part.empty() ? name : name + "." + part);
  try {
    return import_->graph->add(std::move(layer), from, shares);
  } catch (const Error& e) {
    refuse(e.what());
  }
}

void Site::give(Flow flow, std::size_t i) {
  const Node& last = i == 0 && last_ != nullptr ? *last_ : *node_;
  if (i < last.out.size() && !last.out[i].empty())
    import_->flows.insert_or_assign(last.out[i], std::move(flow));
}

void Site::give(Constant constant, std::size_t i) {
  if (i < node_->out.size() && !node_->out[i].empty())
    import_->constants.insert_or_assign(node_->out[i], std::move(constant));
}

const std::string& Site::output() const {
  return (last_ != nullptr ? *last_ : *node_).out[0];
}

const Node* Site::only_reader() const {
  const auto found = import_->readers.find(output());
  if (found == import_->readers.end() || found->second.size() != 1)
    return nullptr;
  const Node* next = found->second[0];
  if (next == nullptr || next->out.empty()) return nullptr;
  return std::ranges::count(next->in, output()) == 1 ? next : nullptr;
}

void Site::take_over(const Node* next) {
  import_->done.insert(next);
  last_ = next;
}

}  // namespace dl::convert::onnx
