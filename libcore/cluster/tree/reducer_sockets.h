// The sockets on which a worker sends its part of an average to those that
// reduce it: a DEALER to each.

#ifndef DL_LIBCORE_CLUSTER_TREE_REDUCER_SOCKETS_H_
#define DL_LIBCORE_CLUSTER_TREE_REDUCER_SOCKETS_H_

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/tree/peer_connection.h"
#include "libcore/cluster/tree/reducer.h"

namespace dl::cluster {

// One thread, that of the worker's connection to its master.
class ReducerSockets : public ReducerLink {
 public:
  ReducerSockets(Log log, Carrier carrier)
      : log_(std::move(log)), carrier_(std::move(carrier)) {}

  // envelope: envelope of sent messages; sizes: sizes of the run's network.
  void begin_session(Envelope envelope, Security security, const Sizes& sizes);

  void send_to_reducer(const std::string& endpoint,
                       SharedMessage message) override;
  // Sends all messages that can be sent, and tells the reducer which were lost.
  void serve(Reducer& reducer);
  // Whether messages wait for room that no socket signals.
  bool waiting() const;
  // Whether bytes of long messages moved since the last call.
  bool flowed();
  std::uint64_t bytes_out() const { return bytes_out_; }
  // Adds the sockets to wait for.
  void collect(std::vector<const Socket*>& sockets) const;

 private:
  struct Way {
    PeerConnection line;
    std::deque<SharedMessage> waiting;
  };
  void serve(Way& way);
  void send_waiting(Way& way);

  Log log_;
  Carrier carrier_;
  Envelope envelope_;
  Security security_;
  Sizes sizes_;
  std::map<std::string, Way> ways_;  // connections by endpoint
  std::uint64_t bytes_out_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_REDUCER_SOCKETS_H_
