#include "libcore/cluster/transport/bind_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/addresses.h"
#include "libcore/cluster/transport/own_address.h"

namespace dl::cluster {
namespace {

bool is_address(const std::string& host) {
  std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
  return host.find(':') != host.npos ||
         inet_pton(AF_INET, host.c_str(), bytes.data()) == 1;
}

// Whether it is one of this host; at any port, port 0 being in it.
bool can_bind(const addrinfo& to) {
  const int fd = socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool bound = bind(fd, to.ai_addr, to.ai_addrlen) == 0;
  close(fd);
  return bound;
}

// "10.0.0.7", "[fd00::7]"
std::string address_of(const std::string& name, const std::string& endpoint,
                       const Log& log) {
  const Addresses found(name + ":0");
  std::string others;
  for (const int family : {AF_INET, AF_INET6})
    for (const auto* at = found.first(); at != nullptr; at = at->ai_next) {
      if (at->ai_family != family) continue;
      const std::string text = text_of(at->ai_addr, at->ai_addrlen);
      if (!can_bind(*at)) {
        others += (others.empty() ? "" : ", ") + text;
        continue;
      }
      if (name != "localhost" && is_local(tcp_endpoint(text + ":0")))
        log(Level::kWarning,
            "'" + name + "' is " + text +
                " here, where no other host finds this one; --interface or "
                "--network choose another address");
      return text;
    }
  if (!others.empty())
    throw Error{Code::kUnavailable, "cannot bind " + endpoint + ": '" + name +
                                        "' is " + others +
                                        ", no address of this host"};
  throw Error{Code::kUsage,
              "cannot bind " + endpoint + ": '" + name +
                  "' is no interface of this host that is up and no name of "
                  "it (" +
                  found.why() +
                  "); want tcp://HOST:PORT, where HOST is *, an interface, an "
                  "address or a name of this host, or ipc://PATH"};
}

}  // namespace

std::string bind_address(const std::string& endpoint, const Log& log) {
  const auto address = tcp_address(endpoint);
  if (!address) return endpoint;
  const std::size_t colon = address->rfind(':');
  const std::string host = address->substr(0, colon);
  if (colon == address->npos || host == "*" || is_address(host))
    return endpoint;
  const std::string port = address->substr(colon);
  const auto addresses = host_addresses();
  const bool is_interface =
      std::ranges::find(addresses, host, &HostAddress::interface) !=
      addresses.end();
  return tcp_endpoint(
      (is_interface
           ? own_address({.interface = host, .network = ""}, addresses, log)
           : address_of(host, endpoint, log)) +
      port);
}

}  // namespace dl::cluster
