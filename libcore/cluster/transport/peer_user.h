// Whose process is at the other end of an ipc: connection.
//
// An address ipc://@NAME has no file, and so no permissions; a file may have
// those of an odd umask.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_PEER_USER_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_PEER_USER_H_

#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <optional>
#include <zmq.hpp>

namespace dl::cluster {

// A listening socket ends connections of other users before they are heard.
inline void let_in_own_user(zmq::socket_t& listener) {
  const uid_t own = geteuid();
  if (zmq_setsockopt(listener.handle(), ZMQ_IPC_FILTER_UID, &own, sizeof own) !=
      0)
    throw zmq::error_t();
}

// The user at the other end of a connection, if that is another one than this
// process's; nothing if it is the same, or not ipc:.
inline std::optional<uid_t> other_user(int connection) {
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&here), &size) != 0 ||
      here.ss_family != AF_UNIX)
    return std::nullopt;
  ucred peer{};
  size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid == geteuid())
    return std::nullopt;
  return peer.uid;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_PEER_USER_H_
