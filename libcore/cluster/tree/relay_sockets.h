// The sockets of a worker's relay: a ROUTER for its children, and for those
// that send it what it reduces, once it may get some; and a DEALER to its
// parent.

#ifndef DL_LIBCORE_CLUSTER_TREE_RELAY_SOCKETS_H_
#define DL_LIBCORE_CLUSTER_TREE_RELAY_SOCKETS_H_

#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/transport/own_address.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/tree/peer_connection.h"
#include "libcore/cluster/tree/reducer.h"
#include "libcore/cluster/tree/relay.h"

namespace dl::cluster {

// One thread, that of the worker's connection to its master.
class RelaySockets : public RelayLink {
 public:
  // network: network in which other workers reach this one; if not given, the
  // one in which it reaches its master.
  RelaySockets(Log log, NetworkChoice network, Carrier carrier)
      : log_(std::move(log)),
        network_(std::move(network)),
        carrier_(std::move(carrier)) {}

  // Begins a session with the master at this endpoint. sizes: sizes of the
  // run's network.
  void begin_session(std::string master, Security security, const Sizes& sizes);

  // Takes the messages that have come, and returns those whose turn it is.
  std::vector<Message> serve(Relay& relay, Reducer& reducer);
  // Adds the sockets to wait for.
  void collect(std::vector<const Socket*>& sockets) const;

  Listening listen() override;
  void connect(const std::string& endpoint) override;
  void send_to_parent(const Message& message,
                      const Envelope& envelope) override;
  bool send_to_child(const std::string& child, const Message& message,
                     const Envelope& envelope) override;

  // Whether bytes of long messages moved since the last call.
  bool flowed();
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  void serve_children(Relay& relay, Reducer& reducer);
  void serve_parent(Relay& relay, std::vector<Message>& turn);
  void leave_parent();
  using Bytes = std::uint64_t (DealerSocket::*)() const;
  // Bytes of the parent; 0 without one.
  std::uint64_t parent_bytes(Bytes bytes) const;

  Log log_;
  NetworkChoice network_;
  Carrier carrier_;
  std::string master_;  // endpoint of the master
  Security security_;
  Sizes sizes_;
  std::optional<RouterSocket> children_;
  std::optional<PeerConnection> parent_;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;  // bytes of earlier parents
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_RELAY_SOCKETS_H_
