// Connection of the layers of a network: names become values, and layers come
// into topological order.

#ifndef DL_LIBCORE_NN_CONFIG_CONNECT_H_
#define DL_LIBCORE_NN_CONFIG_CONNECT_H_

#include <string>
#include <vector>

#include "libcore/nn/config/config.h"

namespace dl::nn {

// Links of a node of the document to others, by name.
struct Links {
  std::vector<std::string> from;  // none: the node before
  std::string shares = {};        // none: ""
  std::string tied_to = {};       // none: ""
  std::string target = {};        // none: "", or "labels"
};

// config: with its inputs and with its layers, named, in the document's order;
// links: of each of these.  Sorts the layers, of those that may come next the
// first in the document, and fills in all that LayerConfig has of links; layers
// that share take over settings and training.
// Returns a line for each mistake: "nodes[3].from: no input or node is called
// 'lft'; did you mean 'left'?"  The config is of no use then.
std::vector<std::string> connect(NetworkConfig& config,
                                 const std::vector<Links>& links,
                                 const std::vector<std::string>& outputs);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_CONNECT_H_
