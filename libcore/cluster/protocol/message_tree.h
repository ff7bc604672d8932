// The messages of the tree that the feed goes down, relay.h and feed_tree.h;
// see message.h.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// master -> worker: its place in the tree.
struct Place {
  std::uint64_t parent = 0;  // a worker; 0: the master itself
  std::string endpoint;  // where the parent listens, "tcp://..."; "": master
  bool operator==(const Place&) const = default;

  Message to_message() const;
  static Place from_message(const Message& message);
};

// master -> worker: it will get children.
struct Listen {
  std::int64_t children = 1;  // so many at most, at a time

  Message to_message() const;
  static Listen from_message(const Message& message);
};
// worker -> master: they may connect.
struct Listening {
  std::string endpoint;
  bool beside = false;  // it is on the master's host

  Message to_message() const;
  static Listening from_message(const Message& message);
};

// worker -> master: who feeds it from now on.  It has the feed up to `have`;
// a parent sends it all after `after`.
struct Fed {
  std::uint64_t parent = 0;  // 0: nobody but the master
  std::uint64_t have = 0, after = 0;
  std::string why;  // not "": its parent is lost, or cannot be reached

  Message to_message() const;
  static Fed from_message(const Message& message);
};

// worker -> its parent, first on their connection.
struct Attach {
  Message to_message() const;
  static Attach from_message(const Message& message);
};

// parent -> child: it is sent all of the feed after this number.  Again where
// the parent left some out, because it was sent the State.
struct Feeding {
  std::uint64_t after = 0;

  Message to_message() const;
  static Feeding from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TREE_H_
