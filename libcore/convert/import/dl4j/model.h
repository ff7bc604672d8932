// A DL4J model, of its configuration and its numbers, as a network here.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_MODEL_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/sandbox/sandbox.h"
#include "libcore/convert/import/zip.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/model/model.h"
#include "libcore/tensor/shape.h"

namespace dl::convert::dl4j {

// Called in a sandbox (sandbox.h): the members of a model's zip, as texts
// "configuration.json", "normalizer", "left_out" (names, one a line), and as
// arrays "coefficients.bin" and "updaterState.bin".
// Throws Error: kData, one is damaged.
void write_members(const Zip& zip, std::size_t most, const Write& write);

struct Result {
  Json document;  // dl-network(5)
  // With its numbers, where the archive has them.
  std::optional<nn::Model> model;
  std::set<std::string> notes;  // what was left out or is different
  std::vector<Port> inputs, outputs;
};

// Model of such an archive, or of one with the text "json", a configuration
// alone. shapes: extents that the model leaves open, by input; "" of its only
// one. Throws Error: kData, "layer 'x' (CapsuleLayer): capsules would be
// needed"; kUsage, a shape is of no input, or an extent is open that none
// gives.
Result make_model(const Archive& archive,
                  const std::map<std::string, tensor::Shape>& shapes);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_MODEL_H_
