// A model of another program as one of ours.

#ifndef DL_LIBCORE_CONVERT_IMPORT_IMPORT_H_
#define DL_LIBCORE_CONVERT_IMPORT_IMPORT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/graph.h"
#include "libcore/nn/model/model.h"
#include "libcore/tensor/shape.h"

namespace dl::convert {

struct ImportOptions {
  std::string weights;       // a file that has those of a configuration; or ""
  std::string backend = {};  // of a model of Keras that does not say it
  // Extents of inputs that the model leaves open, by name; "" of its only one.
  std::map<std::string, tensor::Shape> shapes = {};
};

struct Imported {
  std::string from;                // "Keras 3.5.0"
  Json network;                    // dl-network(5), as short as it was made
  std::optional<nn::Model> model;  // none where there are no weights
  std::vector<std::string> notes;  // what is left out or different
  std::vector<Port> inputs, outputs;
  std::vector<std::string> beside = {};  // other files that it was read from
};

// spec: a source, io/source.h.
// Throws Error: kNoInput; kUsage, the options do not fit the file; kData, the
// file is damaged, or has what no network here can say: one sentence that names
// file, layer, class and what would be needed; kUnavailable.
Imported import_model(const std::string& spec, const ImportOptions& options);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_IMPORT_H_
