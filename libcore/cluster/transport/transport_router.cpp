// The ROUTER of transport.h.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <set>

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/bind_address.h"
#include "libcore/cluster/transport/peer_user.h"
#include "libcore/cluster/transport/security/zap.h"
#include "libcore/cluster/transport/socket_monitor.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

constexpr std::chrono::seconds kReportEvery{60};
constexpr std::chrono::seconds kLookEvery{1};
constexpr std::chrono::seconds kRebindLimit{5};
constexpr std::size_t kMostTold = 1000, kGoneKept = 1000;
constexpr const char* kForeign = "it sent foreign bytes";
constexpr Milliseconds kFlushEvery{5};  // libzmq does not say when one drains

// "tcp://[::]:7000" -> "tcp://host:7000"; "[::ffff:127.0.0.1]" -> "127.0.0.1".
std::string printable_endpoint(const std::string& bound) {
  const auto address = tcp_address(bound);
  if (!address) return bound;
  const std::size_t colon = address->rfind(':');
  const std::string host = address->substr(0, colon);
  const std::string port = address->substr(colon);
  constexpr std::string_view kMapped = "[::ffff:";
  if (host == "[::]" || host == "0.0.0.0") {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0)
      return tcp_endpoint(name.data() + port);
  }
  if (host.starts_with(kMapped))
    return tcp_endpoint(
        host.substr(kMapped.size(), host.size() - kMapped.size() - 1) + port);
  return bound;
}

// Bytes that a good peer may have sent before its messages are received.
std::uint64_t bytes_held(const Expected& expected) {
  constexpr std::uint64_t kSlack = std::uint64_t{64} << 10;
  return (kMessagesHeld + 1) * (largest_message(expected) + kSlack);
}

}  // namespace

// Whether somebody listens at the socket of this name, be it with a full queue
// of connections that nobody takes up.
bool is_answered(const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.size() >= sizeof address.sun_path) return false;
  std::ranges::copy(file, address.sun_path);
  const int probe =
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool answered =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) == 0 ||
      errno == EAGAIN;
  ::close(probe);
  return answered;
}

struct RouterSocket::State {
  struct Waiting {
    Encoded frames;
    SharedMessage message;  // where the frames' blobs lie
    bool of_feed = false;
  };
  struct Queue {
    std::deque<Waiting> messages;
    std::size_t bytes = 0;
  };

  explicit State(Log sink) : log(std::move(sink)) {}

  zmq::context_t context;
  Log log;
  zmq::socket_t socket{context, zmq::socket_type::router};
  SocketMonitor monitor{context, socket};
  News news{{descriptor_of(socket), -1}};
  ConnectionGuard guard{monitor};
  std::optional<ZapServer> zap;         // tells the guard
  std::map<std::string, Queue> queues;  // of peers that are slow
  Expected expected, outgoing;
  std::set<std::string> let_in;
  std::deque<std::string> gone;  // whose connections ended, of late
  std::vector<Ended> ended;
  std::set<std::string> told_ended;  // who and why
  std::string public_key;
  std::string keys;   // the folder
  std::string stamp;  // of its server.key
  Clock::time_point next_look = Clock::now();
  std::string path;  // of an ipc: address
  std::uint64_t dropped = 0, reported = 0;
  std::uint64_t told_strangers = 0;  // failed handshakes
  std::uint64_t bytes_in = 0, bytes_out = 0;
  Clock::time_point next_report = Clock::now();

  void set_keys(const Security& security);
  bool renew_server_key();
  void bind_again();
  void bind(const std::string& endpoint);
  void take_path(const std::string& endpoint);
  void serve();
  void flush();
  void report();
  void refuse(const std::string& peer, int protocol);
  bool post(const std::string& peer, Waiting message);
  Received decode_from(const std::string& peer, RawMessage& raw);
  std::optional<Incoming> next();
};

void RouterSocket::State::set_keys(const Security& security) {
  if (!security.shared) {
    keys = security.keys;
    stamp = server_key_stamp(keys);
  }
  const KeyPair own = security.shared ? *security.shared
                      : security.own  ? *security.own
                                      : read_server_keys(security.keys);
  Allowed allowed;
  if (security.shared)
    allowed.key = own.public_key;
  else
    allowed.folder = security.keys;
  allowed.once = [this](const std::string& key) { return guard.is_once(key); };
  zap.emplace(context, std::move(allowed), log,
              [this](const Names& names) { guard.allow_only(names); });
  socket.set(zmq::sockopt::zap_domain, "dl-tools");
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, own.secret_key);
  public_key = own.public_key;
}

bool RouterSocket::State::renew_server_key() {
  if (keys.empty() || !path.empty() || Clock::now() < next_look) return false;
  next_look = Clock::now() + kLookEvery;
  const std::string now = server_key_stamp(keys);
  if (now.empty() || now == stamp) return false;
  stamp = now;
  try {
    const KeyPair own = read_server_keys(keys);
    if (own.public_key == public_key) return false;
    socket.set(zmq::sockopt::curve_secretkey, own.secret_key);
    public_key = own.public_key;
  } catch (const Error& error) {
    if (log)
      log(Level::kWarning,
          std::string(error.what()) + "; going on with the one before");
    return false;
  }
  bind_again();
  return true;
}

// A listener keeps the keys that it was made with.  libzmq ends its connections
// with it, and gives the port back a little later.
void RouterSocket::State::bind_again() {
  const auto end = Clock::now() + kRebindLimit;
  const auto address = socket.get(zmq::sockopt::last_endpoint);
  news.disturb();
  socket.unbind(address);
  for (;;) {
    try {
      return socket.bind(address);
    } catch (const zmq::error_t& error) {
      if (Clock::now() >= end)
        throw Error{Code::kUnavailable,
                    "cannot bind " + address +
                        " again with the new server.key: " + error.what()};
      usleep(1000);
    }
  }
}

// libzmq binds a path whatever is there.
void RouterSocket::State::take_path(const std::string& endpoint) {
  const auto named = ipc_path(endpoint);
  if (!named) return;
  const std::string& file = *named;
  struct stat there {};
  if (file.empty() || file[0] == '@' || ::lstat(file.c_str(), &there) != 0) {
    path = file;
    return;
  }
  if (!S_ISSOCK(there.st_mode))
    throw Error{Code::kUsage, "cannot bind " + endpoint + ": '" + file +
                                  "' is there and no socket; give a name that "
                                  "is free"};
  if (is_answered(file))
    throw Error{Code::kUnavailable,
                "cannot bind " + endpoint + ": Address already in use"};
  path = file;  // left behind
}

void RouterSocket::State::bind(const std::string& endpoint) {
  take_path(endpoint);
  if (ipc_path(endpoint)) let_in_own_user(socket);
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    bool usage = error.num() == EINVAL || error.num() == EPROTONOSUPPORT ||
                 error.num() == ENODEV;
    std::string remedy;
    if (usage)
      remedy =
          "; want tcp://HOST:PORT, where HOST is *, an interface, an address "
          "or a name of this host, or ipc://PATH";
    else if (error.num() == EPERM || error.num() == EOPNOTSUPP ||
             error.num() == ENOSYS)  // as over sshfs
      remedy = "; where storage has no sockets, give --bind tcp://127.0.0.1:0";
    throw Error{usage ? Code::kUsage : Code::kUnavailable,
                "cannot bind " + endpoint + ": " + error.what() + remedy};
  }
}

// Work besides messages.
void RouterSocket::State::serve() {
  for (ConnectionGuard::Ended& each : guard.take_ended()) {
    // A peer may come again and again; its port is another one then.
    const std::string host = each.who.substr(0, each.who.rfind(':'));
    if (log && !each.why.empty() && told_ended.size() < kMostTold &&
        told_ended.insert(host + each.why).second)
      log(Level::kWarning,
          "ended the connection of " + each.who + ": " + each.why);
    if (each.peer.empty()) continue;
    gone.push_back(each.peer);
    ended.push_back({std::move(each.peer), std::move(each.why)});
  }
  // Messages that it sent before may still be under way.
  for (; gone.size() > kGoneKept; gone.pop_front()) let_in.erase(gone.front());
  flush();
  report();
}

void RouterSocket::State::report() {
  const std::uint64_t messages = dropped - reported;
  const std::uint64_t strangers = guard.failed_handshakes();
  const std::uint64_t failed = strangers - told_strangers;
  if (messages + failed == 0 || Clock::now() < next_report) return;
  std::string text;
  if (messages > 0)
    text = "dropped " + std::to_string(messages) +
           " foreign or damaged messages" + (failed > 0 ? "; " : "");
  if (failed > 0)
    text += std::to_string(failed) +
            (failed == 1 ? " connection" : " connections") + " failed: " +
            (public_key.empty()
                 ? "broken off, or from a worker that uses --keys, as this "
                   "master does not, or from what is no worker"
                 : "broken off, or from a worker without --keys, or with those "
                   "for another master, or from what is no worker; dl-keygen "
                   "makes a folder of keys for each worker of this one");
  if (log) log(Level::kWarning, text);
  reported = dropped;
  told_strangers = strangers;
  next_report = Clock::now() + kReportEvery;
}

void RouterSocket::State::flush() {
  if (!queues.empty()) news.disturb();
  for (auto at = queues.begin(); at != queues.end();) {
    Queue& queue = at->second;
    Sent sent = Sent::kYes;
    while (sent == Sent::kYes && !queue.messages.empty()) {
      Waiting& first = queue.messages.front();
      const std::size_t bytes = bytes_of(first.frames);
      sent = send_shared(socket, at->first, first.frames, first.message);
      if (sent != Sent::kYes) break;
      queue.messages.pop_front();
      queue.bytes -= bytes;
      bytes_out += bytes;
    }
    bool done = sent == Sent::kGone || queue.messages.empty();
    at = done ? queues.erase(at) : std::next(at);
  }
}

bool RouterSocket::State::post(const std::string& peer, Waiting message) {
  news.disturb();
  const std::size_t bytes = bytes_of(message.frames);
  auto queued = queues.find(peer);
  if (queued == queues.end()) {
    const Sent sent =
        send_shared(socket, peer, message.frames, message.message);
    if (sent == Sent::kYes) bytes_out += bytes;
    if (sent != Sent::kFull) return sent == Sent::kYes;
  } else if (queued->second.bytes + bytes > kMaxQueued) {
    return false;
  }
  Queue& queue = queues[peer];
  queue.messages.push_back(std::move(message));
  queue.bytes += bytes;
  return true;
}

// A peer that takes no answer must not fill our memory with them.
void RouterSocket::State::refuse(const std::string& peer, int protocol) {
  if (queues.contains(peer)) return;
  Encoded frames;
  frames.own =
      encode_refusal({static_cast<int>(Code::kProtocol),
                      "worker speaks protocol " + std::to_string(protocol) +
                          ", this master " + std::to_string(kProtocolVersion)});
  post(peer, {std::move(frames), nullptr, false});
}

Received RouterSocket::State::decode_from(const std::string& peer,
                                          RawMessage& raw) {
  const std::vector<Frame> frames = raw.views();
  Received header = decode_header(frames[0]);
  const MessageType type = header.message.type;
  if (!expected.greets || type == MessageType::kHello || let_in.contains(peer))
    return decode(frames, expected, raw.release());
  check_sender(type, expected.from);
  return header;
}

// The next good message that is there.
std::optional<RouterSocket::Incoming> RouterSocket::State::next() {
  if (!news.may_be()) return std::nullopt;
  // A flood of foreign messages must not keep the caller here.
  for (int tries = 0; tries < 1000; ++tries) {
    std::optional<RawMessage> raw;
    try {
      raw = receive_raw(socket, true, largest_message(expected));
    } catch (const zmq::error_t&) {
      return std::nullopt;  // a signal
    }
    if (!raw) {
      news.all_read();
      return std::nullopt;
    }
    bytes_in += raw->bytes;
    if (!guard.delivered(raw->origin, raw->peer, raw->wire)) continue;
    std::vector<Frame> frames = raw->views();
    int protocol = frames.empty() ? -1 : protocol_of(frames[0]);
    if (protocol > 0 && protocol != kProtocolVersion)
      refuse(raw->peer, protocol);
    if (protocol != kProtocolVersion) {
      ++dropped;
      if (let_in.contains(raw->peer)) guard.end(raw->peer, kForeign);
      continue;
    }
    try {
      Incoming incoming{raw->peer, decode_from(raw->peer, *raw),
                        raw->origin.key};
      if (incoming.received.message.type != MessageType::kHello)
        return incoming;
      const std::string name = guard.name_of(incoming.key);
      incoming.once = is_once(name);
      if (!incoming.once) incoming.key_name = name;
      return incoming;
    } catch (const Error& error) {
      // It may wait for an answer, or we for what was damaged.
      ++dropped;
      guard.end(raw->peer, error.what());
    }
  }
  return std::nullopt;
}

RouterSocket::RouterSocket(const std::string& place, const Security& security,
                           Log log) {
  check_single(place);
  const std::string endpoint = bind_address(place, log ? log : Log(silent()));
  check_security(endpoint, security);
  take_all_descriptors();
  check_threads();
  try {
    state_ = std::make_unique<State>(std::move(log));
    set_limits(state_->socket);
    state_->socket.set(zmq::sockopt::router_mandatory, true);
    state_->socket.set(zmq::sockopt::rcvhwm, kMessagesHeld);
    state_->socket.set(zmq::sockopt::router_handover, false);
    if (has_keys(security)) state_->set_keys(security);
    state_->bind(endpoint);
  } catch (const zmq::error_t& error) {
    throw Error{Code::kUnavailable, std::string("libzmq: ") + error.what()};
  }
}

RouterSocket::~RouterSocket() {
  try {
    auto end = Clock::now() + kLinger;
    while (!state_->queues.empty() && Clock::now() < end) {
      state_->flush();
      usleep(1000);
    }
    auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
    state_->socket.set(
        zmq::sockopt::linger,
        static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  } catch (const std::exception&) {
  }
  if (!state_->path.empty()) ::unlink(state_->path.c_str());
}

std::string RouterSocket::endpoint() const {
  return printable_endpoint(state_->socket.get(zmq::sockopt::last_endpoint));
}

std::string RouterSocket::public_key() const { return state_->public_key; }

std::optional<RouterSocket::Incoming> RouterSocket::receive(
    Milliseconds wait, std::span<const int> wake) {
  const auto end = Clock::now() + wait;
  const Socket* const self = this;
  for (bool first = true;; first = false) {
    state_->serve();
    if (auto incoming = state_->next()) return incoming;
    if (wait.count() <= 0) return std::nullopt;
    auto left = std::chrono::ceil<Milliseconds>(end - Clock::now());
    if (left.count() <= 0 && !first) return std::nullopt;
    if (!wait_for_any({&self, 1}, wake, left)) return std::nullopt;
  }
}

Socket::Waiting RouterSocket::waiting() const {
  Waiting waiting = state_->news.waiting();
  if (!state_->queues.empty()) waiting.most = kFlushEvery;
  return waiting;
}

void RouterSocket::note(bool readable) const { state_->news.note(readable); }

bool RouterSocket::send(const std::string& peer, Message message,
                        const Envelope& envelope) {
  return send(peer, std::make_shared<const Message>(std::move(message)),
              envelope);
}

bool RouterSocket::send(const std::string& peer, const SharedMessage& message,
                        const Envelope& envelope) {
  // A message that would not be taken is not made.
  const auto queued = state_->queues.find(peer);
  if (queued != state_->queues.end() &&
      queued->second.bytes + size_of(*message) > kMaxQueued)
    return false;
  const bool of_feed =
      envelope.feed > 0 && message->type != MessageType::kState;
  return state_->post(
      peer, {encode_in_place(*message, envelope, kMaxFrame, state_->outgoing),
             message, of_feed});
}

bool RouterSocket::idle(const std::string& peer) const {
  return !state_->queues.contains(peer);
}

void RouterSocket::forget_feed(const std::string& peer) {
  const auto found = state_->queues.find(peer);
  if (found == state_->queues.end()) return;
  auto& [messages, bytes] = found->second;
  std::erase_if(messages, [](const auto& each) { return each.of_feed; });
  bytes = 0;
  for (const auto& each : messages) bytes += bytes_of(each.frames);
  if (messages.empty()) state_->queues.erase(found);
}

ConnectionGuard::Flows RouterSocket::take_flows() {
  return state_->guard.take_flows();
}

bool RouterSocket::take_removed_key() { return state_->guard.take_removed(); }

WorkerKeys RouterSocket::admit_once(const std::string& name) {
  WorkerKeys keys{state_->public_key, make_key_pair()};
  state_->guard.allow_once(keys.own.public_key, once_name(name));
  return keys;
}

void RouterSocket::retire(const std::string& key) {
  const std::string name = state_->guard.name_of(key);
  if (name.empty()) return;
  if (!state_->guard.retire(key)) remove_once(state_->keys, name);
}

bool RouterSocket::renew_server_key() { return state_->renew_server_key(); }

void RouterSocket::expect(const Expected& expected, const Expected& sent) {
  state_->expected = expected;
  state_->outgoing = sent;
  state_->guard.limit_strangers(expected.greets ? kStrangerBytes
                                                : bytes_held(expected));
}

void RouterSocket::let_in(const std::string& peer) {
  state_->let_in.insert(peer);
  state_->guard.let_in(peer, bytes_held(state_->expected));
}

void RouterSocket::end(const std::string& peer, const std::string& why) {
  state_->guard.end(peer, why);
}

std::vector<RouterSocket::Ended> RouterSocket::take_ended() {
  return std::exchange(state_->ended, {});
}

std::uint64_t RouterSocket::dropped() const {
  return state_->dropped + state_->guard.failed_handshakes();
}
std::uint64_t RouterSocket::bytes_in() const { return state_->bytes_in; }
std::uint64_t RouterSocket::bytes_out() const { return state_->bytes_out; }

}  // namespace dl::cluster
