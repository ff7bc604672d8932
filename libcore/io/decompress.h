// gzip and zstd in front of raw files, recognized by magic number.

#ifndef DL_LIBCORE_IO_DECOMPRESS_H_
#define DL_LIBCORE_IO_DECOMPRESS_H_

#include <memory>

#include "libcore/io/source.h"

namespace dl::io {

// Returns a Source of the unpacked bytes, under the same name; plain input
// passes through.  Several gzip members or zstd frames in a row are one file.
// Input that ends inside one throws Error{kData} from read().
std::unique_ptr<Source> decompress(std::unique_ptr<Source> source);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_DECOMPRESS_H_
