// The file that wraps libhdf5 and libzip.

#include "libcore/convert/export/keras_file.h"

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

[[noreturn]] void fail_zip() {
  throw Error{Code::kIo, "libzip cannot make the archive"};
}

}  // namespace

std::string hdf5_file(const std::map<std::string, KerasTensor>& tensors,
                      const std::vector<std::string>& groups) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  want(H5Pset_fapl_core(access, 1 << 20, false) >= 0);
  const Handle file(H5Fcreate("weights", H5F_ACC_TRUNC, H5P_DEFAULT, access),
                    H5Fclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  want(H5Pset_create_intermediate_group(links, 1) >= 0);
  const Handle plain(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  want(H5Pset_obj_track_times(plain, false) >= 0);
  for (const auto& [path, tensor] : tensors) {
    const std::vector<hsize_t> shape(tensor.shape.begin(), tensor.shape.end());
    const Handle space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
        H5Sclose);
    const Handle set(H5Dcreate2(file, path.c_str(), H5T_IEEE_F32LE, space,
                                links, plain, H5P_DEFAULT),
                     H5Dclose);
    want(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  tensor.values.data()) >= 0);
  }
  for (const std::string& path : groups) {
    const auto inside = [&](const auto& t) {
      return t.first.starts_with(path);
    };
    if (std::ranges::any_of(tensors, inside)) continue;
    const Handle group(
        H5Gcreate2(file, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT),
        H5Gclose);
  }
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
