// A layer on its way to Keras: one or several of Keras's in a row.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/export/keras_file.h"
#include "libcore/nn/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model.h"

namespace dl::convert {

// What one gives, for the inbound nodes of others.
struct KerasValue {
  std::string layer;
  Json shape;  // [null, ...]
  std::string dtype = "float32";
};

struct KerasNode {
  std::string type;  // "Dense"
  std::string name;
  Json config;
  std::vector<KerasValue> inputs;
  // By path behind the layer's: "vars/0".
  std::vector<std::pair<std::string, KerasTensor>> weights;
};

Json keras_shape(const tensor::Shape& shape);

class KerasLayer {
 public:
  const nn::LayerConfig& config;
  const nn::Settings& settings;
  const nn::LayerLayout& layout;

  KerasLayer(const nn::Model& model, const nn::Layout& all, std::size_t index,
             std::vector<KerasValue> inputs);

  const nn::Form& input(std::size_t i = 0) const { return layout.inputs[i]; }
  bool is_on(std::string_view key) const {
    return settings.has(key) && settings.flag(key);
  }

  using Weights = std::vector<std::pair<std::string, KerasTensor>>;
  // Another in the row, which gives examples of that shape; the last has the
  // layer's name.
  void add(const std::string& type, Json settings_of_it,
           const tensor::Shape& shape, Weights weights = {});
  // One that gives what this layer does.
  void last(const std::string& type, Json settings_of_it, Weights weights = {});
  // The name of Keras's activation for the key.
  std::string activation(const char* key = "activation") const;

  // Tensor i with its axes in another order, or as it is.
  KerasTensor weight(std::size_t i,
                     const std::vector<std::int64_t>& order = {}) const;
  KerasTensor statistic(std::size_t i) const;

  std::vector<KerasNode> nodes;

  // Throws Error: kData, "layer 'lstm1' (lstm): " and what.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const nn::Model& model_;
  const nn::Layout& all_;
  std::vector<KerasValue> inputs_;
};

struct KerasRule {
  std::string_view type;
  void (*write)(KerasLayer&);
};
std::span<const KerasRule> keras_rules();

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_LAYER_H_
