// Tests of libcore/convert/import/hdf5.h.

#include "libcore/convert/import/hdf5.h"

#include <hdf5.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/file.h"

namespace dl::convert::hdf5_test {
namespace {

constexpr hsize_t kCount[] = {3};

// A file in memory; user_block: bytes before it.
class Made {
 public:
  explicit Made(hsize_t user_block = 0)
      : create_(H5Pcreate(H5P_FILE_CREATE)),
        access_(H5Pcreate(H5P_FILE_ACCESS)) {
    if (user_block > 0) H5Pset_userblock(create_, user_block);
    H5Pset_fapl_core(access_, 1 << 16, false);
    file = H5Fcreate("made", H5F_ACC_TRUNC, create_, access_);
    space = H5Screate_simple(1, kCount, nullptr);
  }
  ~Made() {
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access_);
    H5Pclose(create_);
  }

  void dataset(const char* name, hid_t type, hid_t plist = H5P_DEFAULT) const {
    const hid_t set =
        H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    REQUIRE(set >= 0);
    H5Dclose(set);
  }
  std::vector<std::byte> bytes() const {
    H5Fflush(file, H5F_SCOPE_LOCAL);
    std::vector<std::byte> all(
        static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    H5Fget_file_image(file, all.data(), all.size());
    return all;
  }

  hid_t file = -1, space = -1;

 private:
  hid_t create_, access_;
};

Archive read(const std::vector<std::byte>& file) {
  return open_archive(
      run_in_sandbox({.memory = std::uint64_t{1} << 30, .result = 1 << 20},
                     [&](const Write& write) { write_hdf5(file, {}, write); }));
}

TEST_CASE("numbers that lie in another file are refused, not taken for zeros") {
  const Made made;
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_virtual(plist, made.space, "other.h5", "k", made.space);
  made.dataset("kernel", H5T_NATIVE_FLOAT, plist);
  H5Pclose(plist);
  CHECK_THROWS_WITH(
      read(made.bytes()),
      "the numbers of 'kernel' lie in other files, which are not read; h5py or "
      "h5repack make one file of them");
}

TEST_CASE("what is no array of numbers is named") {
  const Made made;
  made.dataset("a", H5T_NATIVE_FLOAT);
  made.dataset("b", H5T_C_S1);
  const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(pair, "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(pair, "i", 4, H5T_NATIVE_FLOAT);
  made.dataset("c", pair);
  H5Tclose(pair);
  H5Lcreate_soft("/a", made.file, "d", H5P_DEFAULT, H5P_DEFAULT);
  const Archive archive = read(made.bytes());
  CHECK(archive.arrays.size() == 1);
  REQUIRE(archive.text("unread") != nullptr);
  CHECK(*archive.text("unread") ==
        R"({"b":"an array of texts","c":"an array of records or complex )"
        R"(numbers","d":"a link"})");
}

TEST_CASE("a user block is passed over") {
  const Made made(1024);
  made.dataset("a", H5T_NATIVE_FLOAT);
  std::vector<std::byte> bytes(1024);  // the library's image has no block
  const std::vector<std::byte> file = made.bytes();
  bytes.insert(bytes.end(), file.begin(), file.end());
  CHECK(container_of(bytes) == Container::kHdf5);
  CHECK(read(bytes).arrays.count("a") == 1);
}

}  // namespace
}  // namespace dl::convert::hdf5_test
