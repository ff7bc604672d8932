// What a file that is not what was expected looks like, for messages.

#ifndef DL_LIBCORE_IO_LOOKS_LIKE_H_
#define DL_LIBCORE_IO_LOOKS_LIKE_H_

#include <cstddef>
#include <span>
#include <string>

namespace dl::io {

// `start`: the first bytes, 16 or more where there are as many.  Gives
// "a git-LFS pointer (run: git lfs pull)", "gzip data", "text (starts with
// 'a,b,c')", "unknown data (starts with 00 01 02 03)", "nothing".
std::string looks_like(std::span<const std::byte> start);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_LOOKS_LIKE_H_
