// A folder for one test, removed with all that is in it.

#ifndef DL_TESTS_UNIT_SCRATCH_H_
#define DL_TESTS_UNIT_SCRATCH_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

class Scratch {
 public:
  Scratch() {
    std::string path =
        (std::filesystem::temp_directory_path() / "dl-test-XXXXXX").string();
    if (!::mkdtemp(path.data())) throw std::runtime_error("mkdtemp failed");
    path_ = path;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(*this / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {  // hidden ones too
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

#endif  // DL_TESTS_UNIT_SCRATCH_H_
