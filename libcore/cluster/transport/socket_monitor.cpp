#include "libcore/cluster/transport/socket_monitor.h"

#include <zmq.h>

#include <cstring>
#include <string>

#include "libcore/base/unique.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

constexpr int kEvents =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
    ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_CLOSED |
    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

SocketMonitor::SocketMonitor(zmq::context_t& context, zmq::socket_t& watched)
    : watched_(&watched), reader_(context, zmq::socket_type::pair) {
  reader_.set(zmq::sockopt::linger, 0);
  reader_.set(zmq::sockopt::rcvhwm, 0);
  // The context forgets the name of a socket that is closed only a while later.
  const std::string address =
      "inproc://dl-monitor-" + std::to_string(unique_number());
  if (zmq_socket_monitor(watched.handle(), address.c_str(), kEvents) != 0)
    throw zmq::error_t();
  reader_.connect(address);
}

SocketMonitor::~SocketMonitor() {
  zmq_socket_monitor(watched_->handle(), nullptr, 0);
}

std::optional<SocketMonitor::Event> SocketMonitor::next() {
  zmq::message_t head, address;
  if (!receive_frame(reader_, head)) return std::nullopt;
  if (head.more()) receive_frame(reader_, address);
  Event event;
  if (head.size() != sizeof event.what + sizeof event.value) return event;
  std::memcpy(&event.what, head.data(), sizeof event.what);
  std::memcpy(&event.value, head.data<char>() + sizeof event.what,
              sizeof event.value);
  return event;
}

int SocketMonitor::descriptor() const {
  return static_cast<int>(reader_.get(zmq::sockopt::fd));
}

}  // namespace dl::cluster
