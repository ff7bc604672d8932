// A worker's place in the tree that the feed goes down: it brings what comes
// from the master and from its parent into the feed's order, and hands each
// message on to its children once.
//
// Without sockets, relay_sockets.h has them.  One thread, that of the sockets:
// relaying never waits for what the worker computes.

#ifndef DL_LIBCORE_CLUSTER_TREE_RELAY_H_
#define DL_LIBCORE_CLUSTER_TREE_RELAY_H_

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/wire.h"
#include "libcore/cluster/tree/feed.h"

namespace dl::cluster {

// The ways to a parent and to children.
class RelayLink {
 public:
  virtual ~RelayLink() = default;
  // Listens for children, if it does not yet; returns the address, or "" if it
  // cannot.
  virtual Listening listen() = 0;
  // Leaves the parent, and connects to the one at this address, unless it is
  // "".
  virtual void connect(const std::string& endpoint) = 0;
  virtual void send_to_parent(const Message& message,
                              const Envelope& envelope) = 0;
  // Returns false if the child is gone, or too slow.
  virtual bool send_to_child(const std::string& child, const Message& message,
                             const Envelope& envelope) = 0;
};

class Relay {
 public:
  explicit Relay(RelayLink& link) : link_(link) {}

  // Begins as worker `number` in a run, without parent, children and position.
  void begin_session(const std::string& run, std::uint64_t number);

  // Each returns the messages whose turn it is now.  From the master: anything
  // but Place and Listen, where a Task waits for the feed that it follows; its
  // parent: Feeding, or a message of the feed.
  std::vector<Message> from_master(Received received);
  std::vector<Message> from_parent(Received received);
  // Takes an Attach.
  void from_child(const std::string& child, const Received& received);

  // Listens for as many children as the master says.
  std::string listen(const Listen& listen);  // returns the address, or ""
  void place(const Place& place);
  void parent_connected();  // the connection to the parent is there
  void parent_lost(const std::string& why);

  const std::string& run() const { return run_; }
  // Position in the feed; 0: not known.
  std::uint64_t position() const { return feed_.position().value_or(0); }
  bool overfull() const { return feed_.overfull(); }
  // Returns the messages for the master, and forgets them.
  std::vector<Message> take_for_master();

 private:
  std::vector<Message> hand_on(std::vector<FeedItem> items);
  std::vector<Message> take_single(Message message);
  void release_tasks(std::vector<Message>& turn);
  void tell_children(std::uint64_t number, const Message& message);
  Envelope envelope(std::uint64_t number);

  RelayLink& link_;
  std::string run_;
  std::uint64_t number_ = 0, sequence_ = 0;
  Feed feed_;
  std::uint64_t parent_ = 0;  // number of the parent; 0: the master
  std::set<std::string> children_;
  std::size_t most_children_ = 0;  // greatest number of children
  std::vector<Message> for_master_;
  // Tasks that follow messages of the feed which are not here; a worker has few
  // leases at a time.
  std::deque<Task> tasks_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_RELAY_H_
