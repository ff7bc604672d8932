// The picture of a network: a box for each layer with what it does, what it
// gives and how many parameters it has, and arrows for what flows.

#ifndef DL_LIBCORE_CONVERT_EXPORT_DIAGRAM_H_
#define DL_LIBCORE_CONVERT_EXPORT_DIAGRAM_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "libcore/nn/config/config.h"

namespace dl::convert {

struct Diagram {
  struct Box {
    std::string title;  // "conv1 (conv2d)"
    std::string words;  // "filters 20, kernel 5x5, relu"; or ""
    std::string size;   // "24x24x20, 520 parameters"
    bool input = false, output = false;
  };
  std::vector<Box> boxes;  // those that an arrow comes from before its end
  std::vector<std::pair<std::size_t, std::size_t>> arrows;
};

Diagram diagram_of(const nn::NetworkConfig& config);

// Text for Graphviz.
std::string to_dot(const Diagram& diagram);
// A drawing of its own: layers below each other by how far they are from the
// inputs.
std::string to_svg(const Diagram& diagram);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_DIAGRAM_H_
