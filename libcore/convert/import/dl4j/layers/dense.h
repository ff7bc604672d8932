// Helpers that dense layers and those like them share.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_LAYERS_DENSE_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_LAYERS_DENSE_H_

#include <string>

#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {

// A node "dense" with W, b and maybe the gain of a layer norm, without its
// activation.  part: of the node's name; prefix and suffixes: of W and b.
struct Names {
  std::string weight = "W", bias = "b", gain = "g";
};
Flow linear(Site& site, const Flow& value, std::int64_t units, bool bias,
            const std::string& part, const Names& names, Kind kind,
            const Json& activation = "identity");
// A layer with nin, nout, hasBias, hasLayerNorm and activationFn.
Flow dense(Site& site);
// Input of a dense layer; a sequence stays one.
Flow dense_input(Site& site);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_LAYERS_DENSE_H_
