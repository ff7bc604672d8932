// The DEALER of transport.h.
//
// Without ZMQ_IMMEDIATE, which ends the process where a connection is lost
// while a message of many frames is being read from it (4.3.4: the queue is
// removed under the reader).  So it is for us to wait for the handshake, and to
// let go of what a lost connection leaves.

#include <poll.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "libcore/cluster/transport/connection_bytes.h"
#include "libcore/cluster/transport/peer_user.h"
#include "libcore/cluster/transport/socket_monitor.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

// A master does not say that its server key is another one: it hangs up, as do
// proxies whose master is away, and masters that end.  So it is one only if
// what is there greets as a master does, and hangs up for so long; a master
// looks at its keys every second.
constexpr std::chrono::seconds kRefusedFor{3};
// Then one that let us in before is lost, and its keys may be others.
constexpr int kBrokenOff = 3;
constexpr Milliseconds kProbeEvery{1000};
constexpr Milliseconds kCheckEvery{5};
constexpr const char* kNoKeys =
    "the master uses no keys (handshake refused); is it the right one?";
constexpr int kHandshakeFailed = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

bool of_this_protocol(std::span<const Frame> frames) {
  return !frames.empty() && protocol_of(frames[0]) == kProtocolVersion;
}

}  // namespace

struct DealerSocket::State {
  State(std::string address, Log sink, std::shared_ptr<void> carrier)
      : endpoint(std::move(address)),
        log(std::move(sink)),
        context(std::static_pointer_cast<zmq::context_t>(std::move(carrier))) {}

  std::string endpoint;
  Log log;
  std::shared_ptr<zmq::context_t> context;
  zmq::socket_t socket{*context, zmq::socket_type::dealer};
  SocketMonitor monitor{*context, socket};
  News news{{descriptor_of(socket), monitor.descriptor()}};
  bool curve = false, shared = false, proven = false;
  bool reached = false;  // a connection, with or without a handshake
  bool connected = false, lost = false, let_go = false;
  bool malformed = false;  // the handshake
  bool full = false;       // there was no room for the last message
  int broken_off = 0;      // handshakes
  std::optional<Clock::time_point> refused_since;
  std::string why;  // what the last probe found
  std::optional<ConnectionBytes> bytes;
  bool over = false;    // more came than a message has
  bool flowed = false;  // since it was last asked
  bool heard = false;   // a good message
  std::string damage;
  Clock::time_point next_probe, next_check;
  Expected expected, outgoing;
  std::uint64_t bytes_in = 0, bytes_out = 0;

  void set_keys(const Security& security);
  void serve();
  std::optional<RawMessage> next();
  bool has_room();
  bool wait_for_room(Milliseconds wait);
  void handshake_ended();
  void check_bytes();
  void lose(const std::string& reason);
  // Nothing goes to who is there after a connection was lost.
  void let_go_of_lost();
  [[noreturn]] void refused(const std::string& sentence);
};

void DealerSocket::State::set_keys(const Security& security) {
  WorkerKeys keys = security.shared  ? WorkerKeys{security.shared->public_key,
                                                 *security.shared}
                    : security.given ? *security.given
                                     : read_worker_keys(security.keys);
  curve = true;
  proven = security.proven;
  shared = security.shared.has_value();
  socket.set(zmq::sockopt::curve_serverkey, keys.server);
  socket.set(zmq::sockopt::curve_publickey, keys.own.public_key);
  socket.set(zmq::sockopt::curve_secretkey, keys.own.secret_key);
}

void DealerSocket::State::refused(const std::string& sentence) {
  throw Error{Code::kNotAuthorised,
              endpoint + ": " +
                  (shared ? "does not have this run's key (handshake refused)"
                          : sentence)};
}

void DealerSocket::State::serve() {
  while (auto event = monitor.next()) {
    // Whoever is there next is not the one that was lost.
    if (lost && (event->what & kHandshakeFailed) != 0) continue;
    switch (event->what) {
      case ZMQ_EVENT_CONNECTED:
        reached = true;
        if (const auto user = other_user(static_cast<int>(event->value)))
          throw Error{Code::kNotAuthorised,
                      endpoint + ": listens for another user (uid " +
                          std::to_string(*user) +
                          "), and ipc: is for processes of one; for others "
                          "there are tcp://127.0.0.1:0 and --keys"};
        bytes = ConnectionBytes::of(static_cast<int>(event->value));
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        connected = !lost;
        break;
      case ZMQ_EVENT_DISCONNECTED:
        if (connected && log) log(Level::kDetail, endpoint + ": disconnected");
        // After a malformed handshake libzmq does not try again (4.3.4).
        lost = lost || connected || malformed;
        connected = reached = false;
        break;
      case ZMQ_EVENT_CONNECT_RETRIED:
        reached = false;
        break;
      case ZMQ_EVENT_CLOSED:  // nobody is there
        refused_since.reset();
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        refused(
            "the master does not know this worker's key (handshake "
            "refused); put it into the master's workers folder");
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        // The same for a handshake; libzmq neither reads on nor closes (4.3.4).
        if (event->value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC) {
          lose("a message that cannot be decrypted");
          break;
        }
        if (event->value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
          refused(curve ? kNoKeys
                        : "the master wants keys (handshake refused); give "
                          "--keys DIR");
        malformed = true;
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        handshake_ended();
        break;
      default:
        break;
    }
  }
}

// Nothing said why.
void DealerSocket::State::handshake_ended() {
  if (!curve) return;
  if (proven) {
    lost = ++broken_off >= kBrokenOff;
    return;
  }
  const std::string mechanism = mechanism_at(endpoint);
  if (mechanism == "NULL") refused(kNoKeys);
  if (mechanism != "CURVE") return refused_since.reset();
  const auto now = Clock::now();
  if (!refused_since) refused_since = now;
  if (now - *refused_since >= kRefusedFor)
    refused(
        "server key does not match, or the line breaks each handshake "
        "(handshake refused); compare server.pub with the master's");
}

// No whole message is there.  A false master would fill the memory with one
// that never ends; with keys there is none.  One may have come whole since we
// looked, but is there when we look again.
void DealerSocket::State::check_bytes() {
  constexpr std::uint64_t kSlack = std::uint64_t{64} << 10;
  if (lost || !bytes) return;
  // The kernel is asked now and then, not for each of the messages of a round.
  const auto now = Clock::now();
  if (now < next_check) return;
  next_check = now + kCheckEvery;
  const auto seen = bytes->look();
  flowed = flowed || (seen && (seen->flow.in || seen->flow.out));
  if (curve) return;
  const std::uint64_t most = largest_message(expected);
  const std::uint64_t ahead = seen ? seen->ahead : 0;
  const bool was_over =
      std::exchange(over, ahead > kSlack && ahead - kSlack > most);
  if (over && was_over)
    lose("it sent a message of more than " + std::to_string(most) + " bytes");
}

void DealerSocket::State::lose(const std::string& reason) {
  damage = reason;
  lost = true;
  connected = reached = false;
}

void DealerSocket::State::let_go_of_lost() {
  if (!lost || std::exchange(let_go, true)) return;
  news.disturb();
  socket.set(zmq::sockopt::linger, 0);
  socket.disconnect(endpoint);
}

Carrier::Carrier() {
  take_all_descriptors();
  check_threads();
  auto context = std::make_shared<zmq::context_t>();
  // The first socket begins the threads, while they can still be had.
  const zmq::socket_t first(*context, zmq::socket_type::dealer);
  context_ = std::move(context);
}

std::optional<RawMessage> DealerSocket::State::next() {
  if (!news.may_be()) return std::nullopt;
  serve();
  auto raw = receive_raw(socket, false, largest_message(expected));
  if (!raw) news.all_read();
  return raw;
}

// Not where a signal comes.
bool DealerSocket::State::has_room() {
  news.disturb();
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(socket.handle(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLOUT) != 0;
}

// After has_room().  False: a signal came.
bool DealerSocket::State::wait_for_room(Milliseconds wait) {
  std::array<pollfd, 2> items{
      {{descriptor_of(socket), POLLIN, 0}, {monitor.descriptor(), POLLIN, 0}}};
  const auto most = std::clamp<std::int64_t>(wait.count(), 0, INT_MAX);
  return poll(items.data(), items.size(), static_cast<int>(most)) >= 0;
}

DealerSocket::DealerSocket(const std::string& endpoint,
                           const Security& security, Log log, Carrier carrier) {
  check_single(endpoint);
  check_security(endpoint, security);
  try {
    state_ = std::make_unique<State>(endpoint, std::move(log),
                                     std::move(carrier.context_));
    set_limits(state_->socket);
    // With IPv6 on, libzmq tries nothing but IPv6 where a name has both.
    state_->socket.set(zmq::sockopt::ipv6, !has_ipv4(endpoint));
    if (has_keys(security)) state_->set_keys(security);
    state_->socket.connect(endpoint);
  } catch (const zmq::error_t& error) {
    if (error.num() == EINTR)
      throw Error{Code::kTryAgain, "told to stop while connecting"};
    throw Error{Code::kUsage, "cannot connect to '" + endpoint +
                                  "': " + error.what() +
                                  "; want tcp://HOST:PORT or ipc://PATH"};
  }
}

DealerSocket::~DealerSocket() = default;

void DealerSocket::expect(const Expected& expected, const Expected& sent) {
  state_->expected = expected;
  state_->outgoing = sent;
}

std::optional<Received> DealerSocket::receive(Milliseconds wait,
                                              std::span<const int> wake) {
  const auto end = Clock::now() + wait;
  const Socket* const self = this;
  for (bool first = true;; first = false) {
    std::optional<RawMessage> raw;
    try {
      raw = state_->next();
    } catch (const zmq::error_t&) {
      return std::nullopt;  // a signal
    }
    if (raw && state_->damage.empty()) {
      state_->bytes_in += raw->bytes;
      if (state_->bytes) state_->bytes->deliver(raw->wire);
      state_->over = false;
      const std::vector<Frame> frames = raw->views();
      try {
        Received received = decode(frames, state_->expected, raw->release());
        state_->heard = true;
        return received;
      } catch (Error& error) {
        state_->lose(error.what());
        error.add_context(state_->endpoint);
        if (!state_->heard && !of_this_protocol(frames)) throw;
      }
    }
    state_->check_bytes();
    state_->let_go_of_lost();
    if (wait.count() <= 0) return std::nullopt;
    auto left = std::chrono::ceil<Milliseconds>(end - Clock::now());
    if (left.count() <= 0 && !first) return std::nullopt;
    if (!wait_for_any({&self, 1}, wake, left)) return std::nullopt;
  }
}

bool DealerSocket::send(const Message& message, const Envelope& envelope,
                        Milliseconds wait) {
  const auto end = Clock::now() + wait;
  Frames frames = encode(message, envelope, kMaxFrame, state_->outgoing);
  const std::size_t bytes = bytes_of(frames);
  for (;;) {
    state_->serve();
    state_->news.disturb();
    if (state_->lost) return false;
    if (state_->connected &&
        send_raw(state_->socket, "", frames) == Sent::kYes) {
      state_->bytes_out += bytes;
      return true;
    }
    auto left = std::chrono::ceil<Milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    if (state_->has_room() && state_->connected) continue;
    if (!state_->wait_for_room(left)) return false;
  }
}

bool DealerSocket::offer(const SharedMessage& message,
                         const Envelope& envelope) {
  state_->serve();
  // A message without room is not encoded for nothing, but once.
  if (!state_->connected || (state_->full && !state_->has_room())) return false;
  Encoded frames =
      encode_in_place(*message, envelope, kMaxFrame, state_->outgoing);
  const std::size_t bytes = bytes_of(frames);
  state_->news.disturb();
  state_->full = send_shared(state_->socket, "", frames, message) != Sent::kYes;
  if (state_->full) return false;
  state_->bytes_out += bytes;
  return true;
}

Socket::Waiting DealerSocket::waiting() const { return state_->news.waiting(); }

void DealerSocket::note(bool readable) const { state_->news.note(readable); }

bool DealerSocket::flowed() { return std::exchange(state_->flowed, false); }

bool DealerSocket::connected() const { return state_->connected; }
bool DealerSocket::lost() const { return state_->lost; }

const std::string& DealerSocket::damage() const { return state_->damage; }

std::string DealerSocket::status() const {
  if (!state_->damage.empty()) return state_->damage;
  if (state_->connected) return "connected";
  // No probe then: it would look like a foreign connection to the master.
  if (state_->reached) return "something answers, but gives no handshake yet";
  auto now = Clock::now();
  if (now >= state_->next_probe) {
    state_->why = probe(state_->endpoint);
    state_->next_probe = now + kProbeEvery;
  }
  return state_->why;
}

std::uint64_t DealerSocket::bytes_in() const { return state_->bytes_in; }
std::uint64_t DealerSocket::bytes_out() const { return state_->bytes_out; }

}  // namespace dl::cluster
