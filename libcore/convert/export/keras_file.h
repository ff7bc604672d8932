// The files that a .keras archive is made of.

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

// An HDF5 file with a float32 dataset for each path, "layers/dense/vars/0",
// and groups that may be empty.
// Throws Error: kIo.
std::string hdf5_file(const std::map<std::string, KerasTensor>& tensors,
                      const std::vector<std::string>& groups);

// An archive of these members by name, not packed, as Keras writes them.
// Throws Error: kIo.
std::string zip_file(
    const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_FILE_H_
