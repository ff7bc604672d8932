// How much came over a connection that is not of whole messages.
//
// libzmq holds the frames of a message until its last one is there, without a
// limit, and shows nothing of them: water marks count whole messages, and
// ZMQ_MAXMSGSIZE a frame.  The kernel does count what came over a connection.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_BYTES_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_BYTES_H_

#include <chrono>
#include <cstdint>
#include <optional>

namespace dl::cluster {

class ConnectionBytes {
 public:
  // Whether bytes move over it, since the last look: some of a message that is
  // not whole came, or many were taken by the other end.
  struct Flow {
    bool in = false, out = false;
  };

  // fd: libzmq's, which may close it at any time.  Nothing: it did, or the
  // connection is not TCP (over ipc: only the folder's owner is there).
  static std::optional<ConnectionBytes> of(int fd);

  // Notes that a whole message took so many bytes of the connection.
  void deliver(std::uint64_t bytes) { delivered_ += bytes; }
  // Bytes that came and are not of whole messages that were delivered; nothing:
  // the connection is no more.
  std::optional<std::uint64_t> ahead();
  // ahead(), and whether bytes moved since the last call.
  struct Look {
    std::uint64_t ahead = 0;
    Flow flow;
  };
  std::optional<Look> look();
  // Whether bytes wait and libzmq has taken none since the last call.
  bool stands();
  // Ends the connection; returns false if there was none.
  bool shut() const;

 private:
  using Clock = std::chrono::steady_clock;
  ConnectionBytes(int fd, std::uint64_t cookie)
      : fd_(fd), cookie_(cookie), since_(Clock::now()) {}

  int fd_;
  std::uint64_t cookie_;  // number of the kernel, as descriptors are reused
  Clock::time_point since_;
  std::uint64_t delivered_ = 0;
  std::uint64_t taken_ = 0;            // taken bytes at the last stands()
  std::uint64_t came_ = 0, went_ = 0;  // bytes at the last signs of a flow
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_CONNECTION_BYTES_H_
