// The configuration of a DL4J model, of any version, as one thing: vertices in
// the order of their parameters, and what goes into each.
//
// A MultiLayerConfiguration is a chain of vertices here.  Layers are as DL4J
// writes them since 1.0.0-beta4, whatever the file has (legacy.h).

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_CONF_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_CONF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::convert::dl4j {

struct Vertex {
  std::string name = {};
  Json json = {};          // {"@class", ...}
  Json layer = {};         // of a LayerVertex; else null
  Json preprocessor = {};  // of what goes into that layer; or null
  std::vector<std::string> inputs = {};
  std::vector<std::string> variables = {};  // names of its parameters; or none
  std::size_t place = 0;                    // in the file
};

struct Conf {
  bool chain = false;  // of a MultiLayerConfiguration
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<Vertex> vertices = {};
  std::int64_t seed = 0, iteration = 0, epoch = 0;
  bool mean_gradient = true;  // "miniBatch"
  bool truncated = false;     // back-propagation through time, after these:
  std::int64_t forward_steps = 20, backward_steps = 20;
  std::string algorithm = {};  // "STOCHASTIC_GRADIENT_DESCENT"
  bool minimizes = true;
  // The state of updaters is that of one parameter after the other, and of
  // vertices as the file has them: up to 0.8.
  bool state_by_parameter = false;

  const Vertex* find(const std::string& name) const;  // null: none
};

// Whether a JSON text is such a configuration.
bool is_conf(const Json& json);
// Throws Error: kData, it is damaged.
Conf read_conf(std::string_view text);

// "lstm", of "org.deeplearning4j.nn.conf.layers.LSTM"; without `suffix` where
// it has it: "dense" of "DenseLayer" without "layer".  "" of what has no class.
std::string class_of(const Json& json, std::string_view suffix = {});
// "relu", of "ActivationReLU" behind "activation", and of older names without.
std::string class_behind(std::string_view prefix, const Json& json);
// As the file calls it, for messages: "DenseLayer".
std::string shown_class(const Json& json);

// Whether a layer or preprocessor says that its channels are last, or first, in
// DL4J; none: it says neither.
std::optional<bool> channels_last_in(const Json& json);

// A member of an object; null where it is not there or no object.
const Json& member(const Json& object, const char* key);
// A number of an object; what is not there, null or "NaN" is `fallback`.
double number_in(const Json& object, const char* key, double fallback);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_CONF_H_
