#include "libcore/cluster/master/members/admission.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/device/instructions.h"

namespace dl::cluster {

namespace {

constexpr int kMostHellos = 8;  // of a process on one connection

}  // namespace

void Admission::admit(const RouterSocket::Incoming& incoming) {
  Member newcomer;
  newcomer.peer = incoming.peer;
  newcomer.key = incoming.key;
  newcomer.key_name = incoming.key_name;
  try {
    newcomer.hello = Hello::from_message(incoming.received.message);
    Member* old = context_.members.find(incoming.peer);
    if (old) check_same(*old, newcomer);
    Welcome welcome = hooks_.welcome();
    check_takes("this worker", newcomer.hello.takes,
                {.from = kFromMaster, .sizes = welcome.sizes});
    if (incoming.once) claim_key(incoming.key, newcomer.hello.process);
    check_name(newcomer);
    free_name(newcomer);
    if (old) {
      newcomer.hellos = old->hellos;
      old->in_step = false;
      if (context_.phase)
        context_.phase->release(*old, "it starts again", false);
    }
    Member& member = take_in(newcomer);
    welcome.run = context_.run;
    welcome.worker = member.number;
    welcome.name = member.hello.name;
    context_.link.let_in(member.peer);
    context_.outgoing.send(member, welcome.to_message());
    prepare_exchange();
    announce(member);
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol && error.code() != Code::kNotAuthorised)
      throw;
    refuse(newcomer, error);
  }
}

void Admission::check_same(const Member& old, const Member& newcomer) {
  if (old.hello.process == newcomer.hello.process && old.hellos < kMostHellos)
    return;
  const std::string why =
      "a connection is of one process, which says Hello once";
  context_.link.end(newcomer.peer, why);
  throw Error{Code::kProtocol, why};
}

// A worker that is started again gets the next name, which must be free then.
void Admission::check_name(const Member& newcomer) const {
  if (hooks_.is_reserved && hooks_.is_reserved(newcomer.hello, newcomer.key))
    throw Error{Code::kProtocol,
                "the name '" + default_name(newcomer.hello) +
                    "' is for workers that the master starts itself; give "
                    "another --name"};
}

// One that was there before takes over what it had.
Member& Admission::take_in(const Member& newcomer) {
  std::optional<Member> replaced;
  Member& member =
      context_.members.admit(newcomer.peer, newcomer.hello, context_.now,
                             context_.limits.lost_after, &replaced);
  member.key = newcomer.key;
  member.key_name = newcomer.key_name;
  member.hellos = newcomer.hellos + 1;
  member.digests = context_.checks;
  Phase* const phase = context_.phase.get();
  if (replaced) {
    if (replaced->is_sound()) ++context_.report.left;
    context_.events.write(
        "leave", {{"worker", replaced->number}, {"why", "it joins again"}});
    if (phase) phase->release(*replaced, "it reconnected", false);
  }
  if (phase) phase->forgive(member.hello.process);
  if (replaced && member.returns) {
    std::ranges::replace(context_.sharing_owners, replaced->number,
                         member.number);
    if (phase) phase->renumber(replaced->number, member);
  }
  return member;
}

// In sync workers average among themselves, from the first round on if they
// know each other by then.
void Admission::prepare_exchange() {
  const std::vector<Member*> members = context_.members.present();
  if (context_.settings.mode != Mode::kSync || hooks_.measured ||
      members.size() < 2)
    return;
  for (Member* each : members) context_.outgoing.ask_to_listen(*each);
}

void Admission::announce(const Member& member) {
  ++context_.report.joined;
  Json event = {{"worker", member.number},
                {"name", member.hello.name},
                {"host", member.hello.host},
                {"pid", member.hello.pid},
                {"device", member.hello.device},
                {"threads", member.hello.threads},
                {"instructions", instructions_of(member)},
                {"epoch", context_.state.epoch}};
  if (!member.key_name.empty()) event["key"] = member.key_name;
  context_.events.write("join", std::move(event));
  context_.log(Level::kInfo,
               member.describe() + " joined: " + member.hello.device + ", " +
                   std::to_string(member.hello.threads) +
                   (member.hello.threads == 1 ? " thread" : " threads") +
                   (member.key_name.empty() ? "" : ", key " + member.key_name));
  note_instructions(member);
}

void Admission::refuse(Member& refused, const Error& error) {
  Refuse answer;
  answer.code = static_cast<int>(error.code());
  answer.reason = error.what();
  if (context_.link.idle(refused.peer))
    context_.outgoing.send(refused, answer.to_message());
  tell_refusal(error.what());
}

// A message of an earlier start of this master, or of a worker that was given
// up: what it has is of no use, and it might wait for us for ever.
void Admission::send_away(const RouterSocket::Incoming& incoming) {
  if (incoming.received.message.type == MessageType::kLeave ||
      !context_.link.idle(incoming.peer))
    return;
  Member stranger;
  stranger.peer = incoming.peer;
  context_.outgoing.send(stranger, Rejoin{}.to_message());
}

// Some a minute: whoever can connect can be refused as often as it likes.
void Admission::tell_refusal(const std::string& why) {
  if (const auto others = refusals_.tell(context_.now))
    context_.log(Level::kWarning, "a worker was refused: " + why + *others);
}

void Admission::claim_key(const std::string& key, std::uint64_t process) {
  if (once_.emplace(key, process).first->second != process)
    throw Error{Code::kNotAuthorised,
                "this key is for one process, and another one has it; "
                "dl-keygen --once makes one for each"};
}

void Admission::retire_key(const std::string& key) {
  try {
    context_.link.retire(key);
  } catch (const Error& error) {
    context_.log(Level::kWarning, error.what());
  }
}

void Admission::retire_key_of(std::uint64_t process) {
  for (const auto& [key, owner] : once_)
    if (owner == process) retire_key(key);
}

void Admission::retire_keys() {
  for (const auto& [key, process] : once_) retire_key(key);
}

std::string Admission::instructions_of(const Member& member) const {
  return context_.settings.deterministic ? device::kCommonInstructions
                                         : member.hello.instructions;
}

// A run whose result does not depend on time may depend on who computes what.
void Admission::note_instructions(const Member& newcomer) {
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
void Admission::free_name(const Member& newcomer) {
  const std::string name = default_name(newcomer.hello);
  for (Member* old : context_.members.present()) {
    if (old->hello.name != name || old->peer == newcomer.peer ||
        old->hello.process == newcomer.hello.process)
      continue;
    if (!context_.outgoing.send(*old, Stale{}.to_message()))
      watch_.lose(*old, "its connection is closed", true);
    return;
  }
}

}  // namespace dl::cluster
