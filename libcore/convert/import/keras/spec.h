// The configuration of a Keras model, of Keras 1, 2, tf.keras or 3, as one
// thing: layers, and which values each of their calls takes.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_SPEC_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_SPEC_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::convert::keras {

// The value that call number `call` of a layer gives as its output `output`.
struct Ref {
  std::string layer;
  std::size_t call = 0, output = 0;
};

struct ModelSpec;

struct CallSpec {
  std::vector<Ref> from;
  bool causal = false;  // of attention: use_causal_mask
  // As in training, or never so; else as the model is.
  std::optional<bool> training = {};
  // Operand of arithmetic, as in x + 3: a number in the place of one of two
  // inputs.
  std::optional<double> number = {};
  bool number_first = false;
  // Likewise a tensor that is written out: lists within lists.
  Json constant = {};
  // Index of x[...]: what stands in the brackets, as Keras 3 writes it.
  Json index = {};
  // Given as its mask, or masks.
  std::vector<Ref> masks = {};
  // Why it cannot be said here: "it is called with the argument 'mask'".
  std::string problem = {};
};

struct LayerSpec {
  std::string class_name;
  std::string module;  // "keras.layers", "keras.src.ops.numpy"; or empty
  std::string name;
  Json config = Json::object();
  std::vector<CallSpec> calls = {};             // of a sequence: left empty
  std::shared_ptr<const ModelSpec> model = {};  // of a nested model
  bool each_step = false;  // a TimeDistributed, whose model that is
};

struct ModelSpec {
  std::string name;
  bool sequential = false;  // each layer takes what the one before gives
  std::vector<LayerSpec> layers;
  std::vector<Ref> inputs, outputs;  // of one that is not sequential
};

// json: {"class_name", "config"}, as Keras writes models and layers.
// Throws Error: kData, "model_config.config.layers[3].name: want a text".
ModelSpec model_spec(const JsonView& json);
// Keras 3 writes the masks that layers compute for those behind them as if the
// model had asked for them: takes these out, where they are of a Masking or an
// Embedding in the model, and has calls with others say so.
void drop_computed_masks(ModelSpec& model);
// A layer, without its calls: what wrappers have within them.
LayerSpec layer_spec(const JsonView& json);
// Whether a class is a model, which has layers of its own.
bool is_model(const std::string& class_name, const JsonView& config);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_SPEC_H_
