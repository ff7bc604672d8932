// Reading of recorded arrays for --check.

#include "libcore/convert/import/arrays.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/file.h"
#include "libcore/convert/import/npy.h"
#include "libcore/data/format/stream.h"
#include "libcore/io/memory.h"

namespace dl::convert {
namespace {

constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

Arrays of_archive(const Archive& archive) {
  Arrays arrays;
  for (const auto& [name, array] : archive.arrays) {
    tensor::Tensor tensor(tensor::DType::kF32, array.shape);
    std::ranges::copy(array.values, tensor.as<float>().begin());
    arrays.emplace(name, std::move(tensor));
  }
  return arrays;
}

// One row a line.
tensor::Tensor read_table(std::string_view text) {
  std::vector<float> values;
  std::int64_t rows = 0, columns = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    ++rows;
    const std::size_t before = values.size();
    for (bool more = true; more;) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      float value = 0;
      const auto [next, error] =
          std::from_chars(line.data(), line.data() + line.size(), value);
      const auto used = static_cast<std::size_t>(next - line.data());
      more = used < line.size() && line[used] == ',';
      if (error != std::errc() || (!more && used < line.size()))
        throw Error{Code::kData, "line " + std::to_string(rows) +
                                     ": want numbers with commas between"};
      values.push_back(value);
      line.remove_prefix(used + (more ? 1 : 0));
    }
    const auto count = static_cast<std::int64_t>(values.size() - before);
    if (rows > 1 && count != columns)
      throw Error{Code::kData, "line " + std::to_string(rows) + ": has " +
                                   std::to_string(count) + " numbers, not " +
                                   std::to_string(columns)};
    columns = count;
  }
  if (rows == 0) throw Error{Code::kData, "it is empty"};
  tensor::Tensor table(tensor::DType::kF32, {rows, columns});
  std::ranges::copy(values, table.as<float>().begin());
  return table;
}

std::string name_of(const std::string& tensor) {
  if (tensor == "features") return "x";
  if (tensor == "labels") return "y";
  constexpr std::string_view kFeatures = "features/";
  return tensor.starts_with(kFeatures) ? tensor.substr(kFeatures.size())
                                       : tensor;
}

// All records of a stream, one behind the other.
Arrays read_stream(const Bytes& bytes) {
  data::StreamReader reader(io::memory_source(bytes.all(), bytes.name));
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, tensor::Shape> shapes;
  std::map<std::string, std::int64_t> counts;
  data::DataSet set;
  while (reader.read(set))
    for (const auto& [tensor, all] : set.tensors) {
      const std::string name = name_of(tensor);
      shapes[name] = all.shape().without_first();
      counts[name] += all.shape()[0];
      for (std::int64_t i = 0; i < all.elements(); ++i)
        values[name].push_back(static_cast<float>(all.value(i)));
    }
  reader.close();
  Arrays arrays;
  for (const auto& [name, all] : values) {
    tensor::Tensor tensor(tensor::DType::kF32,
                          shapes[name].with_first(counts[name]));
    std::ranges::copy(all, tensor.as<float>().begin());
    arrays.emplace(name, std::move(tensor));
  }
  return arrays;
}

Arrays read_bytes(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              file.size());
  Arrays arrays;
  if (text.starts_with("PK")) return of_archive(unpack_npz(file));
  if (text.starts_with("\x93NUMPY"))
    arrays.emplace("x", read_npy(file));
  else
    arrays.emplace("x", read_table(text));
  return arrays;
}

}  // namespace

Arrays read_arrays(const std::string& spec) {
  const Bytes bytes = read_file(spec);
  const std::span<const std::byte> all = bytes.all();
  const std::string_view start(reinterpret_cast<const char*>(all.data()),
                               std::min<std::size_t>(all.size(), 4));
  if (start == kZstd) return read_stream(bytes);
  try {
    return read_bytes(all);
  } catch (Error& e) {
    e.add_context(bytes.name);
    throw;
  }
}

}  // namespace dl::convert
