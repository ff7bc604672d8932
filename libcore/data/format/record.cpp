// Encoding and decoding of a record.

#include "libcore/data/format/record.h"

#include <cstring>

#include "libcore/base/display.h"
#include "libcore/io/safetensors.h"

namespace dl::data {

void encode_record(const std::map<std::string, std::string>& metadata,
                   const DataSet& set, std::vector<std::byte>& blob) {
  std::vector<io::TensorEntry> entries;
  for (const auto& [name, t] : set.tensors) {
    const auto extents = t.shape().extents();
    io::TensorEntry entry;
    entry.name = name;
    entry.dtype = tensor::name_of(t.dtype());
    entry.shape.assign(extents.begin(), extents.end());
    entries.push_back(std::move(entry));
  }
  const std::vector<std::byte> header =
      io::safetensors_header(metadata, entries);
  blob.assign(header.begin(), header.end());
  for (const auto& [name, t] : set.tensors) {
    const auto bytes = t.bytes();
    blob.insert(blob.end(), bytes.begin(), bytes.end());
  }
}

Record decode_record(std::span<const std::byte> blob) {
  io::SafetensorsHeader header = io::parse_safetensors(blob);
  Record record;
  record.metadata = std::move(header.metadata);
  const std::span<const std::byte> area = blob.subspan(header.data_offset);
  for (const io::TensorEntry& entry : header.tensors) {
    try {
      tensor::Tensor t(tensor::dtype_named(entry.dtype),
                       tensor::Shape(std::span(entry.shape)));
      if (entry.end > entry.begin)
        std::memcpy(t.bytes().data(), area.data() + entry.begin,
                    entry.end - entry.begin);
      record.set.tensors.emplace(entry.name, std::move(t));
    } catch (Error& e) {
      e.add_context("tensor " + in_quotes(entry.name));
      throw;
    }
  }
  return record;
}

}  // namespace dl::data
