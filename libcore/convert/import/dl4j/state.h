// The state of DL4J's updaters, as that of ours.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_STATE_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_STATE_H_

#include <span>
#include <vector>

#include "libcore/convert/import/dl4j/site.h"
#include "libcore/nn/layout.h"

namespace dl::convert::dl4j {

// The components of the state, each as long as all parameters: what is not
// there is 0.  state: neighbors with one updater, and the same `block`, are a
// block, in which all of a component lies before the next; by their place.
// Throws Error: kData, it has another size.
std::vector<std::vector<float>> unpacked_state(
    const std::vector<Variable>& variables, std::span<const float> state);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_STATE_H_
