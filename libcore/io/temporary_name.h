// The names of files until they are whole, and the removal of those whose
// writer was killed: ".NAME.PLACE-PID-NUMBER.tmp" beside NAME.
//
// PLACE stands for the host and the processes that can be seen there, so that
// nobody takes the writer on another host, or in another container, for gone.
// A long NAME is cut, since no name of a file has more than 255 bytes.

#ifndef DL_LIBCORE_IO_TEMPORARY_NAME_H_
#define DL_LIBCORE_IO_TEMPORARY_NAME_H_

#include <cstddef>
#include <functional>
#include <string>

namespace dl::io {

// In the folder of `path`, so that a rename suffices, and seen by no shell
// pattern.  Never the same name twice.  Thread-safe.
std::string temporary_name(const std::string& path);

// The folder of a path: "a" of "a/b", "." of "b".
std::string folder_of(const std::string& path);

// Removes the temporary files that were to be called `path` if their writer is
// gone: from here, a process that is no more; from elsewhere, one that has
// written nothing for a day.  Files that cannot be removed stay.
void remove_abandoned(const std::string& path);

// Bytes of NAME that a temporary name has at most.
constexpr std::size_t kLongestName = 200;

// The same in `folder`, of each NAME, cut as it is, that is wanted.
void remove_abandoned(const std::string& folder,
                      const std::function<bool(const std::string&)>& wanted);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_TEMPORARY_NAME_H_
