// The dealings of a worker with others: it relays the feed and reduces
// averages, between the master and the thread that computes.

#ifndef DL_LIBCORE_CLUSTER_TREE_PEERS_H_
#define DL_LIBCORE_CLUSTER_TREE_PEERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cluster/tree/reducer_sockets.h"
#include "libcore/cluster/tree/relay_sockets.h"

namespace dl::cluster {

// One thread, that of the worker's connection to its master.
class Peers {
 public:
  // network: network in which other workers reach this one; if not given, the
  // one in which it reaches its master.  carrier: thread of its connections to
  // others.
  explicit Peers(const Log& log, const NetworkChoice& network = {},
                 const Carrier& carrier = {})
      : relay_sockets_(log, network, carrier), reducer_sockets_(log, carrier) {}

  // Begins a session with the master at this endpoint.
  void begin_session(const std::string& endpoint, const Welcome& welcome,
                     bool insecure);

  // Take a message of the master, or the messages of other workers; return the
  // next messages for the computing thread.
  std::vector<Message> from_master(Received received);
  std::vector<Message> serve();
  // Takes a Result of the computing thread, or in sync the pieces of one.
  void take_result(Message result) { reducer_.take_result(std::move(result)); }
  void take_own(Message part) { reducer_.take_own(std::move(part)); }
  void give_held() { reducer_.give_held(); }
  // Returns the messages for the master, and forgets them.
  std::vector<Message> take_for_master();

  // Whether more messages wait than can be kept: the worker is too far behind.
  bool overfull() const { return relay_.overfull(); }
  // Position in the feed.
  std::uint64_t position() const { return relay_.position(); }

  // Adds the sockets to wait for.  Returns the longest time to wait, in
  // seconds.
  double collect(std::vector<const Socket*>& sockets) const;

  // Grows while bytes move between this worker and others, as of each call.
  std::uint64_t flow();

  std::uint64_t bytes_in() const { return relay_sockets_.bytes_in(); }
  std::uint64_t bytes_out() const;

 private:
  std::vector<Message> pass(std::vector<Message> messages);

  // flow_bytes_: bytes when flow_ last grew.
  std::uint64_t flow_ = 0, flow_bytes_ = 0;
  double waits_since_ = 0;  // time since which an average is awaited, or 0
  RelaySockets relay_sockets_;
  ReducerSockets reducer_sockets_;
  Relay relay_{relay_sockets_};
  Reducer reducer_{reducer_sockets_};
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_PEERS_H_
