// A connection to another worker, which is there within kReachSeconds and then
// stays, or is given up.

#ifndef DL_LIBCORE_CLUSTER_TREE_PEER_CONNECTION_H_
#define DL_LIBCORE_CLUSTER_TREE_PEER_CONNECTION_H_

#include <memory>
#include <string>

#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

// One thread.
class PeerConnection {
 public:
  // Begins to connect.  socket() reports failures. expected: messages of the
  // other worker; sent: messages to it.
  PeerConnection(std::string endpoint, const Security& security,
                 const Expected& expected, const Expected& sent, const Log& log,
                 Carrier carrier);

  const std::string& endpoint() const { return endpoint_; }
  // Throws Error: kUnavailable, there is no socket, with the reason.
  DealerSocket& socket() const;
  // The socket, or null if there is none.
  const DealerSocket* socket_if_any() const { return socket_.get(); }
  // Whether the other worker was there when connected() was last called.
  bool was_connected() const { return was_connected_; }
  // Whether the other worker is there now.  Throws Error: kUnavailable, it was
  // lost, could not be reached in time, or as socket() does.
  bool connected();

 private:
  std::string endpoint_;
  std::unique_ptr<DealerSocket> socket_;
  std::string failure_;
  double deadline_;
  bool was_connected_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_PEER_CONNECTION_H_
