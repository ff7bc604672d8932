// The model file.  Tensors lie in the order of the layout: parameters,
// statistics, updater state, vectors of the run; dl-model(5) has the fields.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "libcore/base/display.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/mapping.h"
#include "libcore/io/safetensors.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/model/model_metadata.h"

namespace dl::nn {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kVectorPrefix = "training/";

// Where a tensor of the file lies in a Model; vector: null, a whole one of the
// training vectors.
struct Slot {
  io::TensorEntry entry;
  std::vector<float> Model::*vector = nullptr;
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

void add_vector(std::vector<Slot>& slots, const std::string& tensor,
                std::int64_t elements) {
  slots.push_back({{.name = tensor, .dtype = "F32", .shape = {elements}},
                   nullptr,
                   0,
                   elements});
}

std::string vector_name(const Slot& slot) {
  return slot.entry.name.substr(kVectorPrefix.size());
}

// The tensors of a file in their order, without the vectors of the run.
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
  if (model.in_file.empty())
    model.parameters.resize(static_cast<std::size_t>(layout.parameter_count));
  model.statistics.resize(static_cast<std::size_t>(layout.statistics_count));
  if (with_state)
    model.updater_state.resize(static_cast<std::size_t>(layout.state_count));
}

// Whether a block has NaN or infinity: all bits of the exponent set.  The size
// is fixed, so that the loop is vectorized.
constexpr std::size_t kBlock = 1024;
bool finite_block(const float* values) {
  std::uint32_t worst = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    worst |= (bits & 0x7f800000U) == 0x7f800000U ? 1U : 0U;
  }
  return worst == 0;
}

// Updater state may overflow while the model is sound; the rest may not.
bool sound(const Slot& slot, std::span<const float> values) {
  if (slot.vector == &Model::updater_state) return true;
  std::size_t i = 0;
  for (; i + kBlock <= values.size(); i += kBlock)
    if (!finite_block(values.data() + i)) return false;
  for (; i < values.size(); ++i)
    if (!std::isfinite(values[i])) return false;
  return true;
}

[[noreturn]] void not_finite(const Slot& slot) {
  bad_data("tensor '" + displayed(slot.entry.name) +
           "' holds a value that is not finite");
}

// Model or const Model.
template <typename M>
auto values_of(M& model, const Slot& slot) {
  auto& vector = slot.vector != nullptr
                     ? model.*slot.vector
                     : model.training_vectors.at(vector_name(slot));
  return std::span(vector).subspan(static_cast<std::size_t>(slot.offset),
                                   static_cast<std::size_t>(slot.elements));
}

// Starts the digest of a file: everything but the tensors' bytes.
io::Digest start_digest(const ModelStrings& metadata,
                        const std::vector<io::TensorEntry>& entries) {
  io::Digest digest = io::metadata_digest(metadata);
  for (const io::TensorEntry& entry : entries) {
    digest.add_text(entry.name);
    std::string shape = entry.dtype;
    for (const std::int64_t extent : entry.shape)
      shape += " " + std::to_string(extent);
    digest.add_text(shape);
  }
  return digest;
}

std::string describe(const io::TensorEntry& entry) {
  std::string text =
      "'" + displayed(entry.name) + "' " + displayed(entry.dtype) + " [";
  for (std::size_t i = 0; i < entry.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(entry.shape[i]);
  return text + "]";
}

// Puts the tensors that are wanted into the order in which they are, which is
// that of all others after them.
std::vector<io::TensorEntry> in_order(std::vector<io::TensorEntry> found,
                                      const std::vector<Slot>& wanted) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    places[wanted[i].entry.name] = i;
  std::ranges::stable_sort(found, {}, [&](const io::TensorEntry& entry) {
    const auto place = places.find(entry.name);
    return place == places.end() ? wanted.size() : place->second;
  });
  return found;
}

// A checksum is that of the network's order; a program that changes a model
// may have kept that of the old one.
void check_order(const std::vector<io::TensorEntry>& found,
                 const std::vector<io::TensorEntry>& wanted) {
  if (!std::ranges::equal(found, wanted, {}, &io::TensorEntry::name,
                          &io::TensorEntry::name))
    bad_data(
        "its tensors are not in the order of its network: another program "
        "wrote it and kept the checksum of the old; delete 'xxh3' from its "
        "metadata");
}

// The file must hold the tensors of its network, in order, and no others.
void check_tensors(const std::vector<io::TensorEntry>& found,
                   const std::vector<Slot>& wanted) {
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    if (i >= wanted.size())
      bad_data("tensor '" + displayed(found[i].name) +
               "' is none of its network's");
    const io::TensorEntry& want = wanted[i].entry;
    if (i >= found.size())
      bad_data("tensor '" + displayed(want.name) + "' is missing");
    if (found[i].name != want.name || found[i].dtype != want.dtype ||
        found[i].shape != want.shape)
      bad_data("its network wants tensor " + describe(want) + ", found " +
               describe(found[i]));
  }
}

// Adds the tensors to the digest and returns the first one that is not sound,
// or null.  Piece by piece, so that each comes from memory once; they need not
// be aligned.
const Slot* examine(io::Digest& digest, const std::vector<Slot>& slots,
                    const std::vector<io::TensorEntry>& entries,
                    std::span<const std::byte> tensors) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const Slot* bad = nullptr;
  std::vector<float> piece;
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t at = entries[i].begin; at < entries[i].end; at += kPiece) {
      const auto bytes =
          tensors.subspan(at, std::min(kPiece, entries[i].end - at));
      digest.add(bytes);
      piece.resize(bytes.size() / sizeof(float));
      std::memcpy(piece.data(), bytes.data(), bytes.size());
      if (bad == nullptr && !sound(slots[i], piece)) bad = &slots[i];
    }
  return bad;
}

// The parameters in the blob, if it has them in the order of the flat vector,
// and aligned; else nothing.
std::span<const float> parameters_in(
    std::span<const std::byte> tensors, const std::vector<Slot>& slots,
    const std::vector<io::TensorEntry>& entries, const Layout& layout) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].vector != &Model::parameters) break;
    if (slots[i].offset != at ||
        entries[i].begin != static_cast<std::size_t>(at) * sizeof(float))
      return {};
    at += slots[i].elements;
  }
  if (at != layout.parameter_count ||
      reinterpret_cast<std::uintptr_t>(tensors.data()) % alignof(float) != 0)
    return {};
  return {reinterpret_cast<const float*>(tensors.data()),
          static_cast<std::size_t>(at)};
}

// Programs other than ours write none.  A name that was damaged is not that.
bool has_checksum(const ModelStrings& metadata) {
  if (metadata.contains("xxh3")) return true;
  for (const auto& [key, value] : metadata)
    if (value.size() == 16 &&
        value.find_first_not_of("0123456789abcdef") == std::string::npos)
      bad_data("the metadata lack 'xxh3', but '" + displayed(key) +
               "' looks like one");
  return false;
}

void check_digest(const io::Digest& digest, const std::string& kept) {
  if (io::hex(digest.value()) != kept)
    bad_data("checksum differs: it says " + displayed(kept) +
             ", its contents are " + io::hex(digest.value()));
}

// A damaged byte in the metadata may look like a user's mistake.
Model model_of(const io::SafetensorsHeader& header,
               std::span<const std::byte> tensors) {
  try {
    return model_from(header.metadata);
  } catch (const Error&) {
    const auto kept = header.metadata.find("xxh3");
    if (kept == header.metadata.end()) throw;
    io::Digest digest = start_digest(header.metadata, header.tensors);
    for (const io::TensorEntry& entry : header.tensors)
      digest.add(tensors.subspan(entry.begin, entry.end - entry.begin));
    check_digest(digest, kept->second);
    throw;
  }
}

std::string help_for(const io::FileKind& kind) {
  if (kind.what == io::FileClass::kModel) return ": dl-import makes one of it";
  if (kind.what == io::FileClass::kHdf5 || kind.what == io::FileClass::kArchive)
    return ": if it is a model of another program, dl-import makes one of it";
  if (kind.what == io::FileClass::kJson)
    return ": dl-master --net trains a network, dl-import reads one of Keras "
           "with its --weights";
  return kind.text == "zstd data" ? ", such as a DataSet stream" : "";
}

// A data set or a table in the place of a model is called by its name.
constexpr std::size_t kKindBytes = 512;  // that tell
void check_kind(std::span<const std::byte> start) {
  if (start.size() < 10) return;
  const io::FileKind kind = io::file_kind(start);
  switch (kind.what) {
    case io::FileClass::kOurModel:
    case io::FileClass::kOurData:
    case io::FileClass::kSafetensors:
      return;
    default:
      throw Error{Code::kData, (kind.what == io::FileClass::kModel
                                    ? "is no model of dl-tools but "
                                    : "is no model but ") +
                                   kind.text + help_for(kind)};
  }
}

// keep: leave the parameters where they are, if that is possible.
Model read_model(std::span<const std::byte> blob, bool keep,
                 const std::function<void()>& no_checksum) {
  const io::SafetensorsHeader header = io::parse_safetensors(blob);
  check_version(header.metadata);
  const auto tensors = blob.subspan(header.data_offset);
  Model model = model_of(header, tensors);
  const Layout layout = layout_of(model.config);
  bool with_state = false;
  for (const io::TensorEntry& entry : header.tensors)
    with_state = with_state || entry.name.starts_with("updater/");
  std::vector<Slot> slots = slots_of(layout, with_state);
  std::map<std::string, std::int64_t> vectors;
  for (const io::TensorEntry& entry : header.tensors)
    if (entry.name.starts_with(kVectorPrefix) && entry.shape.size() == 1)
      vectors[entry.name] = entry.shape[0];
  for (const auto& [name, elements] : vectors)
    add_vector(slots, name, elements);
  const bool checksum = has_checksum(header.metadata);
  const std::vector<io::TensorEntry> entries = in_order(header.tensors, slots);
  check_tensors(entries, slots);
  if (checksum) check_order(header.tensors, entries);

  io::Digest digest = start_digest(header.metadata, entries);
  const Slot* bad = examine(digest, slots, entries, tensors);
  if (checksum)
    check_digest(digest, header.metadata.at("xxh3"));
  else
    no_checksum();
  if (bad != nullptr) not_finite(*bad);

  if (keep) model.in_file = parameters_in(tensors, slots, entries, layout);
  resize(model, layout, with_state);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    if (slot.vector == &Model::parameters && !model.in_file.empty()) continue;
    if (slot.vector == nullptr)
      model.training_vectors[vector_name(slot)].resize(
          static_cast<std::size_t>(slot.elements));
    const auto values = std::as_writable_bytes(values_of(model, slot));
    if (!values.empty())
      std::memcpy(values.data(), tensors.data() + entries[i].begin,
                  values.size());
  }
  return model;
}

// Reads on until the blob has `size` bytes, or the source ends.  Memory grows
// with what there is, whatever the size claims.
void read_up_to(io::Source& source, std::vector<std::byte>& blob,
                std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  while (blob.size() < size) {
    const std::size_t had = blob.size(), n = std::min(kPiece, size - had);
    blob.resize(had + n);
    const std::size_t got =
        io::read_full(source, std::span(blob).subspan(had, n));
    blob.resize(had + got);
    if (got < n) return;
  }
}

// The header, before anything else of what may be no model at all is read.
// `start` gets the bytes that were read for it.
io::SafetensorsHeader read_header(io::Source& source,
                                  std::vector<std::byte>& start) {
  read_up_to(source, start, kKindBytes);
  check_kind(start);
  read_up_to(source, start, io::safetensors_data_offset(start));
  return io::parse_safetensors_start(start);
}

// The file in memory, if it is one and has `size` bytes; else null.  keep: in
// memory that nobody else can change.
std::shared_ptr<const io::Mapping> map_whole(const std::string& path,
                                             std::size_t size, bool keep) {
  std::error_code error;
  if (!io::names_file(path) ||
      std::filesystem::file_size(path, error) != size || error)
    return {};
  return keep ? io::copy_file(path) : io::map_file(path);
}

Model read_file(const std::string& path, bool keep, const Log& log) {
  const auto source = io::open_source(path);
  const std::string& name = source->name();
  std::vector<std::byte> blob;
  try {
    const std::size_t size = read_header(*source, blob).bytes;
    const auto file = map_whole(path, size, keep);
    // One byte more tells whether that is all.
    if (!file) read_up_to(*source, blob, size + 1);
    if (blob.size() > size)
      bad_data("goes on after the " + std::to_string(size) +
               " bytes that its header accounts for");
    if (!file) source->close();
    const std::span<const std::byte> bytes = file ? file->bytes() : blob;
    Model model = read_model(bytes, keep && file, [&] {
      if (log)
        log(Level::kInfo, name +
                              " has no checksum, so another program wrote "
                              "it; damage to its numbers goes unnoticed");
    });
    if (!model.in_file.empty()) model.file = file;
    if (file) file->require_unchanged();
    return model;
  } catch (Error& e) {
    if (e.code() == Code::kData) {
      source->close();  // a command that failed is the reason
      e.add_context(name);
    }
    throw;
  }
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

  std::vector<Slot> slots = slots_of(layout, with_state);
  for (const auto& [name, values] : model.training_vectors)
    add_vector(slots, std::string(kVectorPrefix) + name,
               static_cast<std::int64_t>(values.size()));
  ModelStrings metadata = metadata_of(model);
  std::vector<io::TensorEntry> entries;
  entries.reserve(slots.size());
  for (const Slot& slot : slots) entries.push_back(slot.entry);
  io::Digest digest = start_digest(metadata, entries);
  for (const Slot& slot : slots) {
    try {
      if (!sound(slot, values_of(model, slot))) not_finite(slot);
    } catch (Error& e) {
      e.add_context("cannot write '" + displayed(path) + "'");
      throw;
    }
    digest.add(std::as_bytes(values_of(model, slot)));
  }
  metadata["xxh3"] = io::hex(digest.value());

  const auto sink = io::open_sink(path);
  sink->write(io::safetensors_header(metadata, entries));
  for (const Slot& slot : slots)
    sink->write(std::as_bytes(values_of(model, slot)));
  sink->close();
}

Model load_model(const std::string& path, const Log& log) {
  return read_file(path, false, log);
}

Model open_model(const std::string& path, const Log& log) {
  return read_file(path, true, log);
}

}  // namespace dl::nn
