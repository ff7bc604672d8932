// What the master needs of a socket; a test puts simulated workers here.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libcore/cluster/transport.h"

namespace dl::cluster {

class MasterLink {
 public:
  virtual ~MasterLink() = default;
  // As RouterSocket's.
  virtual std::optional<RouterSocket::Incoming> receive(
      std::chrono::milliseconds wait, std::span<const int> wake) = 0;
  virtual bool send(const std::string& peer, const Message& message,
                    const Envelope& envelope) = 0;
  virtual std::uint64_t bytes_in() const = 0;
  virtual std::uint64_t bytes_out() const = 0;
  virtual std::uint64_t dropped() const = 0;
};

class SocketLink : public MasterLink {
 public:
  explicit SocketLink(RouterSocket& socket) : socket_(socket) {}
  std::optional<RouterSocket::Incoming> receive(
      std::chrono::milliseconds wait, std::span<const int> wake) override {
    return socket_.receive(wait, wake);
  }
  bool send(const std::string& peer, const Message& message,
            const Envelope& envelope) override {
    return socket_.send(peer, message, envelope);
  }
  std::uint64_t bytes_in() const override { return socket_.bytes_in(); }
  std::uint64_t bytes_out() const override { return socket_.bytes_out(); }
  std::uint64_t dropped() const override { return socket_.dropped(); }

 private:
  RouterSocket& socket_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_H_
