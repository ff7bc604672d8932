// A Keras model, of its configuration and its weights, as a network here.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_MODEL_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_MODEL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/graph.h"
#include "libcore/tensor/shape.h"

namespace dl::convert::keras {

// Contents of a Keras file.
struct Source {
  Json model;                        // {"class_name", "config"}
  Json training;                     // how it was compiled; or null
  std::string version;               // "2.15.0"; or ""
  std::string backend;               // "theano"; or ""
  const Archive* weights = nullptr;  // or none
  // Extents that the model leaves open, by input; "" of its only one.
  std::map<std::string, tensor::Shape> shapes = {};
};

struct Flow;

struct Result {
  Json document;                      // dl-network(5)
  std::map<std::string, Fill> fills;  // by tensor, "dense/weight"
  std::set<std::string> notes;        // what was left out or is different
  std::vector<Port> inputs, outputs;
};

// Throws Error: kData, "layer 'x' (Lambda): it is Python code, ..."; kUsage, a
// shape of `shapes` is of no input, or an extent is open that none gives.
Result make_network(const Source& source);

// Training settings of outputs, and of the whole, as the model was compiled.
// outputs: of these names; values: what comes out.
struct Training {
  std::vector<Aim> aims;
  Json keys = Json::object();  // of the network: "updater"
};
Training training_of(const Source& source,
                     const std::vector<std::string>& outputs,
                     const std::vector<Flow>& values,
                     std::set<std::string>& notes);
// Adds its keys to a network; notes: and what they do otherwise there.
void add_keys(const Training& training, Json& document,
              std::set<std::string>& notes);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_MODEL_H_
