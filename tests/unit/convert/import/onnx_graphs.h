// Graphs of ONNX made by hand, for tests of what dl-import makes of them.

#ifndef DL_TESTS_UNIT_CONVERT_IMPORT_ONNX_GRAPHS_H_
#define DL_TESTS_UNIT_CONVERT_IMPORT_ONNX_GRAPHS_H_

#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/convert/import/check.h"
#include "libcore/convert/import/import.h"
#include "tests/unit/scratch.h"

namespace dl::convert::testing {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<float>;

// An input "x", an output "y", nodes and tensors between them.
class Graph {
 public:
  // x: with the batch, which is -1 where it is open.
  explicit Graph(const Ints& x, int opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    value(*graph().add_input(), "x", x);
    graph().add_output()->set_name("y");
  }

  ::onnx::ModelProto& model() { return model_; }
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  Graph& reals(const std::string& name, const Ints& dims, const Reals& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    for (const float one : values) tensor.add_float_data(one);
    return *this;
  }
  Graph& wholes(const std::string& name, const Ints& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t one : values) tensor.add_int64_data(one);
    return *this;
  }
  // The node that was made last gets attributes.
  Graph& node(const std::string& op, const std::vector<std::string>& in,
              const std::string& out) {
    node_ = graph().add_node();
    node_->set_op_type(op);
    for (const std::string& one : in) node_->add_input(one);
    node_->add_output(out);
    return *this;
  }
  // y: so many numbers of an example in a row, as they are; by a matrix, for a
  // network trains something.
  Graph& end(const std::string& from, std::int64_t count) {
    Reals same(static_cast<std::size_t>(count * count), 0);
    for (std::int64_t i = 0; i < count; ++i)
      same[static_cast<std::size_t>(i * count + i)] = 1;
    return reals("same", {count, count}, same)
        .node("Flatten", {from}, "row")
        .node("Gemm", {"row", "same"}, "y");
  }
  Graph& with(const std::string& key, std::int64_t value) {
    auto& made = attribute(key, ::onnx::AttributeProto::INT);
    made.set_i(value);
    return *this;
  }
  Graph& with(const std::string& key, float value) {
    auto& made = attribute(key, ::onnx::AttributeProto::FLOAT);
    made.set_f(value);
    return *this;
  }
  Graph& with(const std::string& key, const std::string& value) {
    auto& made = attribute(key, ::onnx::AttributeProto::STRING);
    made.set_s(value);
    return *this;
  }
  Graph& with(const std::string& key, const Reals& values) {
    auto& made = attribute(key, ::onnx::AttributeProto::FLOATS);
    for (const float one : values) made.add_floats(one);
    return *this;
  }
  Graph& with(const std::string& key, const Ints& values) {
    auto& made = attribute(key, ::onnx::AttributeProto::INTS);
    for (const std::int64_t one : values) made.add_ints(one);
    return *this;
  }
  Graph& with(const std::string& key, const std::vector<std::string>& values) {
    auto& made = attribute(key, ::onnx::AttributeProto::STRINGS);
    for (const std::string& one : values) made.add_strings(one);
    return *this;
  }

  Imported imported() const {
    const Scratch folder;
    folder.write("graph.onnx", model_.SerializeAsString());
    return import_model(folder / "graph.onnx", {});
  }

  // Why it is not imported, from "node" on; "" if it is.
  std::string refusal() const {
    try {
      imported();
    } catch (const Error& e) {
      const std::string all = e.what();
      const auto at = all.find("onnx': ");
      return at == std::string::npos ? all : all.substr(at + 7);
    }
    return {};
  }

  // How far its outputs for an example are from these.
  double gap(const Reals& x, const Reals& y) const {
    const Imported made = imported();
    Arrays inputs, outputs;
    put(inputs, "x", model_.graph().input(0), x);
    outputs["y"] = row(y);
    return compare(made, inputs, outputs).at(0).largest;
  }

 private:
  static void value(::onnx::ValueInfoProto& to, const std::string& name,
                    const Ints& dims) {
    to.set_name(name);
    auto& tensor = *to.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t dim : dims)
      if (auto& made = *tensor.mutable_shape()->add_dim(); dim < 0)
        made.set_dim_param("batch");
      else
        made.set_dim_value(dim);
  }
  ::onnx::AttributeProto& attribute(const std::string& key, auto type) {
    auto& made = *node_->add_attribute();
    made.set_name(key);
    made.set_type(type);
    return made;
  }
  static tensor::Tensor row(const Reals& values) {
    tensor::Tensor made(
        tensor::DType::kF32,
        tensor::Shape{1, static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, made.as<float>().begin());
    return made;
  }
  static void put(Arrays& to, const std::string& name,
                  const ::onnx::ValueInfoProto& like, const Reals& values) {
    std::vector<std::int64_t> extents = {1};
    const auto& dims = like.type().tensor_type().shape().dim();
    for (int k = 1; k < dims.size(); ++k)
      extents.push_back(dims[k].dim_value());
    tensor::Tensor made = row(values);
    made.reshape(tensor::Shape(std::span<const std::int64_t>(extents)));
    to[name] = std::move(made);
  }

  ::onnx::ModelProto model_;
  ::onnx::NodeProto* node_ = nullptr;
};

}  // namespace dl::convert::testing

#endif  // DL_TESTS_UNIT_CONVERT_IMPORT_ONNX_GRAPHS_H_
