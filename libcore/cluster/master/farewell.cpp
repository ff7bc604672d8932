#include "libcore/cluster/master/farewell.h"

namespace dl::cluster {

Farewell::Farewell(RunContext& context, int code, const std::string& reason)
    : context_(context) {
  stop_.code = code;
  stop_.reason = reason;
  // Whose connection is closed may be on its way back.
  for (Member* member : context_.members.present())
    context_.outgoing.send(*member, stop_.to_message());
}

bool Farewell::all_left() const {
  for (const Member* member : context_.members.present())
    if (member->ready && !member->silent) return false;
  return true;
}

void Farewell::take(const RouterSocket::Incoming& incoming) {
  const MessageType type = incoming.received.message.type;
  if (type == MessageType::kLeave) context_.members.remove(incoming.peer);
  if (type != MessageType::kHello) return;
  try {
    context_.members.remove_former_self(
        Hello::from_message(incoming.received.message));
  } catch (const Error&) {  // no worker of ours
    return;
  }
  Member late;  // it just came, or came back
  late.peer = incoming.peer;
  context_.outgoing.send(late, stop_.to_message());
}

}  // namespace dl::cluster
