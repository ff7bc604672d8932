// Every mistake in a network configuration.

#ifndef DL_LIBCORE_NN_CONFIG_CONFIG_CHECK_H_
#define DL_LIBCORE_NN_CONFIG_CONFIG_CHECK_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/nn/config/config.h"

namespace dl::nn {

// Compares a document with the table of keys.  Returns a line for each
// mistake: "layers[2].units: want integer 1..2147483647, got -1".
std::vector<std::string> check_document(const Json& document);

// Finds errors that the table of keys cannot express: the place of the output
// layer, names given twice, a loss that does not go with its activation.
std::vector<std::string> check_meaning(const NetworkConfig& config);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_CONFIG_CHECK_H_
