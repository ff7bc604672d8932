// Detection of a file's kind, and its reading in the sandbox.

#include "libcore/convert/import/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/model.h"
#include "libcore/convert/import/hdf5.h"
#include "libcore/convert/import/npy.h"
#include "libcore/convert/import/onnx/read.h"
#include "libcore/convert/import/sandbox/sandbox.h"
#include "libcore/convert/import/zip.h"
#include "libcore/io/safetensors.h"
#include "libcore/io/source.h"

namespace dl::convert {
namespace {

constexpr std::size_t kMaxText = std::size_t{32} << 20;  // of one member
constexpr std::size_t kMaxPiped = std::size_t{8} << 30;
constexpr std::uint64_t kGibi = std::uint64_t{1} << 30;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Weights hardly shrink when packed: what grows much more is a trap.
std::size_t most_of(std::span<const std::byte> file) {
  return 16 * file.size() + (std::size_t{64} << 20);
}

// The members of a zip that are of use, as texts; its weights as arrays.
void write_zip(std::span<const std::byte> file, const Write& write) {
  const Zip zip(file);
  const std::vector<std::string> names = zip.names();
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (has("configuration.json"))
    return dl4j::write_members(zip, most_of(file), write);
  std::map<std::string, std::string> texts;
  for (const char* name : {"config.json", "metadata.json"})
    if (has(name)) texts[name] = zip.member(name, kMaxText);
  if (!has("config.json"))
    throw Error{
        Code::kData,
        "it is a zip file without config.json or configuration.json, no "
        "model of Keras or Deeplearning4j"};
  if (has("model.weights.json"))
    throw Error{Code::kData,
                "its weights are in several members; save it with Keras as one "
                "file, without max_shard_size"};
  if (!has("model.weights.h5"))
    throw Error{Code::kData, "it has no member 'model.weights.h5'"};
  const std::string weights = zip.member("model.weights.h5", most_of(file));
  write_hdf5(std::as_bytes(std::span(weights)), texts, write);
}

// Each member is an .npy file, whose numbers go out as float32.
void write_npz(std::span<const std::byte> file, const Write& write) {
  const Zip zip(file);
  std::vector<io::TensorEntry> entries;
  std::vector<tensor::Tensor> arrays;
  std::size_t left = most_of(file);
  for (const std::string& member : zip.names()) {
    constexpr std::string_view kEnd = ".npy";
    if (!member.ends_with(kEnd))
      throw Error{Code::kData,
                  "its member " + in_quotes(member) + " is no array of NumPy"};
    const std::string bytes = zip.member(member, left);
    left -= bytes.size();
    try {
      arrays.push_back(read_npy(std::as_bytes(std::span(bytes))));
    } catch (Error& e) {
      e.add_context("its member " + in_quotes(member));
      throw;
    }
    const auto extents = arrays.back().shape().extents();
    const std::string name = member.substr(0, member.size() - kEnd.size());
    if (!is_utf8(name) ||
        std::ranges::count(entries, name, &io::TensorEntry::name) > 0)
      throw Error{Code::kData,
                  "two of its members are called " + in_quotes(member)};
    entries.push_back({.name = name,
                       .dtype = "F32",
                       .shape = {extents.begin(), extents.end()}});
  }
  write(io::safetensors_header({}, entries));
  for (const tensor::Tensor& array : arrays) write(array.bytes());
}

SandboxLimits limits_for(std::span<const std::byte> file) {
  const auto size = static_cast<std::uint64_t>(file.size());
  return {.memory = 2 * kGibi + 8 * size,
          .result = kGibi + 17 * size,
          .time = std::chrono::seconds(5 + static_cast<long>(size >> 24))};
}

Archive unpack(std::span<const std::byte> file, Container container) {
  if (container == Container::kJson) {
    if (file.size() > kMaxText)
      throw Error{Code::kData, "it is a JSON text of more than " +
                                   std::to_string(kMaxText) + " bytes"};
    Archive archive;
    archive.texts["json"] = std::string(without_byte_order_mark(text_of(file)));
    return archive;
  }
  return open_archive(run_in_sandbox(limits_for(file), [&](const Write& write) {
    if (container == Container::kZip) return write_zip(file, write);
    if (container == Container::kOnnx) return onnx::write_graph(file, write);
    write_hdf5(file, {}, write);
  }));
}

// Refuses devices, which have no end, rather than read them into memory.
void refuse_device(const std::string& spec) {
  struct stat info {};
  const bool there =
      spec == "-" ? ::fstat(STDIN_FILENO, &info) == 0
                  : io::names_file(spec) && ::stat(spec.c_str(), &info) == 0;
  const bool terminal = spec == "-" && ::isatty(STDIN_FILENO) != 0;
  if (there && !terminal && (S_ISBLK(info.st_mode) || S_ISCHR(info.st_mode)))
    throw Error{Code::kData,
                (spec == "-" ? "standard input" : in_quotes(spec)) +
                    " is a device; want a file or a pipe"};
}

}  // namespace

Container container_of(std::span<const std::byte> file) {
  const std::string_view text = text_of(file);
  constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
  if (text.starts_with(kHdf5)) return Container::kHdf5;
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06"))
    return Container::kZip;
  const std::string_view json = without_byte_order_mark(text);
  const auto first = json.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && json[first] == '{')
    return Container::kJson;
  if (onnx::is_onnx(file)) return Container::kOnnx;
  // Behind what others put before it, a user block.
  for (std::size_t at = 512; at < text.size(); at *= 2)
    if (text.substr(at).starts_with(kHdf5)) return Container::kHdf5;
  throw Error{Code::kData,
              "it is no model that is imported: no HDF5 file, zip file, ONNX "
              "file or JSON text"};
}

Bytes read_file(const std::string& spec) {
  refuse_device(spec);
  Bytes bytes{.name = in_quotes(spec), .mapping = io::map_file(spec)};
  if (bytes.mapping) return bytes;
  const std::unique_ptr<io::Source> source = io::open_source(spec);
  bytes.name = source->name();
  bytes.piped = io::read_all(*source, kMaxPiped);
  source->close();
  return bytes;
}

File open_file(const std::string& spec) {
  const Bytes bytes = read_file(spec);
  File file{.name = bytes.name, .path = bytes.mapping ? spec : ""};
  try {
    file.container = container_of(bytes.all());
    file.archive = unpack(bytes.all(), file.container);
    if (bytes.mapping) bytes.mapping->require_unchanged();
  } catch (Error& e) {
    e.add_context(file.name);
    throw;
  }
  return file;
}

Archive unpack_npz(std::span<const std::byte> file) {
  return open_archive(run_in_sandbox(
      limits_for(file), [&](const Write& write) { write_npz(file, write); }));
}

}  // namespace dl::convert
