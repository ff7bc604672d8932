// Parts that both ends of transport.h share: options of a socket, whole
// messages in and out of libzmq, and waiting.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_SOCKET_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_SOCKET_H_

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "libcore/cluster/protocol/wire.h"
#include "libcore/cluster/transport/connection_guard.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kLinger{2000};

// Throws Error{kUsage} if the endpoint is several addresses.
void check_single(const std::string& endpoint);
// Throws Error{kUsage} if neither keys nor `insecure` allow the address.
void check_security(const std::string& endpoint, const Security& security);
bool has_keys(const Security& security);  // whether keys are to be used

// Each connection takes a descriptor, also one of a stranger; shells begin with
// 1,024 where hundreds of thousands are allowed.  Throws Error{kUnavailable}
// where libzmq would end the process for want of them.
void take_all_descriptors();
// Throws Error{kUnavailable} where libzmq would end the process for want of
// threads, as far as this can be known at the moment.
void check_threads();

// Sets every limit and time-out of a socket, before it binds or connects.
void set_limits(zmq::socket_t& socket);

// One message as libzmq delivers it.
struct RawMessage {
  std::string peer;        // routing id, with `routed`
  Origin origin;           // origin of the message, with `routed`
  std::uint64_t wire = 0;  // bytes that it took on the connection
  std::vector<zmq::message_t> frames;
  std::size_t bytes = 0;  // bytes of a message over the limit, without frames
  std::vector<Frame> views() const;
  // For decode(): a frame goes when it was copied, as those of a message may
  // take as much memory as a network.
  std::function<void(std::size_t)> release();
};
// Receives a frame if there is one, else returns false; a signal does no harm.
bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame);
std::optional<RawMessage> receive_raw(zmq::socket_t& socket, bool routed,
                                      std::uint64_t most);

enum class Sent { kYes, kFull, kGone };
// Sends all frames or none; kYes empties `frames`.  Does not wait.  peer:
// routing id, or "".
Sent send_raw(zmq::socket_t& socket, const std::string& peer, Frames& frames);
// Sends frames whose blobs lie in the message, without copying these; after
// kYes `frames` is of no use.
Sent send_shared(zmq::socket_t& socket, const std::string& peer,
                 Encoded& frames, const SharedMessage& message);
std::size_t bytes_of(const Frames& frames);
std::size_t bytes_of(const Encoded& frames);

// Whether something may be there to be read, so that idle sockets cost no look
// at each of them.  The descriptors of libzmq's sockets become readable when
// something comes, but only once all that came before was read; and whatever
// else is done with a socket may hide that.
class News {
 public:
  explicit News(std::array<int, 2> descriptors) : descriptors_(descriptors) {}

  bool may_be();                        // asks the kernel at most once
  void all_read() { unread_ = false; }  // call when all was read
  void disturb() { unread_ = true; }    // call after other work on the socket
  void note(bool readable) {            // readable: as poll() just said
    unread_ = unread_ || readable;
    silent_ = !readable;
  }
  Socket::Waiting waiting() const {
    return {.descriptors = descriptors_, .unread = unread_};
  }

 private:
  std::array<int, 2> descriptors_;
  bool unread_ = true, silent_ = false;
};
int descriptor_of(zmq::socket_t& socket);

// Whether the host of a tcp:// endpoint has an IPv4 address.
bool has_ipv4(const std::string& endpoint);

// Reason why a connection to the endpoint fails now: "connection refused".
std::string probe(const std::string& endpoint);
// The security mechanism with which a ZeroMQ socket greets there: "NULL",
// "CURVE"; "": none does within two seconds.
std::string mechanism_at(const std::string& endpoint);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_SOCKET_H_
