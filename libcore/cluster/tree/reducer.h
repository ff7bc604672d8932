// A worker's part in the sums of averaging: it sends its Results to the workers
// that reduce them, and reduces others' where it is told to.  In sync it may
// instead average with all others (all_reduce.h).
//
// A Result is kept until its round is over, and so is one that the master pulls
// piece by piece.  Whatever goes wrong on the way, it
// is sent to the master in the end: reducing saves it work, and nothing
// depends on it.
//
// Who sends it parts has the run's key and may be anybody who takes part, so
// what is kept of them is bound: parts of rounds that may be open; one for each
// slot or sum that the master told it to sum, which the last to come replaces,
// as a slot that was leased again has another Result; and of those that come
// before the master's word, early_most() bytes.  All others are passed over, as
// if they were lost.
//
// Without sockets, reducer_sockets.h has them.  One thread, theirs.

#ifndef DL_LIBCORE_CLUSTER_TREE_REDUCER_H_
#define DL_LIBCORE_CLUSTER_TREE_REDUCER_H_

#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/message_limits.h"
#include "libcore/cluster/tree/all_reduce.h"
#include "libcore/cluster/tree/reducer_link.h"

namespace dl::cluster {

class Reducer {
 public:
  explicit Reducer(ReducerLink& link) : link_(link), all_reduce_(link) {}

  // sizes: sizes of the run's network.
  void begin_session(const Sizes& sizes);
  void listens_at(const std::string& endpoint) {
    own_ = endpoint;
    all_reduce_.listens_at(endpoint);
  }

  // Takes the master's messages, in order.  Returns the next messages for the
  // computing thread.  A Round waits, and everything behind it, while its
  // average is to come from other workers and has not come.  A Round may also
  // come ahead of the master's, once the average is here.
  std::vector<Message> from_master(std::vector<Message> messages);
  bool waits() const { return !turn_.empty(); }
  // Passes on the first Round that waits without its average.
  void give_up_round();
  // Takes this worker's own Result, or in sync the pieces of one.
  void take_result(Message message);
  void take_own(Message part);
  // Takes a Result, Reduced, Part or Mean of another worker.  Throws Error:
  // kProtocol, the message is wrong.  Wrong vectors are reported to the master.
  void from_worker(Message message);
  // Notes that messages sent there may not have arrived.
  void lost(const std::string& endpoint);
  // Sends the master at once everything that it would pull, as the worker
  // leaves.
  void give_held();

  // Sends on the sums that are done, which threads of their own make.
  void poll();
  bool busy() const { return !running_.empty(); }
  // Whether a Result or Reduced is not wanted any more: its round is over.
  bool is_over(const Message& part) const;
  // Greatest number of bytes of parts that come before the master's order.
  std::uint64_t early_most() const { return early_most_; }
  std::uint64_t kept_bytes() const;  // bytes of all parts

  // Returns the messages for the master, and forgets them.
  std::vector<Message> take_for_master();

 private:
  // Key of a sum, or of a part: a Result has level 0.
  struct Key {
    std::uint64_t round = 0;
    std::int64_t level = 0, first = 0;
    bool operator<(const Key& other) const {
      return std::tie(round, level, first) <
             std::tie(other.round, other.level, other.first);
    }
  };
  // A Result that another worker reduces, or, with no endpoint, the master
  // pulls.
  struct Kept {
    std::uint64_t round = 0;
    std::string endpoint;
    SharedMessage message;
  };
  // A sum ordered by the master; it is summed once.
  struct Order {
    Reduce reduce;
    bool summed = false;
  };
  struct Running {
    Key key;
    std::string up;
    std::future<Reduced> sum;
  };

  static Key key_of(const Message& part);
  static Key sum_of(const Key& part);
  void take(const Message& message);
  void keep(std::uint64_t lease, Kept kept);
  void answer(const Pull& pull);
  void take_order(const Reduce& order);
  void take_part(const Key& key, SharedMessage message);
  void take_early(const Key& key, SharedMessage message);
  template <typename Which>  // Which: predicate on entries of early_
  void forget_early(const Which& which);
  void try_to_reduce(const Key& key);
  void send_up(const Key& key, const std::string& up, const Reduced& sum);
  bool is_over(std::uint64_t round) const {
    return round <= over_ || direct_.contains(round);
  }
  void go_direct(const Direct& direct);
  void end_rounds(std::uint64_t version);

  ReducerLink& link_;
  AllReduce all_reduce_;
  std::deque<Message> turn_;  // messages that wait behind a Round
  bool gave_up_ = false;      // whether the Round in front need not wait
  std::string own_;           // address of this worker
  // Slots of tasks to be reduced, by lease.
  std::map<std::uint64_t, Slot> slots_;
  std::map<std::uint64_t, Kept> kept_;  // Results kept, by lease
  std::map<Key, Order> orders_;         // orders by the sum that they make
  std::map<Key, SharedMessage> parts_;  // parts of orders_
  std::map<Key, SharedMessage> early_;  // parts without an order yet
  std::uint64_t early_bytes_ = 0, early_most_ = 0;
  std::vector<Running> running_;
  std::map<Key, std::string> sent_;  // receivers of sums
  std::set<std::uint64_t> direct_;   // rounds in which nothing is reduced
  std::set<std::uint64_t> pulled_;   // rounds whose Results wait for Pulls
  std::uint64_t over_ = 0;           // all rounds up to this one are over
  std::uint64_t newest_ = 0;         // newest round that the master named
  std::vector<Message> for_master_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_REDUCER_H_
