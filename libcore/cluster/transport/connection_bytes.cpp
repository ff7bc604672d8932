#include "libcore/cluster/transport/connection_bytes.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace dl::cluster {
namespace {

// Handshake, and heartbeats that libzmq answers: they belong to no message.
constexpr std::uint64_t kHandshakeBytes = 8192, kHeartbeatBytes = 128;
// A flow: less of a message that is not whole is no sign of life, and small
// messages to a process that stands still are none of progress.
constexpr std::uint64_t kFlowIn = 4096, kFlowOut = 65536;

// The kernel's own number of a socket; nothing: there is none.
std::optional<std::uint64_t> cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0)
    return std::nullopt;
  return cookie;
}

struct Counters {
  std::uint64_t came = 0;   // to this host
  std::uint64_t taken = 0;  // of those, by libzmq
  std::uint64_t went = 0;   // and arrived
};

// Nothing: no TCP.
std::optional<Counters> counters_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int waiting = 0;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ioctl(fd, FIONREAD, &waiting) != 0)
    return std::nullopt;
  const std::uint64_t came = info.tcpi_bytes_received;
  const auto left = static_cast<std::uint64_t>(std::max(waiting, 0));
  return Counters{came, came - std::min(left, came), info.tcpi_bytes_acked};
}

// Bytes that came over it and were taken from it; nothing: no TCP.
std::optional<std::uint64_t> bytes_read(int fd) {
  const auto counters = counters_of(fd);
  return counters ? std::optional(counters->taken) : std::nullopt;
}

}  // namespace

std::optional<ConnectionBytes> ConnectionBytes::of(int fd) {
  const auto cookie = cookie_of(fd);
  if (!cookie || !bytes_read(fd)) return std::nullopt;
  return ConnectionBytes(fd, *cookie);
}

std::optional<std::uint64_t> ConnectionBytes::ahead() {
  const auto seen = look();
  return seen ? std::optional(seen->ahead) : std::nullopt;
}

std::optional<ConnectionBytes::Look> ConnectionBytes::look() {
  if (cookie_of(fd_) != cookie_) return std::nullopt;
  const auto counters = counters_of(fd_);
  if (!counters) return std::nullopt;
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - since_);
  const std::uint64_t other =
      kHandshakeBytes +
      kHeartbeatBytes * static_cast<std::uint64_t>(age.count());
  delivered_ = std::min(delivered_, counters->taken);
  const std::uint64_t rest = counters->taken - delivered_;
  Look seen{rest - std::min(rest, other), {}};
  if (counters->came - came_ >= kFlowIn) {
    seen.flow.in = seen.ahead > 0;
    came_ = counters->came;
  }
  if (counters->went - went_ >= kFlowOut) {
    seen.flow.out = true;
    went_ = counters->went;
  }
  return seen;
}

bool ConnectionBytes::stands() {
  int waiting = 0;
  if (cookie_of(fd_) != cookie_ || ioctl(fd_, FIONREAD, &waiting) != 0)
    return false;
  const std::uint64_t taken = bytes_read(fd_).value_or(0);
  return waiting > 0 && std::exchange(taken_, taken) == taken;
}

// Through a copy of the descriptor, which stays what it is meanwhile.
bool ConnectionBytes::shut() const {
  const int copy = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return false;
  const bool there = cookie_of(copy) == cookie_;
  if (there) ::shutdown(copy, SHUT_RDWR);
  ::close(copy);
  return there;
}

}  // namespace dl::cluster
