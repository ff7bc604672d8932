#include "libcore/cluster/tree/peers.h"

#include <limits>
#include <utility>

#include "libcore/base/clock.h"

namespace dl::cluster {

namespace {

constexpr double kLookAgain = 0.002;  // seconds, where no socket tells

}  // namespace

void Peers::begin_session(const std::string& endpoint, const Welcome& welcome,
                          bool insecure) {
  Security security;
  security.insecure = insecure;
  if (!welcome.tree_key.empty())
    security.shared = key_pair_of(welcome.tree_key);
  Envelope envelope;
  envelope.run = welcome.run;
  envelope.worker = welcome.worker;
  reducer_sockets_.begin_session(envelope, security, welcome.sizes);
  relay_sockets_.begin_session(endpoint, std::move(security), welcome.sizes);
  relay_.begin_session(welcome.run, welcome.worker);
  reducer_.begin_session(welcome.sizes);
}

std::vector<Message> Peers::from_master(Received received) {
  Message& message = received.message;
  switch (message.type) {
    case MessageType::kPlace:
      relay_.place(Place::from_message(message));
      return {};
    case MessageType::kListen:
      reducer_.listens_at(relay_.listen(Listen::from_message(message)));
      return {};
    default:
      return pass(relay_.from_master(std::move(received)));
  }
}

std::vector<Message> Peers::serve() {
  std::vector<Message> turn = pass(relay_sockets_.serve(relay_, reducer_));
  reducer_sockets_.serve(reducer_);
  reducer_.poll();
  return turn;
}

// By the reducer, which keeps what is for it alone.
std::vector<Message> Peers::pass(std::vector<Message> messages) {
  std::vector<Message> turn = reducer_.from_master(std::move(messages));
  if (!turn.empty() || !reducer_.waits()) waits_since_ = 0;
  if (!reducer_.waits()) return turn;
  const double now = monotonic_seconds();
  if (waits_since_ == 0) waits_since_ = now;
  if (now - waits_since_ > kReachSeconds) reducer_.give_up_round();
  return turn;
}

std::vector<Message> Peers::take_for_master() {
  std::vector<Message> messages = relay_.take_for_master();
  for (Message& message : reducer_.take_for_master())
    messages.push_back(std::move(message));
  return messages;
}

double Peers::collect(std::vector<const Socket*>& sockets) const {
  relay_sockets_.collect(sockets);
  reducer_sockets_.collect(sockets);
  if (reducer_sockets_.waiting() || reducer_.busy()) return kLookAgain;
  return reducer_.waits() ? kReachSeconds : std::numeric_limits<double>::max();
}

// Whole messages count, and what has come of a long one.
std::uint64_t Peers::flow() {
  constexpr std::uint64_t kFlow = 65536;
  const std::uint64_t bytes = bytes_in() + bytes_out();
  const bool more = bytes < flow_bytes_ || bytes - flow_bytes_ >= kFlow;
  if (more) flow_bytes_ = bytes;
  if (relay_sockets_.flowed() || reducer_sockets_.flowed() || more) ++flow_;
  return flow_;
}

std::uint64_t Peers::bytes_out() const {
  return relay_sockets_.bytes_out() + reducer_sockets_.bytes_out();
}

}  // namespace dl::cluster
