// The file of a state: one safetensors file, dl-infer(1), SEQUENCES IN PARTS.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/safetensors.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/predict/carried.h"

namespace dl::nn {
namespace {

using Strings = std::map<std::string, std::string>;

constexpr const char* kFormat = "dl-state";
constexpr const char* kVersion = "1.0";

// Identity of the model that a state belongs to: equal networks of equal
// numbers are one model, whatever else their files say.
std::string digest_of(const Model& model) {
  io::Digest digest;
  digest.add_text(dump_json(to_json(model.config)));
  for (const auto* all :
       {&model.normalizers.inputs, &model.normalizers.outputs})
    digest.add_text(dump_json(data::to_json(*all)));
  digest.add(std::as_bytes(model.weights()));
  digest.add(std::as_bytes(std::span(model.statistics)));
  return io::hex(digest.value());
}

// Digest of everything but itself.
std::string digest_of(const Strings& metadata,
                      const std::vector<io::TensorEntry>& entries,
                      std::span<const std::span<const std::byte>> tensors) {
  io::Digest digest = io::metadata_digest(metadata);
  for (const io::TensorEntry& entry : entries) {
    std::string text = entry.name + " " + entry.dtype;
    for (const std::int64_t extent : entry.shape)
      text += " " + std::to_string(extent);
    digest.add_text(text);
  }
  for (const auto& bytes : tensors) digest.add(bytes);
  return io::hex(digest.value());
}

const std::string& state_text(const Strings& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    bad_data(std::string("is no state of dl-infer (its metadata lack '") + key +
             "')");
  return found->second;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  const auto source = io::open_source(path);
  std::vector<std::byte> blob(
      static_cast<std::size_t>(std::filesystem::file_size(path)));
  blob.resize(io::read_full(*source, blob));
  source->close();
  return blob;
}

}  // namespace

void check_state_path(const std::string& path, const std::string& model,
                      const std::string& output,
                      const std::vector<std::string>& inputs) {
  if (path.empty() || path == "-")
    throw Error{Code::kUsage, "--keep-state: want a file"};
  const auto place = [](const std::string& name) {
    std::error_code unknown;
    return std::filesystem::weakly_canonical(name, unknown);
  };
  for (const auto& [other, what] :
       {std::pair{&output, "the output"}, std::pair{&model, "the model"}})
    if (place(*other) == place(path))
      throw Error{Code::kUsage, "--keep-state: '" + displayed(path) + "' is " +
                                    what + " as well"};
  io::refuse_overwriting(path, inputs, "is the state and also");
}

CarriedState::CarriedState(const Model& whole, const NetworkConfig& config,
                           std::string path)
    : path_(std::move(path)),
      model_(digest_of(whole)),
      specs_(carried_by(config)),
      rows_(specs_.size()),
      moving_(specs_.size()) {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw Error{Code::kUsage, "'" + displayed(path_) + "' is no file"};
  try {
    read();
  } catch (Error& e) {
    if (e.code() == Code::kData) e.add_context("'" + displayed(path_) + "'");
    throw;
  }
}

void CarriedState::read() {
  const std::vector<std::byte> blob = bytes_of(path_);
  if (const std::string kind = io::looks_like(blob);
      blob.size() > 9 && kind != "a safetensors file")
    bad_data("is no state of dl-infer but " + kind);
  const io::SafetensorsHeader header = io::parse_safetensors(blob);
  if (state_text(header.metadata, "format") != kFormat)
    bad_data("is no state of dl-infer but a " + header.metadata.at("format"));
  const std::string& version = state_text(header.metadata, "version");
  if (!version.starts_with("1."))
    bad_data("is a state of version " + version + "; this program reads 1");
  const auto tensors = std::span(blob).subspan(header.data_offset);
  std::vector<std::span<const std::byte>> parts;
  parts.reserve(header.tensors.size());
  for (const io::TensorEntry& entry : header.tensors)
    parts.push_back(tensors.subspan(entry.begin, entry.end - entry.begin));
  if (digest_of(header.metadata, header.tensors, parts) !=
      state_text(header.metadata, "xxh3"))
    bad_data("checksum differs: the file is damaged");
  if (state_text(header.metadata, "model") != model_)
    bad_data("is the state of another model");
  std::string names, wanted;
  for (const auto& entry : header.tensors) names += " " + entry.name;
  for (const CarriedSpec& spec : specs_) wanted += " " + spec.name;
  if (names != wanted)
    bad_data("is the state of" + names + ", what is computed has" + wanted);
  examples_ = header.tensors[0].shape.at(0);
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto extents = specs_[i].shape.with_first(examples_).extents();
    if (!std::ranges::equal(header.tensors[i].shape, extents) ||
        header.tensors[i].dtype != "F32")
      bad_data("tensor '" + displayed(specs_[i].name) +
               "' is none of the model's");
    rows_[i].resize(parts[i].size() / sizeof(float));
    std::memcpy(rows_[i].data(), parts[i].data(), parts[i].size());
  }
}

std::span<tensor::Tensor> CarriedState::next(std::int64_t n) {
  if (examples_ > 0 && done_ + n > examples_)
    bad_data("has more examples than the " + std::to_string(examples_) +
             " of the state '" + displayed(path_) + "'");
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const tensor::Shape& row = specs_[i].shape;
    if (examples_ == 0)
      rows_[i].resize(static_cast<std::size_t>((done_ + n) * row.elements()));
    moving_[i].resize(tensor::DType::kF32, row.with_first(n));
    const auto to = moving_[i].as<float>();
    std::copy_n(rows_[i].begin() + done_ * row.elements(), to.size(),
                to.begin());
  }
  return moving_;
}

void CarriedState::keep() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto from = std::as_const(moving_[i]).as<float>();
    if (!std::ranges::all_of(from, [](float x) { return std::isfinite(x); }))
      bad_data("the state '" + displayed(specs_[i].name) +
               "' of an example from " + std::to_string(done_) +
               " on is not finite");
    std::ranges::copy(from,
                      rows_[i].begin() + done_ * specs_[i].shape.elements());
  }
  done_ += moving_[0].shape()[0];
}

void CarriedState::check_complete() const {
  if (examples_ > 0 && done_ != examples_)
    bad_data("there were " + std::to_string(done_) + " examples, the state '" +
             displayed(path_) + "' is of " + std::to_string(examples_) +
             ", which stays as it is");
}

void CarriedState::save() {
  check_complete();
  if (done_ == 0) return;
  Strings metadata{
      {"format", kFormat}, {"version", kVersion}, {"model", model_}};
  std::vector<io::TensorEntry> entries;
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto shape = specs_[i].shape.with_first(done_);
    const auto extents = shape.extents();
    entries.push_back({.name = specs_[i].name,
                       .dtype = "F32",
                       .shape = {extents.begin(), extents.end()}});
    parts.push_back(std::as_bytes(std::span(rows_[i])));
  }
  metadata["xxh3"] = digest_of(metadata, entries, parts);
  const auto sink = io::open_sink(path_);
  sink->write(io::safetensors_header(metadata, entries));
  for (const auto& bytes : parts) sink->write(bytes);
  sink->close();
}

}  // namespace dl::nn
