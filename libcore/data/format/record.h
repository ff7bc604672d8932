// The safetensors blob of one record, before compression.

#ifndef DL_LIBCORE_DATA_FORMAT_RECORD_H_
#define DL_LIBCORE_DATA_FORMAT_RECORD_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/dataset.h"

namespace dl::data {

// Contents of a blob: a metadata record has text and no tensors.
struct Record {
  std::map<std::string, std::string> metadata;
  DataSet set;
};

// Puts the blob into `blob`, reusing its memory: tensors in their stored form,
// where the set has one.
void encode_record(const std::map<std::string, std::string>& metadata,
                   const DataSet& set, std::vector<std::byte>& blob);

// Tensors come as they are stored: decode() makes more of them.
// Throws Error: kData.
Record decode_record(std::span<const std::byte> blob);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_RECORD_H_
