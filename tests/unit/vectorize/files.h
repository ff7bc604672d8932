// Files for tests, in a folder that goes with the object.

#ifndef DL_TESTS_UNIT_VECTORIZE_FILES_H_
#define DL_TESTS_UNIT_VECTORIZE_FILES_H_

#include <string>

#include "tests/unit/scratch.h"

namespace dl::test {

class Files {
 public:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return path(name);
  }

 private:
  Scratch folder_;
};

}  // namespace dl::test

#endif  // DL_TESTS_UNIT_VECTORIZE_FILES_H_
