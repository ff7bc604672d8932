#include "libcore/cluster/transport/transport_socket.h"

#include <poll.h>
#include <sys/resource.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "libcore/base/heap.h"
#include "libcore/cluster/protocol/endpoint.h"

namespace dl::cluster {
namespace {

// Messages that libzmq holds in each direction for a peer.  A message counts
// once, however many frames it has, so few: what is beyond waits at the sender,
// counted in bytes (kMaxQueued).
constexpr std::int64_t kCurveBytes = 64;  // at most; RFC 26
constexpr int kHighWater = 8;

// A connection ends where the other host does not answer for so long.
constexpr Milliseconds kUnanswered{8000};

constexpr std::size_t kCopied = 4096;  // bytes: cheaper than handing over

// A frame that libzmq sends from where it lies, and frees.
zmq::message_t to_message(std::vector<std::byte>&& frame) {
  if (frame.size() <= kCopied) return {frame.data(), frame.size()};
  auto* owned = new std::vector<std::byte>(std::move(frame));
  return {owned->data(), owned->size(),
          [](void*, void* hint) {
            delete static_cast<std::vector<std::byte>*>(hint);
          },
          owned};
}

// Nobody writes to what others may read as well.
zmq::message_t part_of(const SharedMessage& message, Frame frame) {
  using Holder = SharedMessage;
  if (frame.size() <= kCopied) return {frame.data(), frame.size()};
  return {const_cast<std::byte*>(frame.data()), frame.size(),
          [](void*, void* hint) { delete static_cast<Holder*>(hint); },
          new Holder(message)};
}

// frame(i): the i-th; the first is small, so that it is a copy.
template <typename MakeFrame>
Sent send_frames(zmq::socket_t& socket, const std::string& peer,
                 std::size_t count, const MakeFrame& frame) {
  constexpr auto kMore = zmq::send_flags::sndmore | zmq::send_flags::dontwait;
  try {
    // libzmq takes all of a message after its first frame, or drops all of it
    // together with the connection.
    if (!peer.empty() && !socket.send(zmq::buffer(peer), kMore))
      return Sent::kFull;
    for (std::size_t i = 0; i < count; ++i) {
      zmq::message_t message = frame(i);
      if (!socket.send(message,
                       i + 1 == count ? zmq::send_flags::dontwait : kMore)) {
        require(i == 0, "libzmq takes a message whole");
        return Sent::kFull;
      }
    }
  } catch (const zmq::error_t& error) {
    if (error.num() == EHOSTUNREACH) return Sent::kGone;
    if (error.num() == EINTR) return Sent::kFull;
    throw Error{Code::kBug, std::string("zmq_send: ") + error.what()};
  }
  return Sent::kYes;
}

// ZMTP: a byte of flags, one or eight of length; with CURVE, each frame is a
// command of 33 bytes more.
std::uint64_t wire_bytes(std::size_t frame, bool curve) {
  constexpr std::uint64_t kCurve = 33, kShort = 255;
  const std::uint64_t bytes = frame + (curve ? kCurve : 0);
  return bytes + (bytes > kShort ? 9 : 2);
}

Origin origin_of(zmq::message_t& frame) {
  Origin origin;
  origin.fd = zmq_msg_get(frame.handle(), ZMQ_SRCFD);
  if (const char* user = zmq_msg_gets(frame.handle(), "User-Id"))
    origin.key = user;
  return origin;
}

}  // namespace

void check_single(const std::string& endpoint) {
  // libzmq takes two addresses so, and we would look at the first alone.
  if (endpoint.find(';') != std::string::npos)
    throw Error{Code::kUsage,
                "'" + endpoint + "': want one address, without ';'"};
}

void check_security(const std::string& endpoint, const Security& security) {
  if (!has_keys(security) && !security.insecure && !is_local(endpoint))
    throw Error{Code::kUsage,
                "'" + endpoint +
                    "' can be reached from other hosts: give --keys DIR (see "
                    "dl-keygen), or say --insecure"};
}

bool has_keys(const Security& security) {
  return !security.insecure && (security.shared || security.own ||
                                security.given || !security.keys.empty());
}

void take_all_descriptors() {
  constexpr rlim_t kLeast = 40;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kLeast)
    throw Error{Code::kUnavailable,
                "this process may have " + std::to_string(limit.rlim_cur) +
                    " descriptors, and wants " + std::to_string(kLeast) +
                    " at the least: raise the limit, `ulimit -n`"};
}

void check_threads() {
  constexpr int kOfSocket =
      2;  // its context's, for connections and to clear up
  std::latch tried(1);
  std::vector<std::jthread> threads;
  try {
    for (int i = 0; i < kOfSocket; ++i)
      threads.emplace_back([&tried] { tried.wait(); });
  } catch (const std::system_error&) {
    tried.count_down();
    throw Error{Code::kUnavailable,
                "this process gets no more threads: raise the limit, `ulimit "
                "-u` or pids.max of its control group"};
  }
  tried.count_down();
}

void set_limits(zmq::socket_t& socket) {
  using namespace zmq::sockopt;
  // libzmq counts what CURVE adds to a frame.
  socket.set(maxmsgsize, static_cast<std::int64_t>(kMaxFrame) + kCurveBytes);
  socket.set(zmq::sockopt::linger, static_cast<int>(kLinger.count()));
  socket.set(sndhwm, kHighWater);
  socket.set(rcvhwm, kHighWater);
  // Calls here never wait in libzmq; should one, then not for ever.
  socket.set(sndtimeo, 1000);
  socket.set(rcvtimeo, 1000);
  socket.set(handshake_ivl, 5000);
  socket.set(reconnect_ivl, 100);
  socket.set(reconnect_ivl_max, 1000);
  socket.set(connect_timeout, 5000);
  // The kernel notices a host that is gone.  libzmq's heartbeats would too, but
  // they abort the process where a peer dies while its messages wait (4.3.4:
  // its timer writes to a connection that had an error), and end connections
  // that are merely full.
  socket.set(tcp_keepalive, 1);
  socket.set(tcp_keepalive_idle, 2);
  socket.set(tcp_keepalive_intvl, 2);
  socket.set(tcp_keepalive_cnt, 3);
  socket.set(tcp_maxrt, static_cast<int>(kUnanswered.count()));
  socket.set(ipv6, true);
}

std::vector<Frame> RawMessage::views() const {
  std::vector<Frame> spans;
  spans.reserve(frames.size());
  for (const zmq::message_t& frame : frames)
    spans.emplace_back(static_cast<const std::byte*>(frame.data()),
                       frame.size());
  return spans;
}

std::function<void(std::size_t)> RawMessage::release() {
  return [this, trimmer = HeapTrimmer()](std::size_t frame) mutable {
    const std::size_t size = frames[frame].size();
    frames[frame].rebuild();
    trimmer.freed(size);
  };
}

bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame) {
  for (;;) {
    const int rc = zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT);
    if (rc >= 0) return true;
    if (zmq_errno() == EAGAIN) return false;
    if (zmq_errno() != EINTR) throw zmq::error_t();
  }
}

std::optional<RawMessage> receive_raw(zmq::socket_t& socket, bool routed,
                                      std::uint64_t most) {
  const std::uint64_t most_frames = 2 + kMaxBlobs + most / 4096;
  RawMessage message;
  bool first = true;
  for (;;) {
    zmq::message_t frame;
    if (!receive_frame(socket, frame)) return std::nullopt;
    bool more = frame.more();
    if (routed && first) {
      message.peer = frame.to_string();
    } else {
      if (routed && message.wire == 0) message.origin = origin_of(frame);
      message.bytes += frame.size();
      message.wire += wire_bytes(frame.size(), !message.origin.key.empty());
      if (message.bytes > most || message.frames.size() >= most_frames)
        message.frames.clear();
      else
        message.frames.push_back(std::move(frame));
    }
    first = false;
    if (!more) return message;
  }
}

std::size_t bytes_of(const Frames& frames) {
  std::size_t bytes = 0;
  for (const auto& frame : frames) bytes += frame.size();
  return bytes;
}

std::size_t bytes_of(const Encoded& frames) {
  std::size_t bytes = bytes_of(frames.own);
  for (const Frame blob : frames.blobs) bytes += blob.size();
  return bytes;
}

Sent send_raw(zmq::socket_t& socket, const std::string& peer, Frames& frames) {
  const Sent sent = send_frames(
      socket, peer, frames.size(),
      [&](std::size_t i) { return to_message(std::move(frames[i])); });
  if (sent == Sent::kYes) frames.clear();
  return sent;
}

Sent send_shared(zmq::socket_t& socket, const std::string& peer,
                 Encoded& frames, const SharedMessage& message) {
  const std::size_t own = frames.own.size();
  return send_frames(socket, peer, own + frames.blobs.size(),
                     [&](std::size_t i) {
                       return i < own ? to_message(std::move(frames.own[i]))
                                      : part_of(message, frames.blobs[i - own]);
                     });
}

int descriptor_of(zmq::socket_t& socket) {
  return static_cast<int>(socket.get(zmq::sockopt::fd));
}

bool News::may_be() {
  const bool silent = std::exchange(silent_, false);
  if (unread_ || silent) return unread_;
  std::array<pollfd, 2> items{
      {{descriptors_[0], POLLIN, 0}, {descriptors_[1], POLLIN, 0}}};
  unread_ = poll(items.data(), items.size(), 0) != 0;  // a signal: look
  return unread_;
}

bool wait_for_any(std::span<const Socket* const> sockets,
                  std::span<const int> wake, Milliseconds wait) {
  std::vector<pollfd> items;
  for (int fd : wake) items.push_back({fd, POLLIN, 0});
  for (const Socket* socket : sockets) {
    const Socket::Waiting waiting = socket->waiting();
    for (int fd : waiting.descriptors) items.push_back({fd, POLLIN, 0});
    wait = std::min(wait, waiting.unread ? Milliseconds(0) : waiting.most);
  }
  const auto most = std::clamp<std::int64_t>(wait.count(), 0, INT_MAX);
  if (poll(items.data(), items.size(), static_cast<int>(most)) < 0) {
    if (errno == EINTR) return false;
    throw Error{Code::kBug, std::string("poll: ") + std::strerror(errno)};
  }
  const auto came = [&](std::size_t first, std::size_t count) {
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(first);
    return std::any_of(from, from + static_cast<std::ptrdiff_t>(count),
                       [](const pollfd& item) { return item.revents != 0; });
  };
  std::size_t first = wake.size();
  for (const Socket* socket : sockets) {
    socket->note(came(first, 2));
    first += 2;
  }
  return !came(0, wake.size());
}

}  // namespace dl::cluster
