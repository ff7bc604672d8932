// HDF5 files: numbers and texts by path, read with libhdf5.  Called in a
// sandbox (sandbox.h) alone.

#ifndef DL_LIBCORE_CONVERT_IMPORT_HDF5_H_
#define DL_LIBCORE_CONVERT_IMPORT_HDF5_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "libcore/convert/import/sandbox/sandbox.h"

namespace dl::convert {

// Writes the file, which lies in memory, as an archive: every array of numbers
// as float32 by its path, and the texts of all attributes as "attributes".
// texts: further ones of the archive.  Left out are arrays below groups of
// optimizers, and texts that are arrays; what is no array of numbers, and
// links, are in the text "unread", a JSON object {path: what it is}.
//
// Throws Error: kData, no HDF5 file, or it claims to hold more than one of its
// size can; an array's numbers lie in other files.
void write_hdf5(std::span<const std::byte> file,
                std::map<std::string, std::string> texts, const Write& write);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_HDF5_H_
