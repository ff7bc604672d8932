// The choice of the host's address that others use: --interface and --network.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_OWN_ADDRESS_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_OWN_ADDRESS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/log.h"

namespace dl::cluster {

struct NetworkChoice {
  std::string interface;  // name of an interface, "eth1"; or
  std::string network;    // "10.0.0.0/16", "fd00::/8", or an address
  bool given() const { return !interface.empty() || !network.empty(); }
};

// Throws Error: kUsage, both are given, or the network is none.
void check_network(const NetworkChoice& choice);

// An address of this host.
struct HostAddress {
  std::string interface;  // "eth1"
  std::string text;       // "10.0.0.7", "fd00::7"
  int family;             // AF_INET, AF_INET6
  std::array<std::uint8_t, 16> bytes;
};
// Addresses of interfaces that are up. Throws Error: kUnavailable.
std::vector<HostAddress> host_addresses();

// The chosen address, as in endpoints: "10.0.0.7", "[fd00::7]".  If there are
// several, the first of them, preferably IPv4 and not loopback, is taken and
// logged.
// Throws Error: as check_network(); kUnavailable, there is none, with those
// that there are.
std::string own_address(const NetworkChoice& choice,
                        const std::vector<HostAddress>& addresses,
                        const Log& log);

// The endpoint at which to listen, tcp://*:PORT, at that address of this host
// only.  Throws Error: as own_address(); kUsage, the endpoint has an address.
std::string at_own_address(const std::string& bind, const NetworkChoice& choice,
                           const Log& log);

// Endpoint announced instead of endpoint: "HOST[:PORT]", with the endpoint's
// port if there is none. Throws Error: kUsage, it is neither, or the endpoint
// is ipc://.
std::string advertised(const std::string& endpoint,
                       const std::string& advertise);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_OWN_ADDRESS_H_
