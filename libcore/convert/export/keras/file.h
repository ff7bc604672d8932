// The files that a model of Keras is made of.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_FILE_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dl::convert {

struct KerasTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

// Contents of an HDF5 file.
struct Hdf5Content {
  std::map<std::string, KerasTensor> tensors;  // "layers/dense/vars/0"
  std::vector<std::string> groups;             // that may be empty
  // Attributes of groups, "" being the root: attributes that are texts, or
  // lists of them.
  std::map<std::string, std::map<std::string, std::string>> texts;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> lists;
};

// An HDF5 file with a float32 dataset for each path.
// Throws Error: kIo.
std::string hdf5_file(const Hdf5Content& content);

// An archive of these members by name, not packed, as Keras writes them.
// Throws Error: kIo.
std::string zip_file(
    const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_FILE_H_
