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

// Nothing is sent to a member for this time after sending to it failed.
constexpr double kRetry = 0.25;  // seconds

// A live process whose connection ended says Hello on another one in this time.
constexpr double kReturn = 1;  // seconds

// A member's place in the tree, feed_tree.h.
struct Seat {
  std::uint64_t parent = 0;   // parent that it was sent to; 0: the master
  std::uint64_t fed_by = 0;   // sender of its feed, Membership::set_feeder()
  bool asked = false;         // whether it was asked to listen
  bool placed = false;        // whether it was sent to a parent once
  std::string endpoint;       // its address for other workers; "": none yet
  bool beside = false;        // whether it is on the master's host
  double not_before = 0;      // time before which its parent stays
  int misses = 0;             // parents that it missed in a row
  std::uint64_t reached = 0;  // number of the feed that it must reach
  double since = 0;           // time when `reached` was set
};

struct Member {
  std::uint64_t number = 0;  // number in the run, from 1
  std::string peer;          // routing id of its connection
  Hello hello;
  std::string key;       // public key of its connection, Z85, or ""
  std::string key_name;  // name of the key; "": for one process only
  int hellos = 0;        // number of Hellos on this connection
  bool ready = false;    // whether it said Ready
  bool returns = false;  // whether its process was a worker before
  bool silent = false;
  bool stuck = false;
  bool barren = false;
  int times_barren = 0;  // times that its process was barren
  bool proven = false;   // whether an answer of its process was good
  int rejections = 0;    // rejected answers in a row
  int violations = 0;    // number of wrong messages
  bool faulty = false;   // too many of these, or `unfit`: to be removed
  std::string unfit;     // reason why it cannot work here, or ""

  double heard = 0;   // time of its last message, monotonic seconds
  double closed = 0;  // time when its connection ended, or 0
  double moved = 0;   // time of its last progress or grant of work
  // Times when bytes of an incomplete message came from it, and when bytes
  // moved on any of its connections: signs of life and of progress, up to
  // kLongestTransfer.
  double flowed_in = 0, flowed = 0;
  std::uint64_t flow = 0;  // flow of its last Beat
  std::uint64_t progress = 0;
  std::optional<std::uint64_t> first_progress;  // progress of its first Beat
  std::uint64_t leased = 0;  // mini-batches of any kind leased since then
  double examples_per_second = 0;
  // The mini-batch of a careful task that its last Beat named as the next.
  std::uint64_t lease_at_hand = 0;
  std::int64_t batch_at_hand = -1;
  double second_began = 0;  // begin of the second that `beats` counts
  int beats = 0;
  std::string doing;
  std::vector<Fetch> wanted;  // records to send after other messages
  double retry = 0;           // nothing is sent before this time

  bool in_step = false;       // whether it has, or will get, the run's State
  Ready had;                  // sharing: its Ready, with its parameters
  std::uint64_t digests = 0;  // sharing: last comparison that it may answer
  std::int64_t examples = 0;  // examples of it committed in this epoch
  std::vector<float> statistics;  // sharing: its latest running statistics
  double batch_seconds = 0;   // smoothed seconds of a mini-batch; 0: unknown
  std::int64_t measured = 0;  // number of mini-batches in batch_seconds
  double busy_since = 0;      // time of its last grant or mini-batch, or 0
  double slow_since = 0;      // time since which it is a straggler, or 0
  double told_slower = 0;     // factor of the last report, or 0
  Seat seat;

  bool can_work() const { return ready && is_sound(); }
  // Whether it can work, or will soon be able to again.
  bool counts() const { return (ready || returns) && is_sound(); }
  bool is_sound() const { return !silent && !stuck && !barren && !faulty; }
  std::string describe() const;  // "host:812 (worker 3)"
  // Whose answers they are: those of a key where there are keys, else of a
  // name, which is the same when its host starts it again.
  std::uint64_t party() const;
};

// Its own name; or "host:3" with its rank, or "host-812" with its process id.
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
  // The member with this name and process id; pid 0 matches any.
  Member* find(const std::string& name, std::int64_t pid);
  void remove(const std::string& peer);
  // The former self of the process that says Hello, or null.
  void remove_former_self(const Hello& hello);

  // Notes that a message of it came.  Returns true if it was silent and is
  // back.
  bool heard(Member& member, double now);
  // Handles a Beat.  Returns true if the member was stuck and moves again.
  bool beat(Member& member, const Beat& beat, double now);
  // Notes that bytes move over its connection.
  static void note_flow(Member& member, const ConnectionBytes::Flow& flow,
                        double now);
  // Adds a time in which no member could be heard, as the master stood still.
  void pardon(double seconds, double now);

  // Marks and returns those who fell silent, or whose connection ended
  // `closed_after` ago, or who stand still since `stuck_after` although they
  // can move.
  std::vector<Member*> silent(double now, double lost_after,
                              double closed_after);
  template <typename CanMove>
  std::vector<Member*> stuck(double now, double stuck_after, CanMove can_move) {
    std::vector<Member*> result;
    looked_at_ += members_.size();
    for (auto& [number, member] : members_) {
      if (!member.can_work()) continue;
      if (!can_move(member)) member.moved = now;
      if (now - last_sign(member.moved, member.flowed) <= stuck_after) continue;
      member.stuck = true;
      result.push_back(&member);
    }
    return result;
  }

  // Seconds for which a member that has work gave no answer and no bytes of
  // one.
  static double without_answer(const Member& member, double now) {
    return now - last_sign(member.busy_since, member.flowed);
  }

  // Forgets the member that has been silent for longest, if many are silent; it
  // says Hello again if it speaks.  No pointer to such a member may be in use.
  static constexpr std::size_t kSilentKept = 32;
  void forget_silent();

  // The members that can work, and all that are connected as far as we know,
  // ready or not; in the order in which they joined.
  std::vector<Member*> workers();
  // workers(), and those that will be again soon.
  std::vector<Member*> counted();
  std::vector<Member*> present();
  bool anybody_works() const;
  // The members that get the feed from the master, in the order of joining.
  std::vector<Member*> fed_by_master();
  // Sets the sender of its feed; 0: the master.  Returns the former one.
  std::uint64_t set_feeder(Member& member, std::uint64_t parent);
  // Number of members that ever joined.
  std::size_t joined() const { return last_number_; }
  std::size_t size() const { return members_.size(); }
  // Number of members looked at so far, a measure of the cost.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  // When there was one: of a message or of bytes on their way.
  static double last_sign(double whole, double flowed) {
    return std::max(whole, std::min(flowed, whole + kLongestTransfer));
  }
  const Member* of_process(std::uint64_t process) const;
  const Member* named(const std::string& name) const;

  std::map<std::uint64_t, Member> members_;                 // members by number
  std::unordered_map<std::string, std::uint64_t> numbers_;  // numbers by peer
  // Numbers of members fed by the master.
  std::set<std::uint64_t> fed_by_master_;
  // Numbers of silent members, the newest last.
  std::deque<std::uint64_t> silent_;
  std::uint64_t looked_at_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBERSHIP_H_
