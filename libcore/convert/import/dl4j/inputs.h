// The inputs of a DL4J model, which its configuration says but in part.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_INPUTS_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_INPUTS_H_

#include <cstddef>
#include <map>
#include <string>

#include "libcore/convert/import/dl4j/conf.h"
#include "libcore/tensor/shape.h"

namespace dl::convert::dl4j {

struct InputShape {
  tensor::Shape shape;  // channels last, time first
  bool tokens = false;  // whole numbers, which an embedding reads
  bool last = false;    // DL4J has its channels last, too
};

// Shape of an input of the configuration: from the layers that read it, and the
// extents that are given for it ("" of the only one), channels last or, where
// that is seen, first as DL4J has them. columns: of its normalizer, or 0.
// Throws Error: kUsage, some are left open; kData, layers want different ones.
InputShape input_shape(const Conf& conf, const std::string& name,
                       const std::map<std::string, tensor::Shape>& given,
                       std::size_t columns);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_INPUTS_H_
