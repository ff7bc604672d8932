// A sheet of pictures that a reader gives.

#ifndef DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_
#define DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_

#include <string>

#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// Pictures of this shape that a sheet has: eight rows of eight, fewer rows
// where they are large.
std::int64_t examples_of_sheet(const tensor::Shape& shape);

// Draws the first of all that `reader` gives.  Returns their labels, a line for
// each row of the sheet.
// Throws Error: kUsage, examples are no pictures of bytes; kCantCreate, kIo; as
// Reader::read().
std::string draw_examples(Reader& reader, const std::string& path);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_
