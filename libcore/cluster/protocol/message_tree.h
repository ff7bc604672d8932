// The messages of the tree that the feed goes down, relay.h and feed_tree.h;
// see message.h.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// master -> worker: the worker's place in the tree.
struct Place {
  std::uint64_t parent = 0;  // number of a worker; 0: the master
  std::string endpoint;      // address of the parent, "tcp://..."; "": master
  bool operator==(const Place&) const = default;

  Message to_message() const;
  static Place from_message(const Message& message);
};

// master -> worker: the worker will get children and is to listen for them.
struct Listen {
  std::int64_t children = 1;  // greatest number of children at a time

  Message to_message() const;
  static Listen from_message(const Message& message);
};
// worker -> master: children may connect.
struct Listening {
  std::string endpoint;
  bool beside = false;  // whether it is on the master's host

  Message to_message() const;
  static Listening from_message(const Message& message);
};

// worker -> master: who feeds the worker from now on.  The worker has the feed
// up to `have`; its parent sends it all messages after `after`.
struct Fed {
  std::uint64_t parent = 0;  // worker that feeds it; 0: only the master
  std::uint64_t have = 0, after = 0;
  std::string why;  // reason if a parent is lost or unreachable, else ""

  Message to_message() const;
  static Fed from_message(const Message& message);
};

// worker -> its parent, first on their connection.
struct Attach {
  Message to_message() const;
  static Attach from_message(const Message& message);
};

// parent -> child: the child is sent all messages of the feed after this
// number.  Sent again if the parent left some out, because it was sent the
// State.
struct Feeding {
  std::uint64_t after = 0;

  Message to_message() const;
  static Feeding from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_
