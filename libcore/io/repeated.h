// Inputs that a command names twice.

#ifndef DL_LIBCORE_IO_REPEATED_H_
#define DL_LIBCORE_IO_REPEATED_H_

#include <string>
#include <vector>

namespace dl::io {

// "'a.csv' is named twice", "'link.csv' is the input 'a.csv' again",
// "'photos/cat' lies in the input 'photos'": the first such sentence about
// files and folders, whatever links and spellings name them; "" without one.
// Commands and files that are not there are passed over.
std::string repeated(const std::vector<std::string>& inputs);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_REPEATED_H_
