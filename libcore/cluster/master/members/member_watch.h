// Finds members that are lost: gone, silent, standing still, barren or of no
// use; and those that are slow.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBER_WATCH_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBER_WATCH_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

// Counts and reports the loss of a member.  then: consequence, "; ...".
void tell_lost(RunContext& context, const Member& member,
               const std::string& why, const std::string& then = "");

class MemberWatch {
 public:
  explicit MemberWatch(RunContext& context) : context_(context) {}

  void tick();
  // Call before a worker is let in: its old connection may have ended a moment
  // ago, and then that is the reason of the loss, not the new Hello.
  void watch_connections();

  // Returns the member's work to the queue.  gone: it is no member any more.
  // failed: its work may have been the cause.
  void lose(Member& member, const std::string& why, bool gone,
            bool failed = true);

 private:
  void watch_signs_of_life();
  void watch_stragglers();
  void watch_answers();
  void take_for_barren(Member& member, double silence, double median);
  void put_out(Member& member);

  RunContext& context_;
  double next_look_ = 0, next_comparison_ = 0;  // times of the next looks
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_MEMBER_WATCH_H_
