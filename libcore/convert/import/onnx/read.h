// A file of ONNX, read in a sandbox (sandbox.h).
//
// The text "graph" is JSON:
//   opset     {domain: version}; "" is ONNX's own
//   producer  "pytorch 2.4"
//   metadata  {key: text}
//   inputs    [{name, type, dims: [extent or name or null]}]; type: see
//             numbers.h
//   outputs   [name]
//   nodes     [{name, op, domain, in: [name], out: [name], attributes: {}}];
//             of an attribute that is a tensor {"tensor": name}, of a graph {};
//             of a loop also body: {inputs: [name], outputs: [name], nodes}
//   texts     {name: [text]}, tensors of these
//   wholes    {name: {dims, values}}, tensors of whole numbers and truth values
//   outside   {name: {file, offset, length, type, dims}}, those in other files
// Tensors of reals are arrays, by name.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_READ_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_READ_H_

#include <cstddef>
#include <span>

#include "libcore/convert/import/sandbox/sandbox.h"

namespace dl::convert::onnx {

// Whether a file begins as one of ONNX does: the format has no mark, but
// writers put the version first.
bool is_onnx(std::span<const std::byte> file);

// Throws Error: kData, the file is damaged, or has more tensors of whole
// numbers than a network has.
void write_graph(std::span<const std::byte> file, const Write& write);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_READ_H_
