// Lists of inputs in a file.

#ifndef DL_LIBCORE_IO_SOURCE_LIST_H_
#define DL_LIBCORE_IO_SOURCE_LIST_H_

#include <string>
#include <vector>

namespace dl::io {

// The specs that a file lists, one a line: files and patterns, which are
// expanded; empty lines and those that begin with '#' are passed over.
// Throws Error: kNoInput, as expand_operands(), or there are none; kData, a
// line is a command or standard input, which what lies on a disk may not name.
std::vector<std::string> read_list(const std::string& file);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_SOURCE_LIST_H_
