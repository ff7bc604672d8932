// An output that is one of the inputs would replace what it is made from.

#ifndef DL_LIBCORE_IO_OVERWRITING_H_
#define DL_LIBCORE_IO_OVERWRITING_H_

#include <string>
#include <vector>

namespace dl::io {

// output: as open_sink() takes it; inputs: source specs.  Compares regular
// files, by device and inode, so that links and other spellings are found;
// commands, and files that are not there, are passed over.
// what: of the output, for the message, which goes on with "the input 'x'".
//
// Throws Error: kUsage, the output is one of the inputs.
void refuse_overwriting(const std::string& output,
                        const std::vector<std::string>& inputs,
                        const char* what = "is the output and also");

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_OVERWRITING_H_
