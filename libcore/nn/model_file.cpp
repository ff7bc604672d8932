// The model file.  Tensors lie in the order of the layout: parameters,
// statistics, updater state; dl-model(5) has the fields.

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "libcore/io/digest.h"
#include "libcore/io/safetensors.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model.h"

namespace dl::nn {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kMajorVersion = 1;
constexpr char kVersion[] = "1.0";
constexpr char kDataPrefix[] = "data.";
constexpr std::size_t kMaxBytes = std::size_t{1} << 40;

using Strings = std::map<std::string, std::string>;

[[noreturn]] void damaged(const std::string& what) {
  throw Error{Code::kData, what};
}

// Where a tensor of the file lies in a Model.
struct Slot {
  io::TensorEntry entry;
  std::vector<float> Model::*vector;
  std::int64_t offset = 0;
  std::int64_t elements = 0;
};

void add_slot(std::vector<Slot>& slots, const std::string& name,
              const Segment& segment, std::vector<float> Model::*vector,
              std::int64_t offset) {
  const auto extents = segment.shape.extents();
  slots.push_back({{.name = name,
                    .dtype = "F32",
                    .shape = {extents.begin(), extents.end()}},
                   vector,
                   offset,
                   segment.elements()});
}

// The tensors of a file in their order.
std::vector<Slot> slots_of(const Layout& layout, bool with_state) {
  std::vector<Slot> slots;
  for (const Segment& segment : layout.parameters)
    add_slot(slots, segment.name, segment, &Model::parameters, segment.offset);
  for (const Segment& segment : layout.statistics)
    add_slot(slots, segment.name, segment, &Model::statistics, segment.offset);
  if (!with_state) return slots;
  auto range = layout.state.begin();
  for (const Segment& segment : layout.parameters) {
    while (range->end <= segment.offset) ++range;
    for (int i = 0; i < range->per_parameter; ++i)
      add_slot(
          slots,
          "updater/" + segment.name + "/" + state_name(range->updater.kind, i),
          segment, &Model::updater_state,
          range->offset + i * (range->end - range->begin) + segment.offset -
              range->begin);
  }
  return slots;
}

void resize(Model& model, const Layout& layout, bool with_state) {
  model.parameters.resize(static_cast<std::size_t>(layout.parameter_count));
  model.statistics.resize(static_cast<std::size_t>(layout.statistics_count));
  if (with_state)
    model.updater_state.resize(static_cast<std::size_t>(layout.state_count));
}

// Updater state may overflow while the model is sound; the rest may not.
void check_finite(const Slot& slot, std::span<const float> values) {
  if (slot.vector == &Model::updater_state) return;
  for (const float value : values)
    if (!std::isfinite(value))
      damaged("tensor '" + slot.entry.name +
              "' holds a value that is not finite");
}

std::span<const float> values_of(const Model& model, const Slot& slot) {
  return std::span(model.*slot.vector)
      .subspan(static_cast<std::size_t>(slot.offset),
               static_cast<std::size_t>(slot.elements));
}

Strings metadata_of(const Model& model) {
  Strings text{{"format", "dl-model"},
               {"version", kVersion},
               {"network", dump_json(to_json(model.config))},
               {"normalizer", dump_json(model.normalizer.to_json())},
               {"provenance", dump_json(data::to_json(model.provenance))}};
  for (const auto& [key, value] : model.data.to_strings())
    text[kDataPrefix + key] = value;
  if (!model.training.is_null()) text["training"] = dump_json(model.training);
  return text;
}

void add_text(io::Digest& digest, const std::string& text) {
  digest.add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

// Starts the digest of a file: everything but the tensors' bytes.
io::Digest start_digest(const Strings& metadata,
                        const std::vector<Slot>& slots) {
  io::Digest digest;
  for (const auto& [key, value] : metadata) {
    if (key == "xxh3") continue;
    add_text(digest, key);
    add_text(digest, value);
  }
  for (const Slot& slot : slots) {
    add_text(digest, slot.entry.name);
    std::string shape = slot.entry.dtype;
    for (const std::int64_t extent : slot.entry.shape)
      shape += " " + std::to_string(extent);
    add_text(digest, shape);
  }
  return digest;
}

const std::string& text_at(const Strings& metadata, const char* key) {
  const auto it = metadata.find(key);
  if (it == metadata.end())
    damaged(std::string("the metadata lack '") + key + "'");
  return it->second;
}

void check_version(const Strings& metadata) {
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != "dl-model")
    damaged("is no model of dl-tools (its metadata lack the format)");
  const std::string& version = text_at(metadata, "version");
  int major = 0;
  const char* end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || rest == end || *rest != '.' || major < 1)
    damaged("version '" + version + "' is none");
  if (major > kMajorVersion)
    damaged("is a model of version " + version +
            "; this program reads up to version " +
            std::to_string(kMajorVersion));
}

Json json_at(const Strings& metadata, const char* key) {
  return parse_json(text_at(metadata, key),
                    std::string("metadata '") + key + "'", Code::kData);
}

// Everything of a model but its tensors.
Model describe(const Strings& metadata) {
  Model model;
  try {
    model.config = parse_network(text_at(metadata, "network"), "network");
  } catch (const Error& e) {
    damaged(e.what());
  }
  const Json normalizer = json_at(metadata, "normalizer");
  model.normalizer = data::Normalizer::from_json(
      JsonView(normalizer, Code::kData, "normalizer"));
  const Json provenance = json_at(metadata, "provenance");
  model.provenance = data::provenance_from_json(
      JsonView(provenance, Code::kData, "provenance"));
  Strings data;
  for (const auto& [key, value] : metadata)
    if (key.starts_with(kDataPrefix))
      data[key.substr(sizeof kDataPrefix - 1)] = value;
  model.data = data::Metadata::from_strings(data);
  if (metadata.contains("training"))
    model.training = json_at(metadata, "training");
  return model;
}

std::string describe(const io::TensorEntry& entry) {
  std::string text = "'" + entry.name + "' " + entry.dtype + " [";
  for (std::size_t i = 0; i < entry.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(entry.shape[i]);
  return text + "]";
}

// The file must hold the tensors of its network, in order, and no others.
void check_tensors(const std::vector<io::TensorEntry>& found,
                   const std::vector<Slot>& wanted) {
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    if (i >= wanted.size())
      damaged("tensor '" + found[i].name + "' is none of its network's");
    const io::TensorEntry& want = wanted[i].entry;
    if (i >= found.size()) damaged("tensor '" + want.name + "' is missing");
    if (found[i].name != want.name || found[i].dtype != want.dtype ||
        found[i].shape != want.shape)
      damaged("its network wants tensor " + describe(want) + ", found " +
              describe(found[i]));
  }
}

Model read_model(std::span<const std::byte> blob) {
  const io::SafetensorsHeader header = io::parse_safetensors(blob);
  check_version(header.metadata);
  Model model = describe(header.metadata);
  const Layout layout = layout_of(model.config);
  bool with_state = false;
  for (const io::TensorEntry& entry : header.tensors)
    with_state = with_state || entry.name.starts_with("updater/");
  const std::vector<Slot> slots = slots_of(layout, with_state);
  check_tensors(header.tensors, slots);

  const auto tensors = blob.subspan(header.data_offset);
  io::Digest digest = start_digest(header.metadata, slots);
  digest.add(tensors);
  const std::string& kept = text_at(header.metadata, "xxh3");
  if (io::hex(digest.value()) != kept)
    damaged("checksum differs: it says " + kept + ", its contents are " +
            io::hex(digest.value()));

  resize(model, layout, with_state);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    std::memcpy((model.*slot.vector).data() + slot.offset,
                tensors.data() + header.tensors[i].begin,
                header.tensors[i].end - header.tensors[i].begin);
    check_finite(slot, values_of(model, slot));
  }
  return model;
}

}  // namespace

void save_model(const Model& model, const std::string& path) {
  const Layout layout = layout_of(model.config);
  const bool with_state = !model.updater_state.empty();
  const auto holds = [](const std::vector<float>& v, std::int64_t n) {
    return static_cast<std::int64_t>(v.size()) == n;
  };
  require(holds(model.parameters, layout.parameter_count) &&
              holds(model.statistics, layout.statistics_count) &&
              (!with_state || holds(model.updater_state, layout.state_count)),
          "a model's vectors do not fit its network");

  const std::vector<Slot> slots = slots_of(layout, with_state);
  Strings metadata = metadata_of(model);
  io::Digest digest = start_digest(metadata, slots);
  std::vector<io::TensorEntry> entries;
  for (const Slot& slot : slots) {
    try {
      check_finite(slot, values_of(model, slot));
    } catch (Error& e) {
      e.add_context("cannot write '" + path + "'");
      throw;
    }
    digest.add(std::as_bytes(values_of(model, slot)));
    entries.push_back(slot.entry);
  }
  metadata["xxh3"] = io::hex(digest.value());

  const auto sink = io::open_sink(path);
  sink->write(io::safetensors_header(metadata, entries));
  for (const Slot& slot : slots)
    sink->write(std::as_bytes(values_of(model, slot)));
  sink->close();
}

Model load_model(const std::string& path) {
  const auto source = io::open_source(path);
  const std::string blob = io::read_all(*source, kMaxBytes);
  source->close();
  try {
    return read_model(std::as_bytes(std::span(blob)));
  } catch (Error& e) {
    e.add_context(source->name());
    throw;
  }
}

}  // namespace dl::nn
