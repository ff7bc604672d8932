// A folder for what a process needs while it runs.

#ifndef DL_LIBCORE_IO_TEMPORARY_FOLDER_H_
#define DL_LIBCORE_IO_TEMPORARY_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "libcore/base/error.h"

namespace dl::io {

// Made in the folder for temporary files; removed with all that is in it.
class TemporaryFolder {
 public:
  // Throws Error: kCantCreate.
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "dl-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Error{Code::kCantCreate, "cannot make the folder '" + name + "'"};
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_TEMPORARY_FOLDER_H_
