// Where local workers find their master.

#ifndef DL_LIBCORE_CLUSTER_LOCAL_SOCKET_H_
#define DL_LIBCORE_CLUSTER_LOCAL_SOCKET_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "libcore/base/error.h"

namespace dl::cluster {

// A place for the socket of local workers: the run directory, or where that
// has a long name, a folder of its own.
class LocalSocket {
 public:
  // Throws Error: kCantCreate.
  explicit LocalSocket(const std::string& run_directory) {
    path_ =
        std::filesystem::absolute(run_directory).lexically_normal() / "socket";
    if (path_.string().size() < kLongest) return;
    std::string name =
        (std::filesystem::temp_directory_path() / "dl-master-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Error{Code::kCantCreate, "cannot make the folder '" + name + "'"};
    folder_ = name;
    path_ = folder_ / "socket";
  }
  ~LocalSocket() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    if (!folder_.empty()) std::filesystem::remove(folder_, ignored);
  }
  std::string endpoint() const { return "ipc://" + path_.string(); }

 private:
  static constexpr std::size_t kLongest = 100;  // bytes of an ipc: path

  std::filesystem::path path_, folder_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LOCAL_SOCKET_H_
