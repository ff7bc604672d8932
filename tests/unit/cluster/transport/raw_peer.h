// A peer that keeps to no rule: ZMTP 3.0 by hand, without keys, so that what
// libzmq holds back until a message is whole is sent at once.

#ifndef DL_TESTS_UNIT_CLUSTER_TRANSPORT_RAW_PEER_H_
#define DL_TESTS_UNIT_CLUSTER_TRANSPORT_RAW_PEER_H_

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libcore/cluster/protocol/wire.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

class RawPeer {
 public:
  // A DEALER.  endpoint: "tcp://ADDRESS:PORT", with an address of IPv4.
  explicit RawPeer(const std::string& endpoint)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::string place = endpoint.substr(6);
    const std::size_t colon = place.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, place.substr(0, colon).c_str(), &address.sin_addr);
    address.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(place.substr(colon + 1))));
    alive_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address),
                       sizeof address) == 0;
    greet("DEALER");
  }
  // A ROUTER at the end of a connection that was accepted.
  explicit RawPeer(int accepted) : fd_(accepted), alive_(true) {
    greet("ROUTER");
  }
  ~RawPeer() { ::close(fd_); }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  // False: the connection is over.
  bool frame(std::span<const std::byte> bytes, bool more) {
    std::string head(1, static_cast<char>((more ? 1 : 0) | 2));
    for (int shift = 56; shift >= 0; shift -= 8)
      head += static_cast<char>(bytes.size() >> shift & 255);
    put(head);
    put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return alive_;
  }
  // Frames without content, as many as there are pairs of bytes.
  bool empty_frames(std::size_t count) {
    std::string many;
    for (std::size_t i = 0; i < count; ++i) many += std::string("\1\0", 2);
    put(many);
    return alive_;
  }
  bool message(const Message& message, const Envelope& envelope) {
    const Frames frames = encode(message, envelope, kMaxFrame);
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (!frame(frames[i], i + 1 < frames.size())) return false;
    return true;
  }
  bool alive() const { return alive_; }
  int descriptor() const { return fd_; }

 private:
  // The other end takes each part once it has said its own.
  void greet(const std::string& kind) {
    std::string greeting("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
    greeting.resize(64);
    std::string ready("\4\x29\5READY\x0bSocket-Type\0\0\0\6", 24);
    ready += kind + std::string("\x08Identity\0\0\0\0", 13);
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    say(greeting);
    hear(64);
    say(ready);
    hear(static_cast<unsigned char>(hear(2).back()));
  }
  std::string hear(std::size_t bytes) {
    std::string heard(bytes, '\0');
    for (std::size_t got = 0; alive_ && got < bytes;) {
      const auto more = ::recv(fd_, heard.data() + got, bytes - got, 0);
      alive_ = more > 0;
      got += static_cast<std::size_t>(alive_ ? more : 0);
    }
    return heard;
  }
  // Short, so that there is room for it.
  void say(std::string_view bytes) {
    alive_ = alive_ && ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                           static_cast<ssize_t>(bytes.size());
  }
  // Takes what comes meanwhile, and forgets it.
  void put(std::string_view bytes) {
    std::array<char, 65536> heard;
    while (alive_ && !bytes.empty()) {
      pollfd item{fd_, POLLIN | POLLOUT, 0};
      if (::poll(&item, 1, 10'000) <= 0) break;
      if ((item.revents & POLLIN) != 0 &&
          ::recv(fd_, heard.data(), heard.size(), MSG_DONTWAIT) == 0)
        alive_ = false;
      const auto sent =
          ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent > 0)
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      else if (errno != EAGAIN)
        alive_ = false;
    }
  }

  int fd_;
  bool alive_ = false;
};

}  // namespace dl::cluster

#endif  // DL_TESTS_UNIT_CLUSTER_TRANSPORT_RAW_PEER_H_
