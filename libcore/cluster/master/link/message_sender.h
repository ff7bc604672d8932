// All that a master sends: messages to a member, what all are told, and what
// brings one of them up to date.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_MESSAGE_SENDER_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_MESSAGE_SENDER_H_

#include <cstdint>
#include <vector>

#include "libcore/cluster/master/members/membership.h"
#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

struct RunContext;

class MessageSender {
 public:
  explicit MessageSender(RunContext& context) : context_(context) {}

  // False: the message was not sent, and the member is sent nothing for a
  // moment. feed: as in Envelope.
  bool send(Member& member, Message message, std::uint64_t feed = 0);
  bool send(Member& member, const SharedMessage& message,
            std::uint64_t feed = 0);

  // Adds the message, which follows the state's last step, to the feed, and
  // sends it to all members that are in step and fed by the master.  Returns
  // the members that it does not reach; they are then out of step.
  std::vector<Member*> tell_all(Message message);
  // for_origin: message for the member `origin` instead, in a star.
  std::vector<Member*> tell_all(Message message, std::uint64_t origin,
                                Message for_origin);
  // Sends the member the messages (after, upto] of the feed, or puts it out of
  // step.
  void refill(Member& member, std::uint64_t after, std::uint64_t upto);
  // Has the member tell where other workers reach it; once.
  void ask_to_listen(Member& member);
  // The member is fed by the master itself from now on.
  void unseat(Member& member);

  // Sends State unless the member has the current one; or, to a replica that
  // comes back, the updates that it missed, if they are known and fewer bytes.
  // Returns false if that is not possible now.
  bool bring_up_to_date(Member& member);

 private:
  bool catch_up(Member& member);
  SharedMessage state();
  std::vector<Member*> tell(const SharedMessage& message, std::uint64_t origin,
                            const SharedMessage& for_origin);

  RunContext& context_;
  std::uint64_t sequence_ = 0;
  // The last State, while it still waits to be sent, and the time when it was
  // made.
  std::weak_ptr<const Message> state_;
  std::uint64_t state_version_ = 0;
  double state_made_ = -1;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_MESSAGE_SENDER_H_
