// Encoding and decoding of a record.

#include "libcore/data/format/record.h"

#include <cstring>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/data/format/windows.h"
#include "libcore/io/safetensors.h"

namespace dl::data {

namespace {

// A tensor of a blob.
struct Stored {
  tensor::DType dtype;
  tensor::Shape shape;
  std::span<const std::byte> bytes;
};

// Whether it is the mask of features that are stored without their padding.
bool follows(const std::string& name, const DataSet& set) {
  constexpr std::string_view kMask = "features_mask";
  if (!name.starts_with(kMask)) return false;
  const auto of = set.encoded.find("features" + name.substr(kMask.size()));
  return of != set.encoded.end() && of->second.encoding == Encoding::kRagged;
}

// The tensors in the order of their names.  runs: of windows, which lives as
// long as they do.
std::map<std::string, Stored> stored_tensors(const DataSet& set,
                                             tensor::Tensor& runs) {
  std::map<std::string, Stored> all;
  for (const auto& [name, t] : set.tensors)
    if (set.encoded.empty() ||
        (!follows(name, set) && !set.views.contains(name)))
      all[name] = {t.dtype(), t.shape(), t.bytes()};
  for (const auto& [name, e] : set.encoded) {
    all[name] = {e.dtype, e.value.with_first(e.values()), e.bytes};
    if (e.encoding == Encoding::kSeries) {
      runs = windows_of(e);
      all[name + ".windows"] = {runs.dtype(), runs.shape(), runs.bytes()};
      continue;
    }
    all[name + ".offsets"] = {tensor::DType::kI64,
                              {static_cast<std::int64_t>(e.offsets.size())},
                              std::as_bytes(std::span(e.offsets))};
  }
  return all;
}

}  // namespace

void encode_record(const std::map<std::string, std::string>& metadata,
                   const DataSet& set, std::vector<std::byte>& blob) {
  tensor::Tensor runs;
  const std::map<std::string, Stored> tensors = stored_tensors(set, runs);
  std::vector<io::TensorEntry> entries;
  for (const auto& [name, t] : tensors) {
    const auto extents = t.shape.extents();
    io::TensorEntry entry;
    entry.name = name;
    entry.dtype = tensor::name_of(t.dtype);
    entry.shape.assign(extents.begin(), extents.end());
    entries.push_back(std::move(entry));
  }
  const std::vector<std::byte> header =
      io::safetensors_header(metadata, entries);
  blob.assign(header.begin(), header.end());
  for (const auto& [name, t] : tensors)
    blob.insert(blob.end(), t.bytes.begin(), t.bytes.end());
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
