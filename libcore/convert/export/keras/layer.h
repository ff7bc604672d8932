// A layer on its way to Keras: one or several of Keras's in a row.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/export/keras/file.h"
#include "libcore/convert/export/keras/keras.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

// Output of a layer, for the inbound nodes of others.
struct KerasValue {
  std::string layer;
  Json shape;  // [null, ...]
  std::string dtype = "float32";
  bool masked = false;  // Keras has a mask with it
};

struct KerasNode {
  std::string type;  // "Dense"
  std::string name;
  Json config;
  std::vector<KerasValue> inputs;
  // By path behind the layer's: "vars/0".
  std::vector<std::pair<std::string, KerasTensor>> weights = {};
  Json call = Json::object();  // arguments by name
};

Json keras_shape(const tensor::Shape& shape);
// A layer within the configuration of another.
Json keras_object(const std::string& type, const Json& config);

class KerasLayer {
 public:
  const nn::LayerConfig& config;
  const nn::LayerSettings& settings;
  const nn::LayerLayout& layout;
  const KerasFormat format;

  KerasLayer(const nn::Model& model, const nn::Layout& all, std::size_t index,
             KerasFormat format, std::vector<KerasValue> inputs);

  // As the layer sees it: a step, where it takes each by itself.
  const nn::ValueSpec& input(std::size_t i = 0) const {
    return layout.inputs[i];
  }
  // Output for an input.
  tensor::Shape output() const;
  bool masked() const;
  // Whether layers of that type alone read what it gives, and there are some.
  bool is_read_by(std::string_view type) const;
  // The layer that gives its input; null: that is one of the network's.
  const nn::LayerConfig* before() const;
  bool is_on(std::string_view key) const {
    return settings.has(key) && settings.flag(key);
  }

  using Weights = std::vector<std::pair<std::string, KerasTensor>>;
  // Another in the row, which gives that shape; the last has the layer's name.
  void add(const std::string& type, Json settings_of_it,
           const tensor::Shape& shape, Weights weights = {});
  // One that gives what this layer does.
  void last(const std::string& type, Json settings_of_it, Weights weights = {});
  // One off the row, which takes these and is called by the layer and `part`
  // ("" for the layer itself); what it gives.
  KerasValue beside(const std::string& type, const std::string& part,
                    Json settings_of_it, std::vector<KerasValue> inputs,
                    const tensor::Shape& shape, Weights weights = {});
  // Its first input.
  const KerasValue& from() const { return inputs_[0]; }
  // One that takes its input as often as told.
  void last_of_same(const std::string& type, std::size_t times);
  // The last, and the layer's activation: as a word of it, or behind it.
  void activated(const std::string& type, Json settings_of_it, Weights weights);
  // Behind what there is, or as all there is.
  void activate(const device::ActivationSpec& f);
  // Regularizers and constraints of the layer, in the words that this type of
  // Keras's has; add() does so.
  void add_training(const std::string& type, Json& to) const;
  // The name of Keras's activation for the key.
  std::string activation(const char* key) const;

  // Tensor i with its axes in another order, or as it is.
  KerasTensor weight(std::size_t i,
                     const std::vector<std::int64_t>& order = {}) const;
  KerasTensor statistic(std::size_t i) const;

  std::vector<KerasNode> nodes;

  // Throws Error: kData, "layer 'lstm1' (lstm): " and what.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::string free_name(std::string wanted) const;

  const nn::Model& model_;
  const nn::Layout& all_;
  std::vector<KerasValue> inputs_;
};

// Windows of 1, 2 or 3 axes: "Conv" becomes "Conv2D".
inline std::string by_axes(const KerasLayer& layer, const std::string& type) {
  return type + std::to_string(layer.input().shape.rank() - 1) + "D";
}

struct KerasRule {
  std::string_view type;
  void (*write)(KerasLayer&);
  // Whether Keras's layer lets the mask of its input through and leaves out the
  // same steps.
  bool takes_masks = false;
};

// The pool of the largest of the steps that count.
void masked_max(KerasLayer& layer);

// By family, each in a file FAMILY.cpp.
std::span<const KerasRule> keras_dense();
std::span<const KerasRule> keras_convolution();
std::span<const KerasRule> keras_recurrent();
std::span<const KerasRule> keras_shapes();
std::span<const KerasRule> keras_combine();
const KerasRule* keras_rule(std::string_view type);
// Why Keras cannot say a type of layers that has no rule.
std::string why_not_in_keras(std::string_view type);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_
