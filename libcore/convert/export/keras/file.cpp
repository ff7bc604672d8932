// The file that wraps libhdf5 and libzip.

#include "libcore/convert/export/keras/file.h"

#include <hdf5.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "libcore/base/error.h"

namespace dl::convert {
namespace {

// 2020-01-01, so that equal models have equal bytes.
constexpr std::uint16_t kDosDate = ((2020 - 1980) << 9) | (1 << 5) | 1;

// An identifier of HDF5, closed at the end of its scope.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw Error{Code::kIo, "HDF5 cannot write the weights"};
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void want(bool good) {
  if (!good) throw Error{Code::kIo, "HDF5 cannot write the weights"};
}

void write_tensor(hid_t file, hid_t links, const std::string& path,
                  const KerasTensor& tensor) {
  const std::vector<hsize_t> shape(tensor.shape.begin(), tensor.shape.end());
  const Handle plain(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  want(H5Pset_obj_track_times(plain, false) >= 0);
  const Handle space(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
      H5Sclose);
  const Handle set(H5Dcreate2(file, path.c_str(), H5T_IEEE_F32LE, space, links,
                              plain, H5P_DEFAULT),
                   H5Dclose);
  want(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                tensor.values.data()) >= 0);
}

// An attribute of a group: one text, or a list.
void write_texts(hid_t file, const std::string& group, const std::string& name,
                 const std::vector<std::string>& texts, bool list) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  want(H5Tset_size(type, H5T_VARIABLE) >= 0 &&
       H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
  const hsize_t count = texts.size();
  const Handle space(
      list ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR),
      H5Sclose);
  const Handle attribute(
      H5Acreate_by_name(file, group.empty() ? "." : group.c_str(), name.c_str(),
                        type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  std::vector<const char*> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(text.c_str());
  if (!all.empty()) want(H5Awrite(attribute, type, all.data()) >= 0);
}

[[noreturn]] void fail_zip() {
  throw Error{Code::kIo, "libzip cannot make the archive"};
}

}  // namespace

std::string hdf5_file(const Hdf5Content& content) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  want(H5Pset_fapl_core(access, 1 << 20, false) >= 0);
  const Handle file(H5Fcreate("weights", H5F_ACC_TRUNC, H5P_DEFAULT, access),
                    H5Fclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  want(H5Pset_create_intermediate_group(links, 1) >= 0);
  for (const auto& [path, tensor] : content.tensors)
    write_tensor(file, links, path, tensor);
  for (const std::string& path : content.groups) {
    const auto inside = [&](const auto& t) {
      return t.first.starts_with(path + "/");
    };
    if (std::ranges::any_of(content.tensors, inside)) continue;
    const Handle group(
        H5Gcreate2(file, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT),
        H5Gclose);
  }
  for (const auto& [group, texts] : content.texts)
    for (const auto& [name, text] : texts)
      write_texts(file, group, name, {text}, false);
  for (const auto& [group, lists] : content.lists)
    for (const auto& [name, list] : lists)
      write_texts(file, group, name, list, true);
  want(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  want(size > 0);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  want(H5Fget_file_image(file, bytes.data(), bytes.size()) == size);
  return bytes;
}

std::string zip_file(
    const std::vector<std::pair<std::string, std::string>>& members) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const place = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (place == nullptr) fail_zip();
  zip_source_keep(place);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> kept(
      place, zip_source_free);
  zip_t* const archive = zip_open_from_source(place, ZIP_TRUNCATE, &error);
  if (archive == nullptr) fail_zip();
  std::unique_ptr<zip_t, void (*)(zip_t*)> open(archive, zip_discard);
  for (const auto& [name, bytes] : members) {
    zip_source_t* const source =
        zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, 0);
    if (index < 0) fail_zip();
    const auto at = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, at, 0, kDosDate, 0) != 0)
      fail_zip();
  }
  if (zip_close(archive) != 0) fail_zip();
  std::ignore = open.release();
  zip_stat_t stat;
  if (zip_source_stat(place, &stat) != 0 || zip_source_open(place) != 0)
    fail_zip();
  std::string bytes(stat.size, '\0');
  const zip_int64_t read = zip_source_read(place, bytes.data(), bytes.size());
  zip_source_close(place);
  if (read != static_cast<zip_int64_t>(bytes.size())) fail_zip();
  return bytes;
}

}  // namespace dl::convert
