// Events of a socket that libzmq does not tell otherwise: connections,
// handshakes.
//
// The reader is attached before the socket binds or connects, and its queue
// has no limit (events are small), so libzmq's I/O thread never waits for it.
// Read it in the loop that reads the socket.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_SOCKET_MONITOR_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_SOCKET_MONITOR_H_

#include <cstdint>
#include <optional>
#include <zmq.hpp>

namespace dl::cluster {

class SocketMonitor {
 public:
  // watched: must not have been bound or connected, and outlive this.
  SocketMonitor(zmq::context_t& context, zmq::socket_t& watched);
  ~SocketMonitor();
  SocketMonitor(const SocketMonitor&) = delete;
  SocketMonitor& operator=(const SocketMonitor&) = delete;

  struct Event {
    std::uint16_t what = 0;   // ZMQ_EVENT_...
    std::uint32_t value = 0;  // error number, or what the event defines
  };
  std::optional<Event> next();  // next event; does not wait
  // For poll(), on any thread: readable once there is more than next() gave.
  int descriptor() const;

 private:
  zmq::socket_t* watched_;
  zmq::socket_t reader_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_SOCKET_MONITOR_H_
