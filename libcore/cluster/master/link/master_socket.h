// Where a master listens, and how those who look for it learn of it: the master
// file, and what is told in the same process.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_SOCKET_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_SOCKET_H_

#include <memory>
#include <optional>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/protocol/message_limits.h"
#include "libcore/cluster/run_config/master_options.h"
#include "libcore/cluster/transport/local_socket.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

class MasterSocket {
 public:
  // folder: the run directory; run: id of this start of the master.  All
  // references must outlive this object.
  MasterSocket(const MasterOptions& options, const std::string& folder,
               const std::string& run, const Log& log)
      : options_(options), folder_(folder), run_(run), log_(log) {}

  // Listens for messages of these sizes.
  // Throws Error: kUsage, kUnavailable, the address cannot be had.
  void open(const Sizes& sizes);
  bool is_open() const { return socket_ != nullptr; }
  // Functions for an open socket:
  RouterSocket& socket() { return *socket_; }
  std::string endpoint_for_others() const;
  // Reports the socket's address; again after another key.
  void announce() const;
  // Tells workers that wait for the run, or have lost it, not to wait any
  // longer.
  void announce_end() const;
  // Tells those who come within so many seconds that the run is finished.
  void turn_away(double seconds);

 private:
  void write_file(bool finished) const;

  const MasterOptions& options_;
  const std::string& folder_;
  const std::string& run_;
  const Log& log_;
  std::optional<LocalSocket> local_;
  std::unique_ptr<RouterSocket> socket_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_SOCKET_H_
