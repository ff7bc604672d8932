// The network that the vertices of a model were made into.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_DOCUMENT_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_DOCUMENT_H_

#include <vector>

#include "libcore/convert/import/dl4j/site.h"
#include "libcore/nn/config/config.h"

namespace dl::convert::dl4j {

// Its outputs are those of the configuration, which go to ports; shapes:
// theirs. Keys of training that all layers have alike are the network's.
Json document_of(Import& import, std::vector<Port>& ports,
                 std::vector<tensor::Shape>& shapes);

// As dl-network(5) has it.  Throws Error: kData, networks here refuse it.
nn::NetworkConfig network_of(const Json& document);

// Whether an input is a matrix that layers take as a sequence.
bool has_sequences(const Import& import);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_DOCUMENT_H_
