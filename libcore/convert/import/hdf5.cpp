// Reading of HDF5 files.

#include "libcore/convert/import/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/io/safetensors.h"
#include "libcore/tensor/shape.h"

namespace dl::convert {
namespace {

constexpr int kMaxDepth = 40;
constexpr std::size_t kMaxObjects = 200'000;
constexpr std::size_t kMaxTexts = std::size_t{48} << 20;
// Packed numbers, and float16, are larger in memory.
constexpr std::uint64_t kMostTimes = 16;
constexpr std::uint64_t kMoreBytes = std::uint64_t{64} << 20;

// A handle of the library.
class Id {
 public:
  using Close = herr_t (*)(hid_t);
  Id(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id < 0) bad_data("the HDF5 library cannot read " + what);
  }
  ~Id() { close_(id_); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

Id open_image(std::span<const std::byte> file, hid_t access) {
  H5Pset_fapl_core(access, std::size_t{1} << 20, false);
  H5Pset_file_image(access, const_cast<std::byte*>(file.data()), file.size());
  return {H5Fopen("file", H5F_ACC_RDONLY, access), H5Fclose,
          "it: it is damaged or cut short"};
}

// The extents of a dataset or attribute.
std::vector<std::int64_t> extents_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > tensor::Shape::kMaxRank)
    bad_data("an array has " + std::to_string(rank) + " dimensions");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank) + 1);
  if (H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
    bad_data("an array has no size");
  std::vector<std::int64_t> extents;
  for (int k = 0; k < rank; ++k) {
    if (sizes[static_cast<std::size_t>(k)] > std::uint64_t{1} << 40)
      bad_data("an array is larger than memory");
    extents.push_back(
        static_cast<std::int64_t>(sizes[static_cast<std::size_t>(k)]));
  }
  return extents;
}

// A string of fixed length ends at a NUL or with its room.
std::string text_of(const char* bytes, std::size_t room) {
  return {bytes, strnlen(bytes, room)};
}

class Walk {
 public:
  explicit Walk(std::uint64_t file_bytes)
      : most_(kMostTimes * file_bytes + kMoreBytes) {}

  void group(hid_t group, const std::string& path, int depth);
  const std::vector<io::TensorEntry>& arrays() const { return arrays_; }
  const Json& attributes() const { return attributes_; }
  const Json& unread() const { return unread_; }

 private:
  void object(hid_t parent, const std::string& name, bool hard,
              const std::string& path, int depth);
  void dataset(hid_t set, const std::string& path);
  void texts(hid_t object, const std::string& path);
  std::optional<Json> text(hid_t attribute, const std::string& where);
  std::vector<std::string> strings(hid_t attribute, hid_t type, hid_t space,
                                   std::size_t count, const std::string& where);
  void count_object() {
    if (++objects_ > kMaxObjects)
      bad_data("it has more than " + std::to_string(kMaxObjects) + " objects");
  }
  void count_text(std::size_t bytes) {
    texts_ += bytes;
    if (texts_ > kMaxTexts)
      bad_data("its texts have more than " + std::to_string(kMaxTexts) +
               " bytes");
  }

  std::uint64_t most_, bytes_ = 0;
  std::size_t objects_ = 0, texts_ = 0;
  std::vector<io::TensorEntry> arrays_;
  Json attributes_ = Json::object(), unread_ = Json::object();
};

struct Link {
  std::string name;
  bool hard = false;
  auto operator<=>(const Link&) const = default;
};

// Called by the library, through which nothing may be thrown.
herr_t note_link(hid_t, const char* name, const H5L_info_t* info, void* links) {
  auto& all = *static_cast<std::vector<Link>*>(links);
  if (all.size() >= kMaxObjects) return 1;
  all.push_back({name, info->type == H5L_TYPE_HARD});
  return 0;
}

const char* what_is(hid_t type, H5T_class_t kind) {
  // HDF5 has no word for them, and Keras writes their bytes.
  if (kind == H5T_OPAQUE && H5Tget_size(type) == 2)
    return "an array of bfloat16; one of float32 would be needed";
  if (kind == H5T_STRING) return "an array of texts";
  if (kind == H5T_ENUM) return "an array of truth values or names";
  if (kind == H5T_COMPOUND) return "an array of records or complex numbers";
  return "no array of numbers";
}

// A sandbox opens no other file, and the library would give zeros.
void refuse_elsewhere(hid_t set, const std::string& path) {
  const Id list(H5Dget_create_plist(set), H5Pclose, in_quotes(path));
  if (H5Pget_layout(list) == H5D_VIRTUAL || H5Pget_external_count(list) > 0)
    bad_data("the numbers of " + in_quotes(path) +
             " lie in other files, which are not read; h5py or h5repack make "
             "one file of them");
}

void Walk::group(hid_t group, const std::string& path, int depth) {
  if (depth > kMaxDepth)
    bad_data("its groups are nested deeper than " + std::to_string(kMaxDepth));
  texts(group, path.empty() ? "/" : path);
  std::vector<Link> links;
  hsize_t from = 0;
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &from, note_link,
                 &links) < 0)
    bad_data("the HDF5 library cannot list the group " +
             in_quotes(path.empty() ? "/" : path));
  std::ranges::sort(links);
  for (const auto& [name, hard] : links)
    object(group, name, hard, path.empty() ? name : path + "/" + name, depth);
}

void Walk::object(hid_t parent, const std::string& name, bool hard,
                  const std::string& path, int depth) {
  count_object();
  count_text(path.size());
  if (!is_utf8(path)) bad_data("a name in it is not UTF-8");
  // Links to other files lead out of the file that the user named; h5py makes
  // none.
  if (!hard) {
    unread_[path] = "a link";
    return;
  }
  // Skips the states of updaters, which are as large as the network again.
  if (path == "optimizer_weights" || path == "optimizer") return;
  const Id id(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose,
              in_quotes(path));
  const H5I_type_t type = H5Iget_type(id);
  if (type == H5I_GROUP) group(id, path, depth + 1);
  if (type == H5I_DATASET) dataset(id, path);
}

void Walk::dataset(hid_t set, const std::string& path) {
  const Id type(H5Dget_type(set), H5Tclose, in_quotes(path));
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
    unread_[path] = what_is(type, kind);
    return;
  }
  refuse_elsewhere(set, path);
  const Id space(H5Dget_space(set), H5Sclose, in_quotes(path));
  const std::vector<std::int64_t> extents = extents_of(space);
  double bytes = sizeof(float);
  for (const std::int64_t extent : extents)
    bytes *= static_cast<double>(extent);
  if (static_cast<double>(bytes_) + bytes > static_cast<double>(most_))
    bad_data("it claims to hold more numbers than a file of its size can");
  bytes_ += static_cast<std::uint64_t>(bytes);
  arrays_.push_back({.name = path, .dtype = "F32", .shape = extents});
}

void Walk::texts(hid_t object, const std::string& path) {
  const int count = H5Aget_num_attrs(object);
  for (int i = 0; i < count; ++i) {
    count_object();
    const Id attribute(
        H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE,
                       static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, "an attribute of " + in_quotes(path));
    char name[256];
    if (H5Aget_name(attribute, sizeof name, name) < 0 || !is_utf8(name))
      bad_data("an attribute of " + in_quotes(path) + " has no name");
    if (std::optional<Json> value =
            text(attribute, in_quotes(path + "@" + name)))
      attributes_[path][name] = std::move(*value);
  }
}

std::optional<Json> Walk::text(hid_t attribute, const std::string& where) {
  const Id type(H5Aget_type(attribute), H5Tclose, where);
  if (H5Tget_class(type) != H5T_STRING) return std::nullopt;
  const Id space(H5Aget_space(attribute), H5Sclose, where);
  std::size_t count = 1;
  const std::vector<std::int64_t> extents = extents_of(space);
  if (extents.size() > 1) return std::nullopt;
  if (!extents.empty()) count = static_cast<std::size_t>(extents[0]);
  if (count > kMaxObjects) bad_data(where + " has too many texts");
  std::vector<std::string> all = strings(attribute, type, space, count, where);
  for (const std::string& one : all) {
    if (!is_utf8(one)) bad_data(where + " is not UTF-8");
    count_text(one.size());
  }
  if (extents.empty()) return all.empty() ? Json("") : Json(all[0]);
  return Json(all);
}

std::vector<std::string> Walk::strings(hid_t attribute, hid_t type, hid_t space,
                                       std::size_t count,
                                       const std::string& where) {
  std::vector<std::string> all;
  const Id memory(H5Tcopy(type), H5Tclose, where);
  if (count == 0) return all;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    if (H5Aread(attribute, memory, texts.data()) < 0)
      bad_data("the HDF5 library cannot read " + where);
    for (const char* text : texts) {
      all.emplace_back(text == nullptr ? "" : text);
      count_text(all.back().size());
    }
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, texts.data());
    return all;
  }
  const std::size_t room = H5Tget_size(type);
  if (room == 0 || room > kMaxTexts / count)
    bad_data(where + " is a text of " + std::to_string(room) + " bytes");
  std::string bytes(room * count, '\0');
  if (H5Aread(attribute, memory, bytes.data()) < 0)
    bad_data("the HDF5 library cannot read " + where);
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(text_of(bytes.data() + i * room, room));
  return all;
}

}  // namespace

void write_hdf5(std::span<const std::byte> file,
                std::map<std::string, std::string> texts, const Write& write) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print
  H5dont_atexit();
  H5PLset_loading_state(0);  // filters are code
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "anything");
  const Id opened = open_image(file, access);
  const Id root(H5Gopen2(opened, "/", H5P_DEFAULT), H5Gclose, "its root");
  Walk walk(file.size());
  walk.group(root, "", 0);
  texts["attributes"] = dump_json(walk.attributes());
  if (!walk.unread().empty()) texts["unread"] = dump_json(walk.unread());
  std::vector<io::TensorEntry> arrays = walk.arrays();
  write(io::safetensors_header(texts, arrays));
  std::vector<float> values;
  for (const io::TensorEntry& array : arrays) {
    values.assign((array.end - array.begin) / sizeof(float), 0.0F);
    const Id set(H5Dopen2(root, array.name.c_str(), H5P_DEFAULT), H5Dclose,
                 in_quotes(array.name));
    if (!values.empty() && H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL,
                                   H5P_DEFAULT, values.data()) < 0)
      bad_data("the HDF5 library cannot read the numbers of " +
               in_quotes(array.name));
    write(std::as_bytes(std::span(values)));
  }
}

}  // namespace dl::convert
