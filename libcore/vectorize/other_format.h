// Inputs of formats that no reader takes.

#ifndef DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_
#define DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_

#include <cstddef>
#include <span>
#include <string>

namespace dl::vectorize {

// A sentence that tells the format of an input and a way to read it all the
// same; "" if a reader may take it.  name: as a Source has it.  start: what is
// read of the input, some thousand bytes, unpacked.
std::string other_format(const std::string& name,
                         std::span<const std::byte> start);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_OTHER_FORMAT_H_
