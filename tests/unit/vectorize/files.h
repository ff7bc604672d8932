// Files for tests, in a folder that goes with the object.

#ifndef DL_TESTS_UNIT_VECTORIZE_FILES_H_
#define DL_TESTS_UNIT_VECTORIZE_FILES_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace dl::test {

class Files {
 public:
  Files() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "dl-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace dl::test

#endif  // DL_TESTS_UNIT_VECTORIZE_FILES_H_
