// Where local workers find their master.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_SOCKET_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_SOCKET_H_

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/io/temporary_folder.h"

namespace dl::cluster {

// A place for the socket of local workers: the run directory, or where that
// has a long name, or ';' in it, as between addresses, a folder of its own.
class LocalSocket {
 public:
  // Throws Error: kCantCreate.
  explicit LocalSocket(const std::string& run_directory) {
    path_ =
        std::filesystem::absolute(run_directory).lexically_normal() / "socket";
    const std::string text = path_.string();
    if (text.size() >= kLongest || text.find(';') != text.npos)
      path_ = folder_.emplace().path() / "socket";
  }
  ~LocalSocket() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string endpoint() const { return ipc_endpoint(path_.string()); }

 private:
  // Greatest number of bytes of an ipc: path.
  static constexpr std::size_t kLongest = 100;

  std::filesystem::path path_;
  std::optional<io::TemporaryFolder> folder_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_SOCKET_H_
