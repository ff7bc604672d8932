// The shape of the tree that the feed goes down: who is whose parent.
//
// A heap's: member i is a child of member i / fan_out - 1, the first ones of
// the master, so it is as flat as it can be.  Who joins becomes a leaf; for one
// that leaves the last leaf steps in, so at most fan_out + 1 members get
// another parent.

#ifndef DL_LIBCORE_CLUSTER_TREE_TREE_H_
#define DL_LIBCORE_CLUSTER_TREE_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dl::cluster {

class Tree {
 public:
  explicit Tree(std::size_t fan_out) : fan_out_(fan_out) {}

  // Members are known by numbers from 1.
  void add(std::uint64_t member) { members_.push_back(member); }
  // Removes a member; does nothing if it is not in the tree.
  void remove(std::uint64_t member) {
    const auto at = std::ranges::find(members_, member);
    if (at == members_.end()) return;
    *at = members_.back();
    members_.pop_back();
  }

  const std::vector<std::uint64_t>& members() const { return members_; }
  // Parent of members()[i]; 0: the master.
  std::uint64_t parent(std::size_t i) const {
    return i < fan_out_ ? 0 : members_[i / fan_out_ - 1];
  }
  bool has_children(std::size_t i) const {
    return (i + 1) * fan_out_ < members_.size();
  }

 private:
  std::size_t fan_out_;
  std::vector<std::uint64_t> members_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_TREE_H_
