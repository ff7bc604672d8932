// Maps from the order of DL4J's numbers to that of ours.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_MAPS_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_MAPS_H_

#include <cstdint>
#include <vector>

#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {

// As they are: also [inputs, units] in Fortran's order as [units, inputs].
Map as_is();
// An array in C's order with its axes in another one: axis i of the result is
// axes[i] of the array.
Map permuted(std::vector<std::int64_t> extents, std::vector<int> axes);
// [inputs, units] in Fortran's order as [units, inputs], the inputs being those
// of an image or volume [.., channels] here, where DL4J has channels first.
Map columns_of(const tensor::Shape& image);
// Blocks of as many numbers: block i of the result is blocks[i].
Map blocks(std::vector<int> blocks);
// A map of a part of the variable.
Map part(std::size_t begin, std::size_t count, Map map);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_MAPS_H_
