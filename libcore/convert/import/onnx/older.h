// Operators of older opsets, as newer ones have them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_OLDER_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_OLDER_H_

#include <cstddef>
#include <cstdint>

#include "libcore/convert/import/onnx/model.h"

namespace dl::convert::onnx {

// The axis of a Concat.
std::int64_t concat_axis(const Node& node);

// The axis of a Softmax or LogSoftmax of so many dimensions, from 0; none:
// there is no such.  Up to opset 12 all that follow it are one with it.
std::optional<std::size_t> softmax_axis(const Node& node, std::size_t rank);
bool joins_axes(const Node& node);

// The type that a Cast makes, numbers.h; 0: it does not say one.
int cast_type(const Node& node);

// Up to opset 6 the second of two operands repeats along the axes of the first
// from one on that the node says, and else along the last ones, as always: how
// many axes of 1 it has behind its own then.
std::size_t axes_behind(const Node& node, std::size_t first,
                        std::size_t second);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_OLDER_H_
