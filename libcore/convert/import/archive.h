// The contents of a file of another program, whatever its container: texts and
// arrays by name.
//
// A reader in a sandbox (sandbox.h) writes it as one safetensors blob, in which
// texts are metadata; the parent reads that with the toolkit's own parser.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ARCHIVE_H_
#define DL_LIBCORE_CONVERT_IMPORT_ARCHIVE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/io/mapping.h"
#include "libcore/tensor/shape.h"

namespace dl::convert {

// Numbers of a file, row-major.  They live as long as the archive.
struct Array {
  tensor::Shape shape;
  std::span<const float> values;
  // For an array that was made of others: where they lie.
  std::shared_ptr<const std::vector<float>> own = {};
};

struct Archive {
  // Contents of an HDF5 file: "attributes", a JSON object {path: {name: text or
  // array of texts}}, the root's path being "/", and "unread", hdf5.h. For a
  // zip: its members by their names.
  std::map<std::string, std::string> texts;
  std::map<std::string, Array> arrays;  // "model_weights/dense/dense/kernel:0"
  std::shared_ptr<const io::Mapping> memory;  // where the arrays lie

  const std::string* text(const std::string& name) const;  // or null
};

// The archive that a reader wrote.
// Throws Error: kData, it is none.
Archive open_archive(std::shared_ptr<const io::Mapping> memory);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_ARCHIVE_H_
