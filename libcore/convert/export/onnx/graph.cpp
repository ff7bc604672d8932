// The file that wraps libonnx and protobuf.

#include "libcore/convert/export/onnx/graph.h"

#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "libcore/base/error.h"

namespace dl::convert {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw_data of ONNX is little-endian");

constexpr int kIrVersion = 8;  // that opset 17 came with
constexpr char kBatch[] = "batch";

int proto_type(OnnxType type) {
  switch (type) {
    case OnnxType::kFloat:
      return ::onnx::TensorProto::FLOAT;
    case OnnxType::kInt32:
      return ::onnx::TensorProto::INT32;
    case OnnxType::kInt64:
      break;
  }
  return ::onnx::TensorProto::INT64;
}

void set(::onnx::AttributeProto& to, std::int64_t value) {
  to.set_type(::onnx::AttributeProto::INT);
  to.set_i(value);
}
void set(::onnx::AttributeProto& to, double value) {
  to.set_type(::onnx::AttributeProto::FLOAT);
  to.set_f(static_cast<float>(value));
}
void set(::onnx::AttributeProto& to, const std::string& value) {
  to.set_type(::onnx::AttributeProto::STRING);
  to.set_s(value);
}
void set(::onnx::AttributeProto& to, const Ints& values) {
  to.set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) to.add_ints(value);
}
void set(::onnx::AttributeProto& to, const Reals& values) {
  to.set_type(::onnx::AttributeProto::FLOATS);
  for (const double value : values) to.add_floats(static_cast<float>(value));
}
void set(::onnx::AttributeProto& to, const std::vector<std::string>& values) {
  to.set_type(::onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) to.add_strings(value);
}

void describe(::onnx::ValueInfoProto& value, const std::string& name, int type,
              const tensor::Shape& shape) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param(kBatch);
  for (const std::int64_t extent : shape.extents())
    tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

struct OnnxGraph::State {
  ::onnx::ModelProto model;
  std::set<std::string> names;  // of values
  std::map<std::tuple<Ints, Reals, Ints>, std::string> constants;
  double bytes = 0;  // of weights

  ::onnx::GraphProto& graph() { return *model.mutable_graph(); }

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !names.insert(name).second; ++i)
      name = wanted + "_" + std::to_string(i);
    return name;
  }

  ::onnx::TensorProto& tensor(const std::string& name, int type,
                              const Ints& shape) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t extent : shape) tensor.add_dims(extent);
    return tensor;
  }

  template <typename T>
  void fill(::onnx::TensorProto& tensor, const std::vector<T>& values) {
    const std::size_t size = values.size() * sizeof(T);
    bytes += static_cast<double>(size);
    if (bytes >= std::numeric_limits<std::int32_t>::max())
      throw Error{Code::kData,
                  "its weights are more than the 2 GiB that an ONNX file can "
                  "hold"};
    tensor.mutable_raw_data()->resize(size);
    if (size > 0)
      std::memcpy(tensor.mutable_raw_data()->data(), values.data(), size);
  }

  std::string constant(const Ints& integers, const Reals& reals,
                       const Ints& shape) {
    const auto [it, made] =
        constants.try_emplace(std::tuple{integers, reals, shape});
    if (!made) return it->second;
    it->second = unique("constant" + std::to_string(constants.size()));
    if (reals.empty()) {
      fill(tensor(it->second, ::onnx::TensorProto::INT64, shape), integers);
    } else {
      const std::vector<float> floats(reals.begin(), reals.end());
      fill(tensor(it->second, ::onnx::TensorProto::FLOAT, shape), floats);
    }
    return it->second;
  }
};

OnnxGraph::OnnxGraph() : state_(std::make_unique<State>()) {
  state_->graph().set_name("network");
}
OnnxGraph::~OnnxGraph() = default;

std::string OnnxGraph::input(const std::string& name, OnnxType type,
                             const tensor::Shape& shape) {
  const std::string own = state_->unique(name);
  describe(*state_->graph().add_input(), own, proto_type(type), shape);
  return own;
}

void OnnxGraph::output(const std::string& name, const std::string& value,
                       const tensor::Shape& shape) {
  const std::string own = state_->unique(name);
  auto& node = *state_->graph().add_node();
  node.set_op_type("Identity");
  node.set_name(own);
  node.add_input(value);
  node.add_output(own);
  describe(*state_->graph().add_output(), own, ::onnx::TensorProto::FLOAT,
           shape);
}

void OnnxGraph::metadata(const std::string& key, const std::string& value) {
  auto& entry = *state_->model.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

std::vector<std::string> OnnxGraph::node_of(
    const std::string& type, const std::vector<std::string>& inputs,
    const OnnxAttributes& attributes, int outputs) {
  auto& node = *state_->graph().add_node();
  const std::string name = state_->unique(scope_ + "/" + type);
  node.set_op_type(type);
  node.set_name(name);
  std::size_t given = inputs.size();
  while (given > 0 && inputs[given - 1].empty()) --given;
  for (std::size_t i = 0; i < given; ++i) node.add_input(inputs[i]);
  std::vector<std::string> made;
  for (int i = 0; i < outputs; ++i) {
    made.push_back(i == 0 ? name
                          : state_->unique(name + "_" + std::to_string(i)));
    node.add_output(made.back());
  }
  for (const auto& [key, value] : attributes) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit([&](const auto& v) { set(attribute, v); }, value);
  }
  return made;
}

std::string OnnxGraph::node(const std::string& type,
                            const std::vector<std::string>& inputs,
                            const OnnxAttributes& attributes) {
  return node_of(type, inputs, attributes, 1)[0];
}

std::string OnnxGraph::weight(const std::string& name, const Ints& shape,
                              const std::vector<float>& values) {
  if (state_->names.insert(name).second)
    state_->fill(state_->tensor(name, ::onnx::TensorProto::FLOAT, shape),
                 values);
  return name;
}

std::string OnnxGraph::ints(const Ints& values) {
  return state_->constant(values, {},
                          {static_cast<std::int64_t>(values.size())});
}

std::string OnnxGraph::integer(std::int64_t value) {
  return state_->constant({value}, {}, {});
}

std::string OnnxGraph::reals(const Reals& values, const Ints& shape) {
  return state_->constant({}, values, shape);
}

std::string OnnxGraph::cast(const std::string& x, OnnxType type) {
  return node("Cast", {x}, {{"to", std::int64_t{proto_type(type)}}});
}

// Until opset 18 the axes of ReduceSum alone are an input.
std::string OnnxGraph::reduce(const std::string& type, const std::string& x,
                              const Ints& axes, bool keep) {
  const OnnxAttributes kept{{"keepdims", std::int64_t{keep}}};
  if (type == "ReduceSum") return node(type, {x, ints(axes)}, kept);
  return node(type, {x}, {{"axes", axes}, kept[0]});
}

std::string OnnxGraph::slice(const std::string& x, std::int64_t axis,
                             std::int64_t begin, std::int64_t end,
                             std::int64_t step) {
  return node("Slice",
              {x, ints({begin}), ints({end}), ints({axis}), ints({step})});
}

std::string OnnxGraph::finish(const std::string& version) try {
  ::onnx::ModelProto& model = state_->model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("dl-tools");
  model.set_producer_version(version);
  auto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(kOnnxOpset);
  ::onnx::checker::check_model(model);
  // Strict, and with the values of shapes: what it says of the outputs has to
  // be what the network says.
  ::onnx::shape_inference::InferShapes(
      model, ::onnx::OpSchemaRegistry::Instance(),
      ::onnx::ShapeInferenceOptions{true, 1, true});
  return model.SerializeAsString();
} catch (const Error&) {
  throw;
} catch (const std::exception& e) {  // of ONNX
  throw Error{Code::kBug,
              std::string("internal error: ONNX's checker says: ") + e.what()};
}

}  // namespace dl::convert
