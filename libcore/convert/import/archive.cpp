// Passing of a file's contents from the sandboxed reader.

#include "libcore/convert/import/archive.h"

#include "libcore/base/error.h"
#include "libcore/io/safetensors.h"

namespace dl::convert {

const std::string* Archive::text(const std::string& name) const {
  const auto found = texts.find(name);
  return found == texts.end() ? nullptr : &found->second;
}

Archive open_archive(std::shared_ptr<const io::Mapping> memory) {
  const std::span<const std::byte> all = memory->bytes();
  const std::size_t start = io::safetensors_data_offset(all);
  if (start > all.size())
    throw Error{Code::kData, "its reader handed back half a header"};
  const io::SafetensorsHeader header =
      io::parse_safetensors_start(all.first(start));
  if (header.bytes > all.size())
    throw Error{Code::kData, "its reader handed back half of it"};
  Archive archive;
  archive.texts = header.metadata;
  const std::span<const std::byte> data = all.subspan(header.data_offset);
  for (const io::TensorEntry& entry : header.tensors) {
    if (entry.dtype != "F32")
      throw Error{Code::kData, "its reader handed back no numbers"};
    const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
    archive.arrays.emplace(
        entry.name,
        Array{tensor::Shape(std::span<const std::int64_t>(entry.shape)),
              {reinterpret_cast<const float*>(bytes.data()),
               bytes.size() / sizeof(float)}});
  }
  archive.memory = std::move(memory);
  return archive;
}

}  // namespace dl::convert
