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
  // Listens for children, if it does not yet; returns where, or "": it cannot.
  virtual Listening listen() = 0;
  // Leaves the parent, and goes to the one that listens there unless "".
  virtual void connect(const std::string& endpoint) = 0;
  virtual void send_to_parent(const Message& message,
                              const Envelope& envelope) = 0;
  // False: the child is gone, or too slow.
  virtual bool send_to_child(const std::string& child, const Message& message,
                             const Envelope& envelope) = 0;
};

class Relay {
 public:
  explicit Relay(RelayLink& link) : link_(link) {}

  // This worker is `number` in a run: no parent, no children, no position.
  void begin_session(const std::string& run, std::uint64_t number);

  // Each returns the messages whose turn it is now.  From the master: anything
  // but Place and Listen, where a Task waits for the feed that it follows; its
  // parent: Feeding, or a message of the feed.
  std::vector<Message> from_master(Received received);
  std::vector<Message> from_parent(Received received);
  // An Attach.
  void from_child(const std::string& child, const Received& received);

  // For so many children as the master says.
  std::string listen(const Listen& listen);  // returns where, or "": it cannot
  void place(const Place& place);
  void parent_connected();  // its link to a parent is there
  void parent_lost(const std::string& why);

  const std::string& run() const { return run_; }
  // 0: not known.
  std::uint64_t position() const { return feed_.position().value_or(0); }
  bool overfull() const { return feed_.overfull(); }
  // Returns the messages for the master; forgets it.
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
  std::uint64_t parent_ = 0;  // 0: the master
  std::set<std::string> children_;
  std::size_t most_children_ = 0;  // that the master gives it
  std::vector<Message> for_master_;
  // Tasks that follow messages of the feed which are not here; a worker has few
  // leases at a time.
  std::deque<Task> tasks_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_RELAY_H_
