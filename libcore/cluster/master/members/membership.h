// The members of a run, and all that the master knows of each.
//
// A member is silent when nothing was heard of it for a while, or its
// connection ended and its process does not come back on another one.  It is
// stuck when it beats but its count of mini-batches stands still although it
// has work.  Either way its leases go to others.  The first word of a silent
// member brings it back; a stuck one is asked to join again, and its next
// mini-batch brings it back as well.  One that tells of progress but gives no
// answer for much longer than others need is barren: it loses its leases, and
// gets others when it has joined again.  Nobody is expelled for any of this,
// but who was barren for kMostBarren times.
//
// Pure bookkeeping: times are given, nothing is sent.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBERSHIP_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBERSHIP_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/transport/connection_bytes.h"

namespace dl::cluster {

// Nothing is sent to a member for so long after something went wrong with it.
constexpr double kRetry = 0.25;  // seconds

// A process whose connection ended has said Hello on another one by then.
constexpr double kReturn = 1;  // seconds

// A member's place in the tree, feed_tree.h.
struct Seat {
  std::uint64_t parent = 0;   // where it was told to go; 0: the master
  std::uint64_t fed_by = 0;   // who sends it the feed, Membership::set_feeder()
  bool asked = false;         // to listen
  bool placed = false;        // it was sent to a parent once
  std::string endpoint;       // where it listens for others; "": not yet
  bool beside = false;        // it is on the master's host
  double not_before = 0;      // it is left where it is until then
  int misses = 0;             // parents that it could not reach, in a row
  std::uint64_t reached = 0;  // a number of the feed that it must get to ...
  double since = 0;           // ... as of then
};

struct Member {
  std::uint64_t number = 0;  // in the run, from 1
  std::string peer;          // the connection's routing id
  Hello hello;
  std::string key;       // the connection's public key, Z85; "" without CURVE
  std::string key_name;  // what it is called; "": it is for one process
  int hellos = 0;        // on this connection
  bool ready = false;    // it said Ready
  bool returns = false;  // a process that was a worker before
  bool silent = false;
  bool stuck = false;
  bool barren = false;
  int times_barren = 0;  // its process was
  bool proven = false;   // an answer of its process was accepted
  int rejections = 0;    // of its answers, in a row
  int violations = 0;    // messages that no worker should send
  bool faulty = false;   // too many of them, or `unfit`: it is to go
  std::string unfit;     // why it cannot work here; "": it may

  double heard = 0;   // when, monotonic seconds
  double closed = 0;  // its connection ended; 0: it did not
  double moved = 0;   // when its progress changed or it got work
  // When bytes of a message that is not whole came of it, and when bytes moved
  // on any of its connections: signs of life and of progress, so far as
  // kLongestTransfer goes.
  double flowed_in = 0, flowed = 0;
  std::uint64_t flow = 0;  // as its last Beat counted
  std::uint64_t progress = 0;
  std::optional<std::uint64_t> first_progress;  // that it told
  std::uint64_t leased = 0;  // mini-batches since then, of any kind
  double examples_per_second = 0;
  // The mini-batch of a careful task that it was about to do when it last said
  // so.
  std::uint64_t lease_at_hand = 0;
  std::int64_t batch_at_hand = -1;
  double second_began = 0;  // in which it sent so many Beats
  int beats = 0;
  std::string doing;
  std::vector<Fetch> wanted;  // records, while something else waits for it
  double retry = 0;           // nothing is sent before, after a failed send

  bool in_step = false;       // it has the run's State, or is sure to get it
  Ready had;                  // sharing: what it came with
  std::uint64_t digests = 0;  // ... the last comparison that it may answer
  std::int64_t examples = 0;  // committed of it in this epoch
  std::vector<float> statistics;  // sharing: its latest
  double batch_seconds = 0;       // to train one, smoothed; 0: not known
  std::int64_t measured = 0;      // so many of them
  double busy_since = 0;          // it got work, or trained one; 0: it did not
  double slow_since = 0;          // a straggler; 0: it is none
  double told_slower = 0;         // the factor that was told last; 0: none was
  Seat seat;

  bool can_work() const { return ready && is_sound(); }
  // It can work, or is on its way back to.
  bool counts() const { return (ready || returns) && is_sound(); }
  bool is_sound() const { return !silent && !stuck && !barren && !faulty; }
  std::string describe() const;  // "host:812 (worker 3)"
  // Whose answers they are: those of a key where there are keys, else of a
  // name, which is the same when its host starts it again.
  std::uint64_t party() const;
};

// Its own name, or "host:3" after its rank, or "host-812" after its process.
std::string default_name(const Hello& hello);

// Bytes of one message that move for so long, in seconds, are no sign of life:
// who sends them drop by drop holds work that others wait for.
constexpr double kLongestTransfer = 3600;

class Membership {
 public:
  // Takes in a worker that said Hello.  The same process on a new connection
  // replaces its old self, which is moved to *replaced, and goes on with what
  // is known of its work.  Who brings no name gets default_name(), or where a
  // live member has that, "host:3-2".  Throws Error: kProtocol, a live member
  // has the name: "the name 'a/7' is in use by host:812".
  Member& admit(const std::string& peer, Hello hello, double now,
                double lost_after, std::optional<Member>* replaced);

  Member* find(const std::string& peer);
  Member* find(std::uint64_t number);
  // The member with this name and process; pid: 0 for any.
  Member* find(const std::string& name, std::int64_t pid);
  void remove(const std::string& peer);
  // The former self of who says Hello, if there is one.
  void remove_former_self(const Hello& hello);

  // Something of it arrived.  True: it was silent and is back.
  bool heard(Member& member, double now);
  // Takes a Beat.  True: the member was stuck and moves again.
  bool beat(Member& member, const Beat& beat, double now);
  // Bytes move over its connection.
  static void note_flow(Member& member, const ConnectionBytes::Flow& flow,
                        double now);
  // Nobody could be heard for so long, as the master itself stood still.
  void pardon(double seconds, double now);

  // Marks and returns those who fell silent, or whose connection ended
  // `closed_after` ago, or who stand still with work since `stuck_after`;
  // working says who has work.
  std::vector<Member*> silent(double now, double lost_after,
                              double closed_after);
  template <typename Working>
  std::vector<Member*> stuck(double now, double stuck_after, Working working) {
    std::vector<Member*> result;
    looked_at_ += members_.size();
    for (auto& [number, member] : members_) {
      if (!member.can_work()) continue;
      if (!working(member)) member.moved = now;
      if (now - last_sign(member.moved, member.flowed) <= stuck_after) continue;
      member.stuck = true;
      result.push_back(&member);
    }
    return result;
  }

  // Seconds in which a member that has work gave no answer, nor some bytes of
  // one.
  static double without_answer(const Member& member, double now) {
    return now - last_sign(member.busy_since, member.flowed);
  }

  // Forgets who has been silent for longest, if many are: it says Hello again
  // if it speaks.  No pointer to such a member may be in use.
  static constexpr std::size_t kSilentKept = 32;
  void forget_silent();

  // The members that can work, and all that are connected as far as we know,
  // ready or not; in the order in which they joined.
  std::vector<Member*> workers();
  std::vector<Member*> counted();  // those and who will be again at once
  std::vector<Member*> present();
  bool anybody_works() const;
  // The members that get the feed from the master, likewise.
  std::vector<Member*> fed_by_master();
  // From now on `parent` sends it the feed; 0: the master.  Returns who did.
  std::uint64_t set_feeder(Member& member, std::uint64_t parent);
  std::size_t joined() const { return last_number_; }  // in all
  std::size_t size() const { return members_.size(); }
  // How many members were looked at to find out about all.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  // When there was one: of a message or of bytes on their way.
  static double last_sign(double whole, double flowed) {
    return std::max(whole, std::min(flowed, whole + kLongestTransfer));
  }
  const Member* of_process(std::uint64_t process) const;
  const Member* named(const std::string& name) const;

  std::map<std::uint64_t, Member> members_;                 // by number
  std::unordered_map<std::string, std::uint64_t> numbers_;  // by peer
  std::set<std::uint64_t> fed_by_master_;                   // numbers
  std::deque<std::uint64_t> silent_;  // ... that were, the newest last
  std::uint64_t looked_at_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBERSHIP_H_
