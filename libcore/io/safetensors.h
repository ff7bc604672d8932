// The safetensors container: u64 header length, JSON header, tensor bytes.
//
// Used for the records of a DataSet stream and for models; dl-dataset(5) and
// dl-model(5) say what is stored.  The reader refuses holes, overlaps,
// duplicate names, sizes that do not follow from dtype and shape, and a header
// over 64 MiB.

#ifndef DL_LIBCORE_IO_SAFETENSORS_H_
#define DL_LIBCORE_IO_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/io/digest.h"

namespace dl::io {

struct TensorEntry {
  std::string name;
  std::string dtype;  // "F32", "U8", ...: the spelling of the format
  std::vector<std::int64_t> shape;
  std::size_t begin = 0;  // bytes from the start of the tensor area
  std::size_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;  // in the order of their bytes
  std::size_t data_offset = 0;       // of the tensor area in the blob
  std::size_t bytes = 0;             // of the blob in all, as the header has it
};

// Bytes before the tensors, by the first 8 of `start`, so that no more than the
// header need be read to know how long the blob must be.
// Throws Error: kData, no header is that long.
std::size_t safetensors_data_offset(std::span<const std::byte> start);

// Reads the header of a blob from its start, which has data_offset bytes or
// more.  Throws as parse_safetensors().
SafetensorsHeader parse_safetensors_start(std::span<const std::byte> start);

// Reads the header of a blob that is `blob.size()` bytes in all.
// Throws Error: kData.  The message does not name the file: add_context() does.
SafetensorsHeader parse_safetensors(std::span<const std::byte> blob);

// Header bytes (length word, JSON, padding to 64) for tensors laid out one
// after the other in the order given.  begin and end of `tensors` are set.
// Equal input gives equal bytes.  Throws Error: kData, it would be larger than
// readers take.
std::vector<std::byte> safetensors_header(
    const std::map<std::string, std::string>& metadata,
    std::vector<TensorEntry>& tensors);

// The checksum that a file of ours keeps as "xxh3" in its metadata, begun: with
// every other key and its value.
Digest metadata_digest(const std::map<std::string, std::string>& metadata);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_SAFETENSORS_H_
