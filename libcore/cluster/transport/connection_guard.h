// Ends connections of a listening socket whose peer sends more than it may,
// that take the last descriptors of the process, or that libzmq has left for
// dead.
//
// A thread looks at what came of messages that are not whole,
// connection_bytes.h, and shuts down the connection that is too far ahead.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_GUARD_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_GUARD_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libcore/cluster/transport/connection_bytes.h"
#include "libcore/cluster/transport/socket_monitor.h"

namespace dl::cluster {

// Bytes of incomplete messages that are allowed where peers are to greet first:
// of a connection that nobody was let in on, and of all of these. A frame takes
// 64 bytes of memory at least, be it empty, so it may become 32 times as much.
constexpr std::uint64_t kStrangerBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kStrangersBytes = std::uint64_t{8} << 20;

// Origin of a message, as libzmq tells it.
struct Origin {
  int fd = -1;      // descriptor; -1: not known
  std::string key;  // key, Z85; "" without CURVE
};

// Thread-safe.
class ConnectionGuard {
 public:
  // monitor: of a socket that is not bound yet; read by nobody else.
  explicit ConnectionGuard(SocketMonitor& monitor);
  ~ConnectionGuard();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // Notes that a whole message of so many bytes came from there; peer: routing
  // id. Returns false if its key was removed, so that the message is to be
  // ignored.
  bool delivered(const Origin& origin, const std::string& peer,
                 std::uint64_t bytes);
  // So much may be there of a connection that nobody was let in on; up to
  // kStrangerBytes, kStrangersBytes of all, and while three quarters of the
  // descriptors are taken the oldest ones end.  Without it, anything.
  void limit_strangers(std::uint64_t bytes);
  // The peer was let in: so much of its messages may be there.
  void let_in(const std::string& peer, std::uint64_t bytes);
  // Ends the peer's connection; why: for take_ended().
  void end(const std::string& peer, const std::string& why);
  // Sets the keys that are good from now on, with their names.
  void allow_only(std::map<std::string, std::string> keys);
  // Makes one more key good from now on: that of a process which begins to
  // connect.
  void allow_once(const std::string& key, const std::string& name);
  // Whether it is for one process, and not used up.
  bool is_once(const std::string& key);
  // The name of the key, or "" if it is not good.
  std::string name_of(const std::string& key);
  // Marks the key as used up and no longer good, without a report.  Returns
  // true if it is one of allow_once(): nobody connects with it any more, but
  // messages sent with it are still taken.
  bool retire(const std::string& key);
  // Whether a key that was good is not any more, since the last call.
  bool take_removed();

  struct Ended {
    std::string peer;  // routing id; "": it had sent no message
    std::string who;   // "192.0.2.7:4711", "192.0.2.7:4711 (key gpu1)"
    std::string why;   // reason; "": the other end or the line ended it
  };
  std::vector<Ended> take_ended();
  // Connections over which bytes moved since the last call, by peer.
  using Flows = std::map<std::string, ConnectionBytes::Flow>;
  Flows take_flows();
  // Number of connections so far that did not get through the handshake.
  std::uint64_t failed_handshakes();

 private:
  struct Connection {
    ConnectionBytes bytes;
    std::string who;
    std::uint64_t number;  // number by age
    std::string peer = "", key = "";
    std::uint64_t limit = 0;  // greatest bytes allowed; 0: a stranger's
    int dead = 0;             // looks in a row at which it stood still
    bool over = false;
  };
  using Connections = std::map<int, Connection>;  // connections by descriptor

  void watch();
  void take_events();
  void accept(int fd);
  void check();
  void note_flow(const Connection& connection,
                 const ConnectionBytes::Flow& flow);
  void shut(Connection& connection, const std::string& why);
  Connections::iterator forget(Connections::iterator ended);
  void shut_oldest_stranger();
  void expect_dead();
  void find_dead();
  bool strangers_are_known() const;
  Connection* find(const std::string& peer);
  std::string name_if_good(const std::string& key) const;

  SocketMonitor& monitor_;
  const int first_scarce_;      // lowest scarce descriptor
  std::uint64_t accepted_ = 0;  // number of connections so far
  std::uint64_t stranger_bytes_ = UINT64_MAX;
  std::mutex mutex_;
  bool done_ = false;
  const int wake_;  // an eventfd, which tells the thread of done_
  Connections connections_;
  std::size_t others_ = 0;  // descriptors of other kinds at the last count
  std::optional<std::map<std::string, std::string>> keys_;
  std::map<std::string, std::string> once_;  // keys for one process, as keys_
  std::set<std::string> retired_;            // keys that are used up
  std::vector<Ended> ended_;
  Flows flows_;
  std::uint64_t failed_ = 0;
  int looks_for_dead_ = 0;                   // looks left for dead connections
  std::size_t looks_ = 0;                    // number of looks so far
  std::size_t strangers_ = 0, members_ = 0;  // connections at the last look
  bool removed_ = false;
  std::thread thread_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_GUARD_H_
