// Where this host is for the hosts that reach it the way it reaches another.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_ADDRESS_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_ADDRESS_H_

#include <string>

namespace dl::cluster {

// The address from which this host reaches endpoint, "tcp://HOST:PORT":
// "10.0.0.7", "[fd00::7]".  Loopback where HOST is this host, and for ipc://
// and inproc://.  Nothing is sent, and nobody need be there; takes as long as
// the resolver does.
// Throws Error: kUnavailable, HOST has no address or none with a route.
std::string local_address(const std::string& endpoint);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_LOCAL_ADDRESS_H_
