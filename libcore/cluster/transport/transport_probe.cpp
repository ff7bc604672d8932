// Why a worker waits: libzmq retries in silence, so the question is asked
// again with a plain socket.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/addresses.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

constexpr int kPatience = 300;  // milliseconds

std::string lower(std::string text) {
  if (!text.empty())
    text[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

// "" once connected, else why not.
std::string try_connect(int family, const sockaddr* address, socklen_t size) {
  int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return lower(std::strerror(errno));
  int error = connect(fd, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd item{fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&item, 1, kPatience) <= 0)
      error = ETIMEDOUT;
    else
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  close(fd);
  if (error == ETIMEDOUT) return "no answer";
  return error == 0 ? "" : lower(std::strerror(error));
}

std::string probe_tcp(const std::string& address) {
  Addresses addresses(address);
  std::string why = lower(addresses.why());
  for (auto* at = addresses.first(); at != nullptr; at = at->ai_next) {
    why = try_connect(at->ai_family, at->ai_addr, at->ai_addrlen);
    if (why.empty()) break;
  }
  return why;
}

std::string probe_ipc(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return "path too long";
  std::memcpy(address.sun_path, path.data(), path.size());
  return try_connect(AF_UNIX, reinterpret_cast<sockaddr*>(&address),
                     sizeof address);
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
  std::string why;
  if (const auto address = tcp_address(endpoint))
    why = probe_tcp(*address);
  else if (const auto path = ipc_path(endpoint))
    why = probe_ipc(*path);
  return why.empty() ? "something answers, but gives no handshake yet" : why;
}

}  // namespace dl::cluster
