// Inputs of formats that no reader takes.

#ifndef DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_
#define DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_

#include <cstddef>
#include <span>
#include <string>

namespace dl::vectorize {

// A sentence that tells the format of an input and a way to read it all the
// same; "" if a reader may take it.  name: as a Source has it.  start: what is
// read of the input, some thousand bytes.  is_unpacked: without the gzip or
// zstd that may be around the file.
std::string other_format(const std::string& name,
                         std::span<const std::byte> start, bool is_unpacked);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_
