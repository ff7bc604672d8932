// The number of line breaks in a text.

#ifndef DL_LIBCORE_VECTORIZE_COUNT_LINES_H_
#define DL_LIBCORE_VECTORIZE_COUNT_LINES_H_

#include <cstdint>
#include <string_view>

namespace dl::vectorize {

std::int64_t count_lines(std::string_view text);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_COUNT_LINES_H_
