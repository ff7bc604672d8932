// Standard input as a file that can be read more than once.

#ifndef DL_LIBCORE_IO_STANDARD_INPUT_FILE_H_
#define DL_LIBCORE_IO_STANDARD_INPUT_FILE_H_

#include <cstdint>
#include <string>

namespace dl::io {

// The name under which it can be opened again and again.
inline constexpr const char* kStandardInputFile = "/dev/stdin";

struct KeptInput {
  std::string folder;      // of the copy; "": it was such a file already
  std::int64_t bytes = 0;  // of the copy
};

// Copies standard input, unless it is a regular file from its start on, to a
// file without a name, which is gone with the process, and makes that standard
// input.  The file lies in TMPDIR, else in /var/tmp, as /tmp may be memory.
// Throws Error: kUsage, it is a terminal; kCantCreate, there is no such folder;
// kIo.
KeptInput keep_standard_input();

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_STANDARD_INPUT_FILE_H_
