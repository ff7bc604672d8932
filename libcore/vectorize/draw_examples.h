// A sheet of the first pictures that a reader gives.

#ifndef DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_
#define DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_

#include <string>

#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// Draws up to eight rows of eight, as they come out, fewer rows where pictures
// are large.  Returns their labels, a
// line for each row of the sheet.
// Throws Error: kUsage, examples are no pictures of bytes; kCantCreate, kIo; as
// Reader::read().
std::string draw_examples(Reader& reader, const std::string& path);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_DRAW_EXAMPLES_H_
