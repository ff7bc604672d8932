// Models of Keras made by hand, for tests of what dl-import makes of them.

#ifndef DL_TESTS_UNIT_CONVERT_IMPORT_KERAS_MODELS_H_
#define DL_TESTS_UNIT_CONVERT_IMPORT_KERAS_MODELS_H_

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "libcore/convert/import/check.h"
#include "libcore/convert/import/empty_model.h"
#include "libcore/convert/import/keras/model.h"
#include "libcore/nn/layout.h"
#include "tests/unit/error_of.h"

namespace dl::convert::testing {

// A sequence of layers, as an HDF5 file of that version has it.
class KerasModel {
 public:
  using Reals = std::vector<float>;
  struct Weight {
    tensor::Shape shape;
    Reals values;
  };

  explicit KerasModel(const std::string& version,
                      const std::string& backend = "") {
    source_.version = version;
    source_.backend = backend;
  }

  // config: JSON; the first layer says "batch_input_shape".
  KerasModel& layer(const std::string& class_name, const std::string& config,
                    const std::vector<Weight>& weights = {}) {
    Json own = parse_json(config, "a layer", Code::kData);
    own["name"] = "l" + std::to_string(layers_.size());
    layers_.push_back({{"class_name", class_name}, {"config", own}});
    add_weights(own["name"], weights);
    return *this;
  }

  // Adds the weights of a layer of that name, where layers() are given.
  void add_weights(const std::string& name,
                   const std::vector<Weight>& weights) {
    names_.push_back(name);
    Json all = Json::array();
    for (const Weight& one : weights) {
      const std::string own = "w" + std::to_string(all.size());
      all.push_back(own);
      auto values = std::make_shared<Reals>(one.values);
      archive_.arrays[name + "/" + own] = {one.shape, *values, values};
    }
    attributes_[name]["weight_names"] = all;
  }

  // A functional model instead, whose layers are JSON as Keras writes them.
  void graph(const std::string& layers, const std::string& input,
             const std::string& output) {
    source_.model = {
        {"class_name", "Functional"},
        {"config",
         {{"name", "g"},
          {"layers", parse_json(layers, "the layers", Code::kData)},
          {"input_layers", {{input, 0, 0}}},
          {"output_layers", {{output, 0, 0}}}}}};
  }

  keras::Result result() {
    if (source_.model.is_null())
      source_.model = {{"class_name", "Sequential"},
                       {"config", {{"name", "s"}, {"layers", layers_}}}};
    attributes_["/"]["layer_names"] = names_;
    archive_.texts["attributes"] = attributes_.dump();
    source_.weights = &archive_;
    return keras::make_network(source_);
  }

  // The document of its network, or why there is none.
  std::string document() {
    std::string text;
    const std::string error =
        error_of([&] { text = result().document.dump(); });
    return error.empty() ? text : error;
  }

  // How far from y it is on x, both as Keras has them, with the batch.
  double gap(const tensor::Shape& x_shape, const Reals& x,
             const tensor::Shape& y_shape, const Reals& y) {
    const keras::Result made = result();
    Imported imported;
    imported.network = made.document;
    imported.inputs = made.inputs;
    imported.outputs = made.outputs;
    nn::NetworkConfig config =
        nn::parse_network(made.document.dump(), "what is made");
    const nn::Layout layout = nn::layout_of(config);
    imported.model = empty_model(std::move(config), layout);
    const auto fill = [&](const std::vector<nn::Segment>& segments, Reals& to) {
      for (const nn::Segment& one : segments)
        made.fills.at(one.name)(
            std::span(to).subspan(static_cast<std::size_t>(one.offset),
                                  static_cast<std::size_t>(one.elements())));
    };
    fill(layout.parameters, imported.model->parameters);
    fill(layout.statistics, imported.model->statistics);
    Arrays inputs, outputs;
    put(inputs, "x", x_shape, x);
    put(outputs, "y", y_shape, y);
    return compare(imported, inputs, outputs).at(0).largest;
  }

 private:
  static void put(Arrays& arrays, const std::string& name,
                  const tensor::Shape& shape, const Reals& values) {
    tensor::Tensor tensor(tensor::DType::kF32, shape);
    REQUIRE(std::ssize(values) == tensor.elements());
    std::ranges::copy(values, tensor.as<float>().begin());
    arrays.emplace(name, std::move(tensor));
  }

  keras::Source source_;
  Archive archive_;
  Json layers_ = Json::array(), attributes_ = Json::object(),
       names_ = Json::array();
};

}  // namespace dl::convert::testing

#endif  // DL_TESTS_UNIT_CONVERT_IMPORT_KERAS_MODELS_H_
