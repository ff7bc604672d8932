// The authentication server that libzmq asks, ZeroMQ RFC 27.
//
// Without one, CURVE lets in everybody who knows the server's public key.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_ZAP_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_ZAP_H_

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "libcore/base/log.h"

namespace dl::cluster {

// Names by key, Z85.
using Names = std::map<std::string, std::string>;

// Peers that are let in: who has a key of folder/workers, which is looked at
// every second; without a folder, who has `key`; and who has one of those that
// `once` knows, which is asked in the thread. A message's User-Id is the key.
struct Allowed {
  std::string folder, key;
  std::function<bool(const std::string& key)> once;
};

// Answers from a thread of its own, so that a handshake does not wait for the
// master.  Make it before sockets of the context bind.
class ZapServer {
 public:
  // Keys that are not let in are reported once each.  changed: told, in that
  // thread, which keys are good once others are.
  // Throws Error: kNotAuthorised, a key file is damaged.
  ZapServer(zmq::context_t& context, Allowed allowed, Log log,
            std::function<void(const Names&)> changed);
  ~ZapServer();
  ZapServer(const ZapServer&) = delete;
  ZapServer& operator=(const ZapServer&) = delete;

 private:
  zmq::socket_t stop_;
  std::thread thread_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_ZAP_H_
