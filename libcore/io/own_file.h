// Files and folders in places that other users may write to, such as /tmp:
// nothing there that another user made is written to or through.
//
// "Ours" is what this process's user owns, or root, or whoever owns the files
// that this process makes there: storage that maps users, as NFS does with
// root, gives them another owner.

#ifndef DL_LIBCORE_IO_OWN_FILE_H_
#define DL_LIBCORE_IO_OWN_FILE_H_

#include <string>

namespace dl::io {

// Opens a regular file for writing in place, with the flags of open(2), and
// makes it where they say so.  No link is followed, and no FIFO waited for.
// Throws Error: kCantCreate, it cannot be opened, is a link, or no file, or has
// a second name in a folder that others may write to; kNotAuthorised, another
// user's.
int open_own(const std::string& path, int flags);

// Where a file of this name is to be written: `path`, or where symbolic links
// of ours lead from it, whether or not there is a file.
// Throws Error: kCantCreate, links without end; kNotAuthorised, another user's
// link.
std::string follow_own_links(const std::string& path);

// `path` may be a link of ours to it.
// Throws Error: kNotAuthorised, the folder, or a link to it, is another
// user's: `what` says what it is ("the run directory").
void require_own_folder(const std::string& path, const std::string& what);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_OWN_FILE_H_
