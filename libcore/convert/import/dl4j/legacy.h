// Layers as versions before 1.0.0-beta4 write them, as later ones do.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_LEGACY_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_LEGACY_H_

#include "libcore/base/json.h"

namespace dl::convert::dl4j {

// {"dense": {...}} as {"@class": "dense", ...}; all else as it is.
Json unwrapped(const Json& json);

// A layer with the keys of later versions, where it has those of earlier ones:
// activationFn, iupdater, biasUpdater, regularization, regularizationBias,
// weightInitFn, idropout, lossFn.  conf: the NeuralNetConfiguration it is in.
Json modern_layer(const Json& layer, const Json& conf);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_LEGACY_H_
