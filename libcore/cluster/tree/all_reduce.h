// A worker's part in sync's averages that workers make among themselves: an
// all-reduce in which each of them averages some pieces of the slots' vectors
// and sends them to all.  So every line carries twice a gradient in each
// direction, however many workers there are, and all sums are in the order of
// the slots, as the master makes them: who averages changes no bit.
//
// A piece goes out as soon as the way back through the network has found it,
// and once all averages of a round are here, so is its step, ahead of the
// master's word.
//
// The master is told of each slot, and of the averages.  What a slot gave is
// kept until its round is over: whatever goes wrong on the way, the master asks
// for it (Direct), and nothing depends on this.
//
// A sender of parts has the run's key and may be anybody who takes part, so
// what is kept of them is bound: rounds that may be open, one part for each
// slot and piece, and of what comes before the master's word as much as two of
// the largest rounds have.
//
// Without sockets.  One thread, that of the worker's connection.

#ifndef DL_LIBCORE_CLUSTER_TREE_ALL_REDUCE_H_
#define DL_LIBCORE_CLUSTER_TREE_ALL_REDUCE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/heap.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/tree/pieces.h"
#include "libcore/cluster/tree/reducer_link.h"

namespace dl::cluster {

// Other workers may be ahead of the master's word to this one; two rounds are
// open at most.
constexpr std::uint64_t kRoundsAhead = 2;

class AllReduce {
 public:
  explicit AllReduce(ReducerLink& link) : link_(link) {}

  void begin_session(const Sizes& sizes);
  void listens_at(const std::string& endpoint) { own_endpoint_ = endpoint; }

  // Takes a message of the master: Parties, Task, Direct, Round and State.
  void from_master(const Message& message);
  // The next Part of what this worker's own slot gives, of a piece: from its
  // end on.  Where that is not for parties, the master gets all as a Result.
  void take_own(Message part);
  // Takes a Part or Mean of another worker.  Throws Error: kProtocol, the
  // message is wrong.
  void from_worker(Message message);
  // Notes that messages sent there may not have arrived.
  void lost(const std::string& endpoint);

  // Completes a Round whose turn it is: puts the average that is held here into
  // a Round that leaves it out.  Returns false if the average has not come yet.
  bool complete(Message& round);
  // The next Round, made from the averages that are here, if all are here and
  // the position of the step is known, since this worker has a slot of the
  // round. Each Round comes once; complete() then leaves the master's as it is.
  std::optional<Message> take_next();
  // The elements that the master asks for of a slot of this worker; empty if
  // the slot is not here.
  std::vector<float> slice(const Pull& pull) const;
  // Drops the slot of this lease, which is not wanted any more.
  void drop(std::uint64_t lease) { own_.erase(lease); }
  // Sends the master at once everything that it would pull.
  void give_held();
  // Whether a Part is not wanted any more: its round is over, or summed by the
  // master.
  bool is_over(const Message& part) const;

  // Bytes of parts that came before the master named their parties.
  std::uint64_t kept_bytes() const { return early_bytes_; }

  // The messages for the master, which are then forgotten.
  std::vector<Message> take_for_master();

 private:
  struct Group {
    std::vector<std::string> endpoints;
    std::size_t own = 0;  // index in endpoints; their number if not among them
    Reports reports = Reports::kNone;
    std::size_t owner_of(std::size_t piece) const {
      return piece % endpoints.size();
    }
  };
  struct Received {
    SlotCount count;
    std::vector<float> values;
  };
  // State of a piece that is averaged here.
  struct Gathering {
    std::map<std::int64_t, Received> parts;  // parts received, by slot
    bool done = false;
  };
  struct Open {
    Round step;  // position as in this worker's task; version 0: unknown
    std::int64_t slots = 0;  // slots of the round; 0: nothing of it has come
    std::vector<Piece> pieces;
    std::uint64_t parties = 0;
    // Pieces averaged here, by first element.
    std::map<std::size_t, Gathering> gathering;
    // Averages of pieces; empty: not come.
    std::vector<std::vector<std::byte>> averages;
    std::size_t come = 0;  // number of averages that have come

    std::size_t index_of(const Piece& piece) const {
      return static_cast<std::size_t>(&piece - pieces.data());
    }
  };
  // The result of a slot of this worker.
  struct Own {
    Part what;  // last Part of the slot, without values
    std::vector<Piece> pieces;
    std::vector<SharedMessage> parts;
    std::size_t sent = 0;
    bool whole() const { return what.first == 0; }
  };

  std::size_t elements() const {
    return static_cast<std::size_t>(sizes_.parameters + sizes_.statistics);
  }
  bool is_over(std::uint64_t round) const {
    return round <= over_ || direct_.contains(round);
  }
  // The parties that average in this round; null if their average is not
  // wanted.
  const Group* group_of(std::uint64_t round, std::uint64_t parties) const;
  Open& opened(std::uint64_t round, std::int64_t slots);
  bool is_early(const Message& message);
  void take_parties(const Parties& parties);
  void take_task(const Task& task);
  void send_parts(Own& own, const Group& group);
  Message result_of(const Own& own, bool elsewhere) const;
  void take_part(Part part);
  void average(std::uint64_t round, const Group& group, std::uint64_t parties,
               std::size_t first, Gathering& gathering);
  void take_mean(Message message);
  bool is_whole(std::uint64_t round, const Open& open) const;
  static void move_averages(Open& open, Message& round);
  void go_direct(const Direct& direct);
  void end_rounds(std::uint64_t version);

  ReducerLink& link_;
  Sizes sizes_;
  std::string own_endpoint_;
  // Parties by id.  While one round ends, the next may have other parties.
  std::map<std::uint64_t, Group> groups_;
  std::map<std::uint64_t, Own> own_;    // results of own slots, by lease
  std::map<std::uint64_t, Open> open_;  // open rounds, by round
  std::deque<Message> early_;           // messages of parties not known yet
  std::uint64_t early_bytes_ = 0;
  std::set<std::uint64_t> direct_;  // rounds in which the master sums
  std::set<std::uint64_t> pulled_;  // rounds whose slots the master pulls
  std::uint64_t over_ = 0, newest_ = 0;
  std::uint64_t taken_ = 0;  // last round whose step was passed on
  std::vector<Message> for_master_;
  HeapTrimmer trimmer_{0};
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_ALL_REDUCE_H_
