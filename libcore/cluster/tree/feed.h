// The feed: what the master says to all its workers, in one order.
//
// Its messages are numbered from 1, so they may come from the master or through
// other workers, early, late or twice: each counts once, in its turn.

#ifndef DL_LIBCORE_CLUSTER_TREE_FEED_H_
#define DL_LIBCORE_CLUSTER_TREE_FEED_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

struct FeedItem {
  std::uint64_t number = 0;
  Message message;
};

// The receiving end of the feed.
class Feed {
 public:
  // Continues after a State that includes all messages up to `number`, be that
  // later or earlier than the position.  Returns the following messages that
  // are here already.
  std::vector<FeedItem> restart(std::uint64_t number);
  // Forgets the position; all messages are ignored until restart().
  void forget();
  // The number of the last message whose turn it was; nothing: not known.
  std::optional<std::uint64_t> position() const { return position_; }

  // Takes a message, and returns the messages whose turn it is now.
  std::vector<FeedItem> take(FeedItem item);
  // Whether more messages wait for earlier ones than can be kept.  One message
  // may always wait.
  bool overfull() const { return early_.size() > 1 && bytes_ > kMaxBytes; }

  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

 private:
  std::vector<FeedItem> release();

  std::optional<std::uint64_t> position_;
  std::map<std::uint64_t, Message> early_;
  std::size_t bytes_ = 0;  // bytes of early_
};

// The sending end of the feed: numbers the messages, and keeps the latest for
// receivers that missed them.
class FeedSource {
 public:
  // Number of the newest message; 0: none.
  std::uint64_t number() const { return number_; }
  // Returns the message's number.
  std::uint64_t add(const Message& message);
  // Keeps messages from now on, the latest kMaxBytes of them.
  void keep() { keeps_ = true; }
  bool keeps() const { return keeps_; }
  // Calls `visit` with every message in (after, upto]; returns false, and calls
  // it with none, if not all of them are kept.
  bool visit(std::uint64_t after, std::uint64_t upto,
             const std::function<void(const FeedItem&)>& visit) const;

  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

 private:
  std::uint64_t number_ = 0;
  bool keeps_ = false;
  std::deque<FeedItem> kept_;  // kept messages; the last one has number_
  std::size_t bytes_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_FEED_H_
