// The master's side of the tree that the feed goes down: gives members their
// places, and knows who feeds whom.
//
// The master feeds a member itself until the member says that its parent does,
// and again as soon as it says that it lost it, or falls behind: the tree saves
// work, but nothing depends on it.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_FEED_TREE_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_FEED_TREE_H_

#include <cstdint>
#include <map>
#include <string>

#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/tree/tree.h"

namespace dl::cluster {

class FeedTree {
 public:
  explicit FeedTree(RunContext& context);

  // Gives places to new members, and to the children of members that left.
  void tick();
  void take(Member& member, const Listening& listening);
  void take(Member& member, const Fed& fed);
  // A member's Beat says how far it has the feed.
  void heard(Member& member, std::uint64_t position);

 private:
  using Members = std::map<std::uint64_t, Member*>;

  bool wanted();
  void follow(const Members& members);
  void seat(Member& member, std::uint64_t parent, const Members& members);
  void take_over(Member& member, std::uint64_t have, const std::string& why);

  RunContext& context_;
  Tree tree_;
  bool grown_ = false;
  double next_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_FEED_TREE_H_
