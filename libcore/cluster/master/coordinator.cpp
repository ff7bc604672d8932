#include "libcore/cluster/master/coordinator.h"

#include <utility>

namespace dl::cluster {

namespace {

// The parts take the time they begin at from the context.
RunContext& at(RunContext& context, double now) {
  context.now = now;
  return context;
}

// Whether a worker may send this before Ready.
bool may_come_first(MessageType type) {
  return type == MessageType::kReady || type == MessageType::kBeat ||
         type == MessageType::kFetch || type == MessageType::kLeave ||
         type == MessageType::kListening;
}

}  // namespace

Coordinator::Coordinator(RunContext& context, Hooks hooks, double now,
                         double waiting_since)
    : context_(at(context, now)),
      hooks_(std::move(hooks)),
      watch_(context),
      admission_(context, watch_, hooks_),
      records_(context, hooks_.record),
      feed_tree_(context),
      wait_(context, waiting_since),
      checkpoints_(context, hooks_.save),
      course_(context, hooks_, checkpoints_),
      started_(now),
      elapsed_before_(context.state.elapsed) {}

// --- Messages ---------------------------------------------------------------

void Coordinator::handle(const RouterSocket::Incoming& incoming, double now) {
  context_.now = now;
  const Message& message = incoming.received.message;
  if (message.type == MessageType::kHello) {
    watch_.watch_connections();
    return admission_.admit(incoming);
  }
  Member* member = context_.members.find(incoming.peer);
  if (!member || incoming.received.envelope.run != context_.run)
    return admission_.send_away(incoming);
  if (context_.members.heard(*member, now)) note_return(*member, " is back");
  try {
    take(*member, message);
  } catch (Error& error) {
    if (error.code() != Code::kProtocol) throw;
    // Its answer may have been in it: it starts from the state again.
    member->in_step = false;
    if (context_.phase)
      context_.phase->release(*member, "it sent a wrong message", false);
    context_.answers.reject(*member, -1, error.what());
  }
}

void Coordinator::take(Member& member, const Message& message) {
  if (!member.ready && !may_come_first(message.type))
    throw Error{Code::kProtocol,
                std::string(name_of(message.type)) + ": before Ready"};
  switch (message.type) {
    case MessageType::kReady:
      return take_ready(member, Ready::from_message(message));
    case MessageType::kBeat:
      return take_beat(member, Beat::from_message(message));
    case MessageType::kSpreads:
      return take_spreads(member, Spreads::from_message(message));
    case MessageType::kListening:
      return feed_tree_.take(member, Listening::from_message(message));
    case MessageType::kFed:
      return feed_tree_.take(member, Fed::from_message(message));
    case MessageType::kFetch:
      return records_.take(member, Fetch::from_message(message));
    case MessageType::kLeave:
      return take_leave(member, Leave::from_message(message));
    default:
      if (context_.phase) context_.phase->take(member, message);
  }
}

void Coordinator::take_ready(Member& member, Ready ready) {
  if (member.ready) throw Error{Code::kProtocol, "Ready: a second one"};
  member.had = std::move(ready);
  for (const std::uint32_t shard : member.had.unreadable)
    records_.require_record(false, shard, 0);
  member.ready = true;
  if (!member.had.unreadable.empty())
    context_.log(Level::kInfo,
                 member.describe() + " cannot open " +
                     std::to_string(member.had.unreadable.size()) +
                     " of the shards; their records are sent to it");
}

// beats: what a message counts for.
void Coordinator::count_beats(Member& member, int beats) const {
  // Careful workers send one before each mini-batch and wait for its answer,
  // which takes longer than a 20,000th of a second.
  constexpr int kMostBeats = 20000;
  if (context_.now - member.second_began >= 1) {
    member.second_began = context_.now;
    member.beats = 0;
  }
  if ((member.beats += beats) > kMostBeats)
    throw Error{
        Code::kProtocol,
        "Beat: more than " + std::to_string(kMostBeats) + " in a second"};
}

void Coordinator::take_spreads(Member& member, const Spreads& spreads) {
  constexpr int kBeatsOfSpreads = 1000;
  count_beats(member, kBeatsOfSpreads);
  if (context_.take_spreads) context_.take_spreads(spreads);
}

void Coordinator::take_beat(Member& member, const Beat& beat) {
  count_beats(member, 1);
  if (beat.feed > context_.feed.number())
    throw Error{Code::kProtocol, "Beat: its feed is ahead of ours"};
  context_.note_exchange(member, beat.exchange);
  feed_tree_.heard(member, beat.feed);
  // Answers a member that waits for it.
  if (beat.batch >= 0 || context_.link.idle(member.peer))
    context_.outgoing.send(member, Alive{beat.lease, beat.batch}.to_message());
  if (context_.members.beat(member, beat, context_.now))
    note_return(member, " moves again");
}

void Coordinator::note_return(const Member& member, const char* how) {
  ++context_.report.returned;
  context_.events.write("return", {{"worker", member.number}});
  context_.log(Level::kInfo, member.describe() + how);
  if (context_.phase) context_.phase->forgive(member.hello.process);
}

void Coordinator::take_leave(Member& member, const Leave& leave) {
  ++context_.report.left;
  context_.events.write("leave",
                        {{"worker", member.number}, {"why", leave.reason}});
  context_.log(Level::kInfo, member.describe() + " leaves: " + leave.reason);
  if (context_.phase) context_.phase->release(member, "its worker left", false);
  if (!leave.returns) admission_.retire_key_of(member.hello.process);
  context_.members.remove(member.peer);
}

void Coordinator::lost_process(const std::string& name, std::int64_t pid,
                               const std::string& how, double now) {
  context_.now = now;
  if (Member* member = context_.members.find(name, pid))
    watch_.lose(*member, how, true);
}

void Coordinator::join_again(const std::string& why) {
  for (Member* member : context_.members.present())
    context_.outgoing.send(*member, Rejoin{why}.to_message());
}

// --- Time -------------------------------------------------------------------

void Coordinator::stood_still(double seconds, double now) {
  context_.members.pardon(seconds, now);
}

void Coordinator::tick(double now) {
  context_.now = now;
  if (finished() || stopped_) return;
  context_.state.elapsed = elapsed_before_ + now - started_;
  watch_.tick();
  records_.tick();
  course_.watch_training(stopping());
  settle_bad_data();
  feed_tree_.tick();
  if (!stopping()) {
    if (!wait_.gathered()) return;
    course_.begin();
    if (wait_.deserted()) {
      stop("all workers are gone", now);
      stop_deadline_ = now;
    }
    course_.watch_time();
  }
  if (stopping()) return tick_stopping();
  course_.tick();
  if (!finished()) checkpoints_.save_if_due();
}

void Coordinator::tick_stopping() {
  // Where all workers were told to stop as well, nobody does what was begun.
  if (context_.phase && context_.now < stop_deadline_ &&
      !context_.members.present().empty()) {
    context_.phase->tick();
    if (!context_.phase->done()) return;
  }
  if (!hooks_.measured) checkpoints_.save(true);  // nothing was learnt
  stopped_ = true;
}

// The state is good: the same command may go on from it.
void Coordinator::settle_bad_data() {
  if (context_.failure || std::exchange(context_.save_soon, false))
    checkpoints_.save(stopping());
  if (context_.failure) checkpoints_.settle();
  if (context_.failure) throw Error(*context_.failure);
}

void Coordinator::stop(const std::string& reason, double now) {
  if (stopping()) return;
  context_.now = now;
  stop_reason_ = reason;
  stop_deadline_ = now + context_.limits.grace;
  if (context_.phase) context_.phase->wind_up();
  context_.events.write("stop",
                        {{"why", reason}, {"epoch", context_.state.epoch}});
}

}  // namespace dl::cluster
