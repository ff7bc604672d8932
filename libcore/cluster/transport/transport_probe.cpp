// Why a worker waits, and who ends its handshakes: libzmq tells neither, so the
// question is asked again with a plain socket.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/addresses.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

constexpr Milliseconds kPatience{300}, kGreetingPatience{1000};

// ZMTP 3, RFC 23: signature, version, mechanism, and what we leave 0.
constexpr std::size_t kGreeting = 64, kMechanism = 20, kMechanismAt = 12;
using Greeting = std::array<char, kGreeting>;

std::string lower(std::string text) {
  if (!text.empty())
    text[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

// A connection that does not block, or why there is none.
struct Attempt {
  int fd = -1;
  std::string why;
};

Attempt try_connect(int family, const sockaddr* address, socklen_t size,
                    Milliseconds patience) {
  int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return {-1, lower(std::strerror(errno))};
  int error = connect(fd, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd item{fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&item, 1, static_cast<int>(patience.count())) <= 0)
      error = ETIMEDOUT;
    else
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error == 0) return {fd, ""};
  close(fd);
  return {-1, error == ETIMEDOUT ? "no answer" : lower(std::strerror(error))};
}

Attempt try_tcp(const std::string& address, Milliseconds patience) {
  Addresses addresses(address);
  Attempt attempt{-1, lower(addresses.why())};
  for (auto* at = addresses.first(); at != nullptr && attempt.fd < 0;
       at = at->ai_next)
    attempt = try_connect(at->ai_family, at->ai_addr, at->ai_addrlen, patience);
  return attempt;
}

Attempt try_ipc(const std::string& path, Milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {-1, "path too long"};
  std::memcpy(address.sun_path, path.data(), path.size());
  return try_connect(AF_UNIX, reinterpret_cast<sockaddr*>(&address),
                     sizeof address, patience);
}

Attempt try_endpoint(const std::string& endpoint, Milliseconds patience) {
  if (const auto address = tcp_address(endpoint))
    return try_tcp(*address, patience);
  if (const auto path = ipc_path(endpoint)) return try_ipc(*path, patience);
  return {};
}

// The other end's; nothing: it gave none in time.
std::optional<Greeting> exchange_greetings(int fd, Milliseconds patience) {
  Greeting own{"\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE"}, theirs{};
  const auto end = Clock::now() + patience;
  if (std::cmp_not_equal(::send(fd, own.data(), kGreeting, MSG_NOSIGNAL),
                         kGreeting))
    return std::nullopt;
  for (std::size_t have = 0; have < kGreeting;) {
    const auto left = std::chrono::ceil<Milliseconds>(end - Clock::now());
    pollfd item{fd, POLLIN, 0};
    if (left.count() <= 0 || poll(&item, 1, static_cast<int>(left.count())) < 0)
      return std::nullopt;
    const ssize_t got = ::recv(fd, &theirs[have], kGreeting - have, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return std::nullopt;
    have += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return theirs;
}

}  // namespace

bool has_ipv4(const std::string& endpoint) {
  const auto address = tcp_address(endpoint);
  if (!address) return false;
  Addresses addresses(*address);
  for (auto* at = addresses.first(); at != nullptr; at = at->ai_next)
    if (at->ai_family == AF_INET) return true;
  return false;
}

std::string probe(const std::string& endpoint) {
  const Attempt attempt = try_endpoint(endpoint, kPatience);
  if (attempt.fd >= 0) close(attempt.fd);
  return attempt.why.empty() ? "something answers, but gives no handshake yet"
                             : attempt.why;
}

std::string mechanism_at(const std::string& endpoint) {
  const Attempt attempt = try_endpoint(endpoint, kGreetingPatience);
  if (attempt.fd < 0) return "";
  const auto greeting = exchange_greetings(attempt.fd, kGreetingPatience);
  close(attempt.fd);
  if (!greeting || (*greeting)[0] != '\xff' || (*greeting)[9] != '\x7f')
    return "";
  const std::string_view mechanism(&(*greeting)[kMechanismAt], kMechanism);
  return std::string(mechanism.substr(0, mechanism.find('\0')));
}

}  // namespace dl::cluster
