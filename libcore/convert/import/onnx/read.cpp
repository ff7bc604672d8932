// The file that wraps ONNX's protobuf.

#include "libcore/convert/import/onnx/read.h"

#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/onnx_pb.h>

#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/io/safetensors.h"

namespace dl::convert::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

constexpr std::size_t kMostWholes = std::size_t{1} << 20;

std::string text_of(const std::string& text) {
  if (!is_utf8(text))
    bad_data("one of its names is no text: " + displayed(text));
  return text;
}

Json texts_of(const google::protobuf::RepeatedPtrField<std::string>& all) {
  Json texts = Json::array();
  for (const std::string& one : all) texts.push_back(text_of(one));
  return texts;
}

template <typename Field>
std::span<const std::byte> bytes_of(const Field& field) {
  return std::as_bytes(
      std::span(field.data(), static_cast<std::size_t>(field.size())));
}

std::string own_bytes(const TensorProto& tensor);

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) {
    if (file.size() > std::numeric_limits<int>::max() ||
        !model_.ParseFromArray(file.data(), static_cast<int>(file.size())))
      bad_data("it is no ONNX file, or a damaged one");
    if (!model_.has_graph()) bad_data("it has no graph: it is no ONNX model");
  }

  void write(const Write& write) {
    graph_["producer"] = displayed(model_.producer_name() +
                                   (model_.producer_version().empty()
                                        ? ""
                                        : " " + model_.producer_version()));
    for (const auto& opset : model_.opset_import())
      graph_["opset"][text_of(opset.domain())] = opset.version();
    for (const auto& entry : model_.metadata_props())
      graph_["metadata"][text_of(entry.key())] = text_of(entry.value());
    const ::onnx::GraphProto& graph = model_.graph();
    if (graph.sparse_initializer_size() > 0)
      bad_data("it has sparse tensors; dense ones would be needed");
    for (const TensorProto& tensor : graph.initializer())
      add(tensor, text_of(tensor.name()));
    graph_["inputs"] = graph_["outputs"] = graph_["nodes"] = Json::array();
    for (const auto& input : graph.input()) add_input(input);
    for (const auto& output : graph.output())
      graph_["outputs"].push_back(text_of(output.name()));
    for (const auto& node : graph.node()) {
      Json& nodes = graph_["nodes"];
      const std::string where = "node " + std::to_string(nodes.size());
      Json made = node_of(node, where);
      for (const AttributeProto& given : node.attribute())
        if (node.op_type() == "Loop" && given.type() == AttributeProto::GRAPH)
          made["body"] = body_of(given.g(), where);
      graph_["nodes"].push_back(std::move(made));
    }
    for (const auto& function : model_.functions())
      graph_["functions"].push_back(text_of(function.domain()) + "." +
                                    text_of(function.name()));
    write(io::safetensors_header({{"graph", graph_.dump()}}, entries_));
    for (const std::vector<float>& numbers : numbers_)
      write(std::as_bytes(std::span(numbers)));
  }

 private:
  void add(const TensorProto& tensor, const std::string& name);
  void add_input(const ::onnx::ValueInfoProto& input);
  // where: what its tensors are called by.
  Json node_of(const ::onnx::NodeProto& node, const std::string& where);
  Json body_of(const ::onnx::GraphProto& graph, const std::string& where);
  Json attribute(const AttributeProto& given, const std::string& name);

  ::onnx::ModelProto model_;
  Json graph_ = Json::object();
  std::set<std::string> names_;
  std::vector<io::TensorEntry> entries_;
  std::vector<std::vector<float>> numbers_;
  std::size_t wholes_ = 0;
};

// How many numbers its dims say.
std::size_t elements_of(const TensorProto& tensor, const std::string& which) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.dims()) {
    if (extent < 0 || extent > kMost || (extent > 0 && count > kMost / extent))
      bad_data(which + " has extents that no tensor has");
    count *= extent;
  }
  return static_cast<std::size_t>(count);
}

Json outside(const TensorProto& tensor, const std::string& which) {
  Json place{{"type", tensor.data_type()}, {"file", ""}, {"offset", 0}};
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") {
      place["file"] = text_of(entry.value());
    } else if (entry.key() == "offset" || entry.key() == "length") {
      std::int64_t value = -1;
      const std::string& text = entry.value();
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || value < 0)
        bad_data(which + " lies at no place of another file");
      place[entry.key()] = value;
    }
  }
  return place;
}

void Reader::add(const TensorProto& tensor, const std::string& name) {
  const std::string which = "its tensor " + in_quotes(name);
  if (tensor.data_type() == TensorProto::STRING) {  // names of classes
    constexpr int kMostTexts = 1 << 16;
    if (tensor.string_data_size() <= kMostTexts)
      graph_["texts"][name] = texts_of(tensor.string_data());
    return;
  }
  if (!names_.insert(name).second) bad_data(which + " is there twice");
  const std::size_t count = elements_of(tensor, which);
  const int type = tensor.data_type();
  if (size_of(type) == 0)
    bad_data(which + " has elements of type " + std::to_string(type) +
             "; numbers of 8 bits or more would be needed");
  const std::vector<std::int64_t> dims(tensor.dims().begin(),
                                       tensor.dims().end());
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Json place = outside(tensor, which);
    place["dims"] = dims;
    graph_["outside"][name] = std::move(place);
    return;
  }
  const std::string own =
      tensor.has_raw_data() ? std::string() : own_bytes(tensor);
  const auto bytes =
      tensor.has_raw_data() ? bytes_of(tensor.raw_data()) : bytes_of(own);
  if (bytes.size() != count * size_of(type))
    bad_data(which + " has " + std::to_string(bytes.size()) + " bytes, not " +
             std::to_string(count * size_of(type)));
  if (is_real(type) && count > 0) {
    if (dims.size() > 8) bad_data(which + " has more than 8 dimensions");
    numbers_.push_back(reals_in(type, bytes));
    entries_.push_back({.name = name, .dtype = "F32", .shape = dims});
    return;
  }
  wholes_ += count;
  if (wholes_ > kMostWholes)
    bad_data("it has more than " + std::to_string(kMostWholes) +
             " whole numbers in tensors: weights are to be reals");
  graph_["wholes"][name] = {{"dims", dims}, {"values", wholes_in(type, bytes)}};
}

// As raw_data has them, of the field that is for the type.
template <typename Stored, typename Field>
std::string narrowed(const Field& field) {
  std::string bytes;
  for (const auto value : field) {
    const auto stored = static_cast<Stored>(value);
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  }
  return bytes;
}

std::string own_bytes(const TensorProto& tensor) {
  switch (static_cast<ElementType>(tensor.data_type())) {
    case ElementType::kFloat:
      return narrowed<float>(tensor.float_data());
    case ElementType::kDouble:
      return narrowed<double>(tensor.double_data());
    case ElementType::kInt64:
      return narrowed<std::int64_t>(tensor.int64_data());
    case ElementType::kUint32:
      return narrowed<std::uint32_t>(tensor.uint64_data());
    case ElementType::kUint64:
      return narrowed<std::uint64_t>(tensor.uint64_data());
    case ElementType::kInt32:
      return narrowed<std::int32_t>(tensor.int32_data());
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kHalf:
    case ElementType::kBrain:
      return narrowed<std::uint16_t>(tensor.int32_data());
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return narrowed<std::uint8_t>(tensor.int32_data());
  }
  return {};
}

void Reader::add_input(const ::onnx::ValueInfoProto& input) {
  const std::string name = text_of(input.name());
  if (names_.count(name) > 0) return;  // an initializer's default, of old files
  if (!input.type().has_tensor_type())
    bad_data("its input " + in_quotes(name) + " is no tensor");
  const auto& tensor = input.type().tensor_type();
  Json dims = Json::array();
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value())
      dims.push_back(dim.dim_value());
    else
      dims.push_back(dim.has_dim_param() ? Json(text_of(dim.dim_param()))
                                         : Json());
  }
  graph_["inputs"].push_back({{"name", name},
                              {"type", tensor.elem_type()},
                              {"dims", std::move(dims)}});
}

Json Reader::attribute(const AttributeProto& given, const std::string& name) {
  switch (given.type()) {
    case AttributeProto::FLOAT:
      return given.f();
    case AttributeProto::INT:
      return given.i();
    case AttributeProto::STRING:
      return text_of(given.s());
    case AttributeProto::FLOATS:
      return std::vector<double>(given.floats().begin(), given.floats().end());
    case AttributeProto::INTS:
      return std::vector<std::int64_t>(given.ints().begin(),
                                       given.ints().end());
    case AttributeProto::STRINGS:
      return texts_of(given.strings());
    case AttributeProto::TENSOR:
      add(given.t(), name);
      return {{"tensor", name}};
    default:
      return Json::object();
  }
}

Json Reader::node_of(const ::onnx::NodeProto& node, const std::string& where) {
  Json attributes = Json::object();
  for (const AttributeProto& given : node.attribute()) {
    const std::string key = text_of(given.name());
    attributes[key] = attribute(given, where + ": " + key);
  }
  return {{"name", text_of(node.name())},
          {"op", text_of(node.op_type())},
          {"domain", text_of(node.domain())},
          {"in", texts_of(node.input())},
          {"out", texts_of(node.output())},
          {"attributes", std::move(attributes)}};
}

// Nothing is read of a loop in a loop.
Json Reader::body_of(const ::onnx::GraphProto& graph,
                     const std::string& where) {
  for (const TensorProto& tensor : graph.initializer())
    add(tensor, text_of(tensor.name()));
  Json body{{"inputs", Json::array()},
            {"outputs", Json::array()},
            {"nodes", Json::array()}};
  for (const auto& input : graph.input())
    body["inputs"].push_back(text_of(input.name()));
  for (const auto& output : graph.output())
    body["outputs"].push_back(text_of(output.name()));
  for (const auto& node : graph.node())
    body["nodes"].push_back(
        node_of(node, where + " node " + std::to_string(body["nodes"].size())));
  return body;
}

}  // namespace

bool is_onnx(std::span<const std::byte> file) {
  // Field 1, ir_version, a number; then a field from 2 on.
  return file.size() > 4 && file[0] == std::byte{0x08} &&
         file[1] > std::byte{0} && file[1] < std::byte{0x40} &&
         (file[2] & std::byte{0x07}) <= std::byte{2} &&
         file[2] >= std::byte{0x10};
}

void write_graph(std::span<const std::byte> file, const Write& write) try {
  Reader(file).write(write);
} catch (const Json::exception&) {
  throw Error{Code::kData, "it is a damaged ONNX file"};
}

}  // namespace dl::convert::onnx
