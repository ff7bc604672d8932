#include "libcore/cluster/tree/relay_sockets.h"

#include <utility>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/local_address.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {

namespace {

constexpr int kMessagesAtOnce = 64;  // of one side, before others are served

// Whether the master is on this host.
bool is_beside(const std::string& master) {
  const std::string here = local_address(master) + ":";
  return is_local(master) || is_local(tcp_endpoint(here + "0")) ||
         tcp_address(master).value_or("").starts_with(here);
}

// Where other workers find this one: at the address that leads to the master.
std::string place_to_listen(const std::string& master) {
  const std::string here = tcp_endpoint(local_address(master) + ":0");
  // The master is on this host, but other workers need not be.
  return !is_local(master) && is_local(here) ? std::string(kAnyEndpoint) : here;
}

}  // namespace

void RelaySockets::begin_session(std::string master, Security security,
                                 const Sizes& sizes) {
  connect("");
  children_.reset();
  master_ = std::move(master);
  security_ = std::move(security);
  sizes_ = sizes;
}

Listening RelaySockets::listen() {
  try {
    if (!children_) {
      children_.emplace(
          network_.given()
              ? at_own_address(std::string(kAnyEndpoint), network_, silent())
              : place_to_listen(master_),
          security_, log_);
      children_->expect({.from = kFromChild, .sizes = sizes_},
                        {.from = kFromParent, .sizes = sizes_});
    }
    return {children_->endpoint(), is_beside(master_)};
  } catch (const Error& error) {
    log_(Level::kWarning,
         std::string("other workers cannot be fed from here: ") + error.what());
    return {};
  }
}

void RelaySockets::connect(const std::string& endpoint) {
  leave_parent();
  if (!endpoint.empty())
    parent_.emplace(
        endpoint, security_, Expected{.from = kFromParent, .sizes = sizes_},
        Expected{.from = kFromChild, .sizes = sizes_}, log_, carrier_);
}

void RelaySockets::leave_parent() {
  bytes_in_ += parent_bytes(&DealerSocket::bytes_in);
  bytes_out_ += parent_bytes(&DealerSocket::bytes_out);
  parent_.reset();
}

void RelaySockets::send_to_parent(const Message& message,
                                  const Envelope& envelope) {
  if (parent_ && parent_->was_connected())
    parent_->socket().send(message, envelope, Milliseconds(0));
}

bool RelaySockets::send_to_child(const std::string& child,
                                 const Message& message,
                                 const Envelope& envelope) {
  failpoint("worker.before_relay");
  if (children_->send(child, message, envelope)) return true;
  // A message that waits for it would wait for as long as it likes.
  children_->end(child, "it does not take what it is sent");
  return false;
}

std::vector<Message> RelaySockets::serve(Relay& relay, Reducer& reducer) {
  std::vector<Message> turn;
  if (children_) serve_children(relay, reducer);
  if (parent_) serve_parent(relay, turn);
  return turn;
}

void RelaySockets::serve_children(Relay& relay, Reducer& reducer) {
  children_->take_ended();  // sending to them fails
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    auto incoming = children_->receive(Milliseconds(0));
    if (!incoming) return;
    Received& received = incoming->received;
    if (received.message.type == MessageType::kAttach) {
      relay.from_child(incoming->peer, received);
      continue;
    }
    if (received.envelope.run != relay.run()) continue;
    try {
      reducer.from_worker(std::move(received.message));
    } catch (const Error& error) {
      log_(Level::kWarning, "worker " +
                                std::to_string(received.envelope.worker) +
                                " sent what makes no sense: " + error.what());
    }
  }
}

void RelaySockets::serve_parent(Relay& relay, std::vector<Message>& turn) {
  try {
    for (int i = 0; i < kMessagesAtOnce; ++i) {
      auto received = parent_->socket().receive(Milliseconds(0));
      if (!received) break;
      for (Message& message : relay.from_parent(std::move(*received)))
        turn.push_back(std::move(message));
    }
    const bool attached = parent_->was_connected();
    if (parent_->connected() && !attached) relay.parent_connected();
  } catch (const Error& error) {
    relay.parent_lost(parent_->endpoint() + ": " + error.what());
  }
}

void RelaySockets::collect(std::vector<const Socket*>& sockets) const {
  if (children_) sockets.push_back(&*children_);
  if (parent_ && parent_->socket_if_any())
    sockets.push_back(parent_->socket_if_any());
}

std::uint64_t RelaySockets::parent_bytes(Bytes bytes) const {
  const DealerSocket* socket = parent_ ? parent_->socket_if_any() : nullptr;
  return socket ? (socket->*bytes)() : 0;
}

bool RelaySockets::flowed() {
  const bool children = children_ && !children_->take_flows().empty();
  const bool parent =
      parent_ && parent_->socket_if_any() && parent_->socket().flowed();
  return children || parent;
}

std::uint64_t RelaySockets::bytes_in() const {
  return bytes_in_ + parent_bytes(&DealerSocket::bytes_in) +
         (children_ ? children_->bytes_in() : 0);
}

std::uint64_t RelaySockets::bytes_out() const {
  return bytes_out_ + parent_bytes(&DealerSocket::bytes_out) +
         (children_ ? children_->bytes_out() : 0);
}

}  // namespace dl::cluster
