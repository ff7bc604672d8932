// Why a worker waits: libzmq retries in silence, so the question is asked
// again with a plain socket.

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>

#include "libcore/cluster/transport_socket.h"

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
  std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return "no port";
  std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error == EAI_NONAME || error == EAI_AGAIN) return "name not found";
  if (error != 0) return lower(gai_strerror(error));
  std::string why;
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    why = try_connect(at->ai_family, at->ai_addr, at->ai_addrlen);
    if (why.empty()) break;
  }
  freeaddrinfo(found);
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

std::string probe(const std::string& endpoint) {
  std::string why;
  if (endpoint.rfind("tcp://", 0) == 0)
    why = probe_tcp(endpoint.substr(6));
  else if (endpoint.rfind("ipc://", 0) == 0)
    why = probe_ipc(endpoint.substr(6));
  return why.empty() ? "something answers, but gives no handshake yet" : why;
}

}  // namespace dl::cluster
