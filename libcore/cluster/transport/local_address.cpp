#include "libcore/cluster/transport/local_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/addresses.h"

namespace dl::cluster {
namespace {

// The end of a connection to `to` that is here; "" with errno if there is no
// route.  Connecting a datagram socket looks the route up and no more.
std::string source_of(const addrinfo& to) {
  int fd = socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  auto* address = reinterpret_cast<sockaddr*>(&here);
  bool found = connect(fd, to.ai_addr, to.ai_addrlen) == 0 &&
               getsockname(fd, address, &size) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return found ? text_of(address, size) : "";
}

}  // namespace

std::string local_address(const std::string& endpoint) {
  const auto host = tcp_address(endpoint);
  if (!host) return "127.0.0.1";
  Addresses addresses(*host);
  std::string why = addresses.why();
  // IPv4 first, as connections of libzmq do where a name has both.
  for (int family : {AF_INET, AF_INET6})
    for (auto* at = addresses.first(); at != nullptr; at = at->ai_next) {
      if (at->ai_family != family) continue;
      if (std::string found = source_of(*at); !found.empty()) return found;
      why = std::strerror(errno);
    }
  throw Error{Code::kUnavailable, "no way to '" + *host + "': " + why};
}

}  // namespace dl::cluster
