#include "libcore/cluster/master/coordinator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/stragglers.h"
#include "libcore/device/instructions.h"

namespace dl::cluster {

namespace {

// Of an honest worker one, and its evaluation's.
constexpr std::size_t kMostFetches = 8;
constexpr int kMostHellos = 8;      // of a process on one connection
constexpr double kSayWaiting = 10;  // seconds between two such lines

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

}  // namespace

Coordinator::Coordinator(RunContext& context, Hooks hooks, double now)
    : context_(context),
      hooks_(std::move(hooks)),
      early_stopping_(early_stopping_of(context.settings, context.state)),
      feed_tree_(context),
      started_(now),
      elapsed_before_(context.state.elapsed),
      alone_since_(now),
      said_waiting_(now),
      last_checkpoint_(now) {
  context_.now = now;
}

// --- Messages ---------------------------------------------------------------

void Coordinator::handle(const RouterSocket::Incoming& incoming, double now) {
  context_.now = now;
  const Message& message = incoming.received.message;
  if (message.type == MessageType::kHello) return admit(incoming);
  Member* member = context_.members.find(incoming.peer);
  if (!member || incoming.received.envelope.run != context_.run)
    return send_away(incoming);
  if (context_.members.heard(*member, now)) {
    ++context_.report.returned;
    context_.events.write("return", {{"worker", member->number}});
    context_.log(Level::kInfo, member->describe() + " is back");
    if (phase_) phase_->forgive(member->hello.process);
  }
  try {
    take(*member, message);
  } catch (Error& error) {
    if (error.code() != Code::kProtocol) throw;
    // Its answer may have been in it: it starts from the state again.
    member->in_step = false;
    if (phase_) phase_->release(*member, "it sent a wrong message", false);
    context_.answers.reject(*member, -1, error.what());
  }
}

// Of an earlier start of this master, or given up: what it has is of no use,
// and it might wait for us for ever.
void Coordinator::send_away(const RouterSocket::Incoming& incoming) {
  if (incoming.received.message.type == MessageType::kLeave ||
      !context_.link.idle(incoming.peer))
    return;
  Member stranger;
  stranger.peer = incoming.peer;
  context_.outgoing.send(stranger, Rejoin{}.to_message());
}

void Coordinator::admit(const RouterSocket::Incoming& incoming) {
  Member refused;
  refused.peer = incoming.peer;
  try {
    refused.hello = Hello::from_message(incoming.received.message);
    Member* old = context_.members.find(incoming.peer);
    if (old && (old->hello.process != refused.hello.process ||
                old->hellos >= kMostHellos)) {
      const std::string why =
          "a connection is of one process, which says Hello "
          "once";
      context_.link.end(incoming.peer, why);
      throw Error{Code::kProtocol, why};
    }
    Welcome welcome = hooks_.welcome();
    check_takes("this worker", refused.hello.takes,
                {.from = kFromMaster, .sizes = welcome.sizes});
    if (incoming.once) claim_key(incoming.key, refused.hello.process);
    probe_namesake(refused);
    std::optional<Member> replaced;
    if (old) {
      refused.hellos = old->hellos;
      old->in_step = false;
      if (phase_) phase_->release(*old, "it starts again", false);
    }
    Member& member =
        context_.members.admit(incoming.peer, refused.hello, context_.now,
                               context_.limits.lost_after, &replaced);
    member.key = incoming.key;
    member.hellos = refused.hellos + 1;
    member.digests = context_.checks;
    if (replaced) {
      context_.events.write(
          "leave", {{"worker", replaced->number}, {"why", "it joins again"}});
      if (phase_) phase_->release(*replaced, "it reconnected", false);
    }
    if (phase_) phase_->forgive(member.hello.process);
    if (replaced && member.returns) {
      std::ranges::replace(context_.sharing_owners, replaced->number,
                           member.number);
      if (phase_) phase_->renumber(replaced->number, member);
    }
    welcome.run = context_.run;
    welcome.worker = member.number;
    welcome.name = member.hello.name;
    context_.link.let_in(member.peer);
    context_.outgoing.send(member, welcome.to_message());
    ++context_.report.joined;
    context_.events.write("join", {{"worker", member.number},
                                   {"name", member.hello.name},
                                   {"host", member.hello.host},
                                   {"pid", member.hello.pid},
                                   {"device", member.hello.device},
                                   {"threads", member.hello.threads},
                                   {"instructions", instructions_of(member)},
                                   {"epoch", context_.state.epoch}});
    context_.log(Level::kInfo,
                 member.describe() + " joined: " + member.hello.device + ", " +
                     std::to_string(member.hello.threads) +
                     (member.hello.threads == 1 ? " thread" : " threads"));
    note_instructions(member);
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol && error.code() != Code::kNotAuthorised)
      throw;
    Refuse answer;
    answer.code = static_cast<int>(error.code());
    answer.reason = error.what();
    if (context_.link.idle(incoming.peer))
      context_.outgoing.send(refused, answer.to_message());
    tell_refusal(error.what());
  }
}

// Some a minute: whoever can connect can be refused as often as it likes.
void Coordinator::tell_refusal(const std::string& why) {
  if (const auto others = refusals_.tell(context_.now))
    context_.log(Level::kWarning, "a worker was refused: " + why + *others);
}

void Coordinator::claim_key(const std::string& key, std::uint64_t process) {
  if (once_.emplace(key, process).first->second != process)
    throw Error{Code::kNotAuthorised,
                "this key is for one process, and another one has it; "
                "dl-keygen --once makes one for each"};
}

void Coordinator::retire_key(const std::string& key) {
  try {
    context_.link.retire(key);
  } catch (const Error& error) {
    context_.log(Level::kWarning, error.what());
  }
}

void Coordinator::retire_key_of(std::uint64_t process) {
  for (const auto& [key, owner] : once_)
    if (owner == process) retire_key(key);
}

void Coordinator::retire_keys() {
  for (const auto& [key, process] : once_) retire_key(key);
}

std::string Coordinator::instructions_of(const Member& member) const {
  return context_.settings.deterministic ? device::kCommonInstructions
                                         : member.hello.instructions;
}

// A run whose result does not depend on time may depend on who computes what.
void Coordinator::note_instructions(const Member& newcomer) {
  const std::string own = instructions_of(newcomer);
  if (own.empty()) return;
  if (hooks_.computes_with) hooks_.computes_with(own);
  const Settings& settings = context_.settings;
  if (settings.mode == Mode::kSharing && settings.sharing.staleness != 0)
    return;
  for (const Member* other : context_.members.present()) {
    const std::string theirs = instructions_of(*other);
    if (theirs.empty()) continue;
    const int threads = newcomer.hello.threads;
    if (theirs == own && other->hello.threads != threads)
      return context_.log(
          Level::kWarning,
          newcomer.describe() + " computes with " + std::to_string(threads) +
              (threads == 1 ? " thread, " : " threads, ") + other->describe() +
              " with " + std::to_string(other->hello.threads) +
              ": the model may depend on who trains what; the same --threads "
              "make them compute alike");
    if (theirs == own) continue;
    return context_.log(Level::kWarning,
                        newcomer.describe() + " computes with " + own + ", " +
                            other->describe() + " with " + theirs +
                            ": the model may depend on who trains what; "
                            "--deterministic makes them compute alike");
  }
}

// A worker that died may have started again before it was missed: if its old
// connection takes nothing any more, the name is free.
void Coordinator::probe_namesake(const Member& newcomer) {
  for (Member* old : context_.members.present()) {
    if (old->hello.name != newcomer.hello.name || old->peer == newcomer.peer ||
        old->hello.process == newcomer.hello.process)
      continue;
    if (!context_.outgoing.send(*old, Stale{}.to_message()))
      lose(*old, "its connection is closed", true);
    return;
  }
}

// What a worker may send before it said Ready.
bool may_come_first(MessageType type) {
  return type == MessageType::kReady || type == MessageType::kBeat ||
         type == MessageType::kFetch || type == MessageType::kLeave;
}

void Coordinator::take(Member& member, const Message& message) {
  if (!member.ready && !may_come_first(message.type))
    throw Error{Code::kProtocol,
                std::string(name_of(message.type)) + ": before Ready"};
  switch (message.type) {
    case MessageType::kReady:
      if (member.ready) throw Error{Code::kProtocol, "Ready: a second one"};
      member.had = Ready::from_message(message);
      for (const std::uint32_t shard : member.had.unreadable)
        require_record(false, shard, 0);
      member.ready = true;
      if (!member.had.unreadable.empty())
        context_.log(Level::kInfo,
                     member.describe() + " cannot open " +
                         std::to_string(member.had.unreadable.size()) +
                         " of the shards; their records are sent to it");
      return;
    case MessageType::kBeat: {
      const Beat beat = Beat::from_message(message);
      if (beat.feed > context_.feed.number())
        throw Error{Code::kProtocol, "Beat: its feed is ahead of ours"};
      context_.note_exchange(member, beat.exchange);
      feed_tree_.heard(member, beat.feed);
      // What waits for it tells it as much.
      if (beat.batch >= 0 || context_.link.idle(member.peer))
        context_.outgoing.send(member,
                               Alive{beat.lease, beat.batch}.to_message());
      if (context_.members.beat(member, beat, context_.now)) {
        ++context_.report.returned;
        context_.events.write("return", {{"worker", member.number}});
        context_.log(Level::kInfo, member.describe() + " moves again");
        if (phase_) phase_->forgive(member.hello.process);
      }
      return;
    }
    case MessageType::kListening:
      return feed_tree_.take(member, Listening::from_message(message));
    case MessageType::kFed:
      return feed_tree_.take(member, Fed::from_message(message));
    case MessageType::kFetch:
      return take_fetch(member, Fetch::from_message(message));
    case MessageType::kLeave: {
      const Leave leave = Leave::from_message(message);
      ++context_.report.left;
      context_.events.write("leave",
                            {{"worker", member.number}, {"why", leave.reason}});
      context_.log(Level::kInfo,
                   member.describe() + " leaves: " + leave.reason);
      if (phase_) phase_->release(member, "its worker left", false);
      if (!leave.returns) retire_key_of(member.hello.process);
      return context_.members.remove(member.peer);
    }
    default:
      if (phase_) phase_->take(member, message);
  }
}

void Coordinator::require_record(bool evaluation, std::uint32_t shard,
                                 std::uint32_t record) const {
  const auto& shards =
      (evaluation ? context_.evaluation : context_.training).records;
  if (shard >= shards.size() || record >= shards[shard].size())
    throw Error{Code::kProtocol, "there is no record " +
                                     std::to_string(record) + " of shard " +
                                     std::to_string(shard)};
}

// Not before it has taken the last one: who asks and does not listen must not
// fill our memory.
void Coordinator::take_fetch(Member& member, const Fetch& fetch) {
  require_record(fetch.evaluation, fetch.shard, fetch.record);
  if (member.wanted.size() >= kMostFetches)
    throw Error{Code::kProtocol,
                "Fetch: it asks for more records than it takes"};
  member.wanted.push_back(fetch);
  serve(member);
}

void Coordinator::serve(Member& member) {
  while (!member.wanted.empty() && context_.link.idle(member.peer)) {
    const Fetch fetch = member.wanted.front();
    member.wanted.erase(member.wanted.begin());
    serve(member, fetch);
  }
}

void Coordinator::serve(Member& member, const Fetch& fetch) {
  Record record;
  record.evaluation = fetch.evaluation;
  record.shard = fetch.shard;
  record.record = fetch.record;
  try {
    record.packed = hooks_.record(fetch);
  } catch (const Error& error) {
    // What becomes of that is settled when the mini-batch is at hand.
    if (error.code() == Code::kProtocol) throw;
    context_.log(error.code() == Code::kData ? Level::kDetail : Level::kWarning,
                 error.what());
  }
  context_.outgoing.send(member, record.to_message());
}

// --- Members ----------------------------------------------------------------

void Coordinator::lose(Member& member, const std::string& why, bool gone,
                       bool failed) {
  ++context_.report.lost;
  context_.events.write("lost", {{"worker", member.number},
                                 {"why", why},
                                 {"doing", member.doing},
                                 {"epoch", context_.state.epoch}});
  context_.log(Level::kWarning, "worker " + member.describe() +
                                    " lost: " + why +
                                    (phase_ && phase_->working(member)
                                         ? "; its work goes back to the queue"
                                         : ""));
  member.in_step = false;
  const std::string peer = member.peer;
  if (phase_) phase_->release(member, why, failed);
  if (gone) context_.members.remove(peer);
}

void Coordinator::lost_process(const std::string& name, std::int64_t pid,
                               const std::string& how, double now) {
  context_.now = now;
  for (Member* member : context_.members.present())
    if (member->hello.name == name && member->hello.pid == pid)
      return lose(*member, how, true);
}

void Coordinator::join_again() {
  for (Member* member : context_.members.present())
    context_.outgoing.send(*member, Rejoin{}.to_message());
}

// The others go on without it.
void Coordinator::put_out(Member& member) {
  Refuse refuse;
  refuse.code = static_cast<int>(Code::kUnavailable);
  const std::string answers = std::to_string(member.rejections);
  refuse.reason =
      member.unfit.empty()
          ? answers + " answers of this worker in a row were rejected"
          : member.unfit;
  refuse.reason += "; look at its host and its device";
  context_.outgoing.send(member, refuse.to_message());
  lose(member,
       member.unfit.empty() ? answers + " of its answers in a row were rejected"
                            : member.unfit,
       true, false);
}

void Coordinator::watch_members() {
  const Limits& limits = context_.limits;
  for (const RouterSocket::Ended& ended : context_.link.take_ended())
    if (Member* member = context_.members.find(ended.peer))
      lose(*member, ended.why, true, false);
  for (Member* member : context_.members.present()) {
    serve(*member);
    if (member->faulty) put_out(*member);
  }
  for (Member* member :
       context_.members.silent(context_.now, limits.lost_after))
    lose(*member,
         "nothing heard of it for " + seconds(context_.now - member->heard),
         false);
  const auto working = [&](const Member& member) {
    return phase_ && phase_->working(member);
  };
  for (Member* member :
       context_.members.stuck(context_.now, limits.stuck_after, working)) {
    const std::string doing =
        member->doing.empty() ? "" : " (" + member->doing + ")";
    lose(*member,
         "it beats but does not move for " +
             seconds(context_.now - member->moved) + doing,
         false);
  }
}

// The others wait for it, or train on what it did not know of.
void Coordinator::watch_stragglers() {
  for (const Straggler& slow :
       find_stragglers(context_.members.workers(), context_.now)) {
    context_.events.write("straggler", {{"worker", slow.member->number},
                                        {"factor", slow.factor},
                                        {"epoch", context_.state.epoch}});
    context_.log(Level::kWarning, slow.member->describe() + " is " +
                                      format("%.1f", slow.factor) +
                                      "x slower than the median of the others");
  }
}

void Coordinator::say_waiting(const std::string& what, double left) {
  if (context_.now - said_waiting_ < kSayWaiting) return;
  said_waiting_ = context_.now;
  char text[48];
  std::snprintf(text, sizeof text, ", %.0f s left", std::ceil(left));
  context_.log(Level::kInfo, "waiting: " + what + text);
}

// Whether enough workers were there once.
bool Coordinator::gathered() {
  if (gathered_) return true;
  const auto workers = context_.members.workers();
  const auto have = static_cast<std::int64_t>(workers.size());
  if (have >= context_.limits.min_workers) return gathered_ = true;
  std::string names;
  for (const Member* member : workers)
    names += (names.empty() ? " (" : ", ") + member->hello.name;
  const std::string what = std::to_string(have) + " of " +
                           std::to_string(context_.limits.min_workers) +
                           " workers" + names + (names.empty() ? "" : ")");
  const double left = started_ + context_.limits.wait - context_.now;
  if (left <= 0)
    throw Error{Code::kUnavailable,
                "waited " + seconds(context_.limits.wait) + " and have " +
                    what + "; start more, lower --min-workers or raise --wait"};
  say_waiting(what, left);
  return false;
}

void Coordinator::watch_for_workers() {
  if (context_.members.anybody_works()) {
    alone_since_ = context_.now;
    return;
  }
  const double left = alone_since_ + context_.limits.wait - context_.now;
  if (left > 0) return say_waiting("no worker is left", left);
  stop("all workers are gone", context_.now);
  stop_deadline_ = context_.now;
}

void Coordinator::watch_time() {
  context_.state.elapsed = elapsed_before_ + context_.now - started_;
  if (time_is_up_ || context_.limits.max_time <= 0 ||
      context_.state.elapsed < context_.limits.max_time)
    return;
  time_is_up_ = true;
  if (!evaluation_) phase_->wind_up();
}

void Coordinator::dismiss(int code, const std::string& reason) {
  farewell_.code = code;
  farewell_.reason = reason;
  // Whose connection is closed may be on its way back.
  for (Member* member : context_.members.present())
    context_.outgoing.send(*member, farewell_.to_message());
}

bool Coordinator::all_left() const {
  for (const Member* member : context_.members.present())
    if (member->ready && !member->silent) return false;
  return true;
}

void Coordinator::take_farewell(const RouterSocket::Incoming& incoming) {
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
  context_.outgoing.send(late, farewell_.to_message());
}

}  // namespace dl::cluster
