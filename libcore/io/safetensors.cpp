// Reading and writing of safetensors.

#include "libcore/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"

namespace dl::io {
namespace {

constexpr std::uint64_t kMaxHeader = std::uint64_t{64} << 20;
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();

struct TypeSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr TypeSize kTypes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
    {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};

std::int64_t element_size(const TensorEntry& entry) {
  for (const TypeSize& type : kTypes)
    if (type.name == entry.dtype) return type.bytes;
  bad_data("tensor " + in_quotes(entry.name) + ": unknown dtype " +
           in_quotes(entry.dtype));
}

// Bytes that dtype and shape ask for.
std::uint64_t byte_size(const TensorEntry& entry) {
  std::int64_t bytes = element_size(entry);
  const bool none =
      std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
  for (const std::int64_t extent : entry.shape) {
    if (none) return 0;
    if (extent > kMaxInt / bytes)
      bad_data("tensor " + in_quotes(entry.name) + ": its shape is too large");
    bytes *= extent;
  }
  return static_cast<std::uint64_t>(bytes);
}

TensorEntry parse_entry(const std::string& name, const JsonView& json) {
  json.only({"dtype", "shape", "data_offsets"});
  TensorEntry entry;
  entry.name = name;
  entry.dtype = json.at("dtype").string();
  entry.shape = json.at("shape").integers(0, kMaxInt);
  const std::vector<std::int64_t> range =
      json.at("data_offsets").integers(0, kMaxInt);
  if (range.size() != 2 || range[0] > range[1])
    bad_data("tensor " + in_quotes(name) +
             ": data_offsets must be [begin, end]");
  entry.begin = static_cast<std::size_t>(range[0]);
  entry.end = static_cast<std::size_t>(range[1]);
  if (entry.end - entry.begin != byte_size(entry))
    bad_data("tensor " + in_quotes(name) + ": has " +
             std::to_string(entry.end - entry.begin) +
             " bytes, but its shape and " + "dtype want " +
             std::to_string(byte_size(entry)));
  return entry;
}

// The tensors must cover the area from its start to its end, which is
// returned, once.
std::size_t cover(const std::vector<TensorEntry>& tensors) {
  std::size_t at = 0;
  for (const TensorEntry& entry : tensors) {
    if (entry.begin != at)
      bad_data("tensor " + in_quotes(entry.name) + ": starts at byte " +
               std::to_string(entry.begin) + " where " + std::to_string(at) +
               " was expected (a hole or an overlap)");
    at = entry.end;
  }
  return at;
}

}  // namespace

std::size_t safetensors_data_offset(std::span<const std::byte> start) {
  if (start.size() < 8) bad_data("too short for a safetensors header");
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), 8);
  if (length < 2 || length > kMaxHeader)
    bad_data("the safetensors header claims " + std::to_string(length) +
             " bytes, want 2.." + std::to_string(kMaxHeader));
  return 8 + static_cast<std::size_t>(length);
}

SafetensorsHeader parse_safetensors_start(std::span<const std::byte> start) {
  const std::size_t offset = safetensors_data_offset(start);
  if (offset > start.size())
    bad_data("the safetensors header claims " + std::to_string(offset - 8) +
             " bytes, but the blob has " + std::to_string(start.size()));
  const std::string_view text(reinterpret_cast<const char*>(start.data()) + 8,
                              offset - 8);
  if (!text.starts_with('{'))
    bad_data("the safetensors header is no JSON object");
  const Json json = parse_json(text, "safetensors header", Code::kData);

  SafetensorsHeader header;
  header.data_offset = offset;
  for (const auto& [name, value] : json.items()) {
    const JsonView view(value, Code::kData, name);
    if (name != "__metadata__") {
      header.tensors.push_back(parse_entry(name, view));
      continue;
    }
    if (!value.is_object()) view.fail("an object");
    for (const auto& [key, entry] : value.items())
      header.metadata[key] = view.at(key).string();
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  header.bytes = offset + cover(header.tensors);
  return header;
}

SafetensorsHeader parse_safetensors(std::span<const std::byte> blob) {
  SafetensorsHeader header = parse_safetensors_start(blob);
  if (header.bytes != blob.size())
    bad_data("tensors cover " +
             std::to_string(header.bytes - header.data_offset) + " bytes of " +
             std::to_string(blob.size() - header.data_offset));
  return header;
}

std::vector<std::byte> safetensors_header(
    const std::map<std::string, std::string>& metadata,
    std::vector<TensorEntry>& tensors) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  std::size_t at = 0;
  for (TensorEntry& entry : tensors) {
    require(!json.contains(entry.name), "two tensors have one name");
    entry.begin = at;
    at += static_cast<std::size_t>(byte_size(entry));
    entry.end = at;
    json[entry.name] = {{"dtype", entry.dtype},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = json.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  if (text.size() > kMaxHeader)
    bad_data("the safetensors header would have " +
             std::to_string(text.size()) + " bytes, more than the " +
             std::to_string(kMaxHeader) + " that can be read");
  std::vector<std::byte> bytes(8 + text.size());
  const std::uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, text.data(), text.size());
  return bytes;
}

Digest metadata_digest(const std::map<std::string, std::string>& metadata) {
  Digest digest;
  for (const auto& [key, value] : metadata) {
    if (key == "xxh3") continue;
    digest.add_text(key);
    digest.add_text(value);
  }
  return digest;
}

}  // namespace dl::io
