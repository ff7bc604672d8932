// An endpoint to listen at, as libzmq binds it.
//
// libzmq binds no names of hosts, and of an interface, with IPv6 on, an IPv6
// address or none.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_BIND_ADDRESS_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_BIND_ADDRESS_H_

#include <string>

#include "libcore/base/log.h"

namespace dl::cluster {

// The same endpoint with an address in place of an interface or a name: an IPv4
// one if there is one.  What has *, an address or no tcp:// stays.  A name that
// means loopback, though others are told it, is logged.
// Throws Error: kUnavailable, the interface has no address, or the name none of
// this host; kUsage, there is no such name.
std::string bind_address(const std::string& endpoint, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_BIND_ADDRESS_H_
