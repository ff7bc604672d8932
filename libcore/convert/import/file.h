// A file of another program: which kind it is, and what it holds.

#ifndef DL_LIBCORE_CONVERT_IMPORT_FILE_H_
#define DL_LIBCORE_CONVERT_IMPORT_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "libcore/convert/import/archive.h"
#include "libcore/io/mapping.h"

namespace dl::convert {

// A whole file, or what came through a pipe.
struct Bytes {
  std::string name;  // for messages: "'lenet.keras'"
  std::shared_ptr<const io::Mapping> mapping = {};
  std::string piped = {};
  std::span<const std::byte> all() const {
    return mapping ? mapping->bytes() : std::as_bytes(std::span(piped));
  }
};

// Reads a source, io/source.h.  Throws Error: kNoInput; kIo.
Bytes read_file(const std::string& spec);

enum class Container { kHdf5, kZip, kJson, kOnnx };

// Seen by its first bytes, whatever the file is called.
// Throws Error: kData, it is none of these.
Container container_of(std::span<const std::byte> file);

struct File {
  std::string name;
  std::string path;  // or "": it came through a pipe
  Container container = Container::kJson;
  // The text "json", for a configuration in JSON.
  Archive archive = {};
};

// Reads a source: HDF5 and zip in a sandbox (sandbox.h).
// Throws Error: kNoInput; kData, "'x.h5': ..."; kUnavailable.
File open_file(const std::string& spec);

// The arrays of an .npz file, read there as well.
Archive unpack_npz(std::span<const std::byte> file);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_FILE_H_
