// Numbers of a Keras file in the order in which a network here has them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_FILLS_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_FILLS_H_

#include <vector>

#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/graph.h"

namespace dl::convert::keras {

// As they are.
Fill as_is(const Array& array);
// The axes in another order: axis i of the result is axes[i] of the array.
// mirrored: axes of the array that are read from their end.
Fill permuted(const Array& array, std::vector<int> axes,
              std::vector<int> mirrored = {});
// The last axis first: [height, width, channels, filters] as [filters, ...].
Fill last_first(const Array& array, std::vector<int> mirrored = {});
// The same number everywhere.
Fill all_of(float value);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_FILLS_H_
