// Who may connect: the authentication server that libzmq asks, ZeroMQ RFC 27.
//
// Without one, CURVE lets in everybody who knows the server's public key.

#ifndef DL_LIBCORE_CLUSTER_SECURITY_ZAP_H_
#define DL_LIBCORE_CLUSTER_SECURITY_ZAP_H_

#include <string>
#include <thread>
#include <zmq.hpp>

#include "libcore/base/log.h"

namespace dl::cluster {

// Answers from a thread of its own, so that a handshake does not wait for the
// master.  Make it before sockets of the context bind.
class ZapServer {
 public:
  // Keys of folder/workers are let in; the folder is read again when a key is
  // unknown.  Others are reported once each.
  // Throws Error: kNotAuthorised, a key file is damaged.
  ZapServer(zmq::context_t& context, std::string folder, Log log);
  ~ZapServer();
  ZapServer(const ZapServer&) = delete;
  ZapServer& operator=(const ZapServer&) = delete;

 private:
  zmq::socket_t stop_;
  std::thread thread_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SECURITY_ZAP_H_
