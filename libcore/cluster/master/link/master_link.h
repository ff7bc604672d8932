// The master's view of a socket; a test puts simulated workers here.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_LINK_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_LINK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

// Longest pause between two looks at sockets.
constexpr std::chrono::milliseconds kPause{50};

class MasterLink {
 public:
  virtual ~MasterLink() = default;
  // Functions as in RouterSocket.
  virtual std::optional<RouterSocket::Incoming> receive(
      std::chrono::milliseconds wait, std::span<const int> wake) = 0;
  virtual bool send(const std::string& peer, const SharedMessage& message,
                    const Envelope& envelope) = 0;
  // Links of tests have no connections.
  virtual void let_in(const std::string&) {}
  virtual void end(const std::string&, const std::string&) {}
  virtual std::vector<RouterSocket::Ended> take_ended() { return {}; }
  virtual ConnectionGuard::Flows take_flows() { return {}; }
  virtual bool take_removed_key() { return false; }
  virtual void retire(const std::string&) {}
  virtual bool idle(const std::string&) const { return true; }
  virtual void forget_feed(const std::string&) {}
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
  bool send(const std::string& peer, const SharedMessage& message,
            const Envelope& envelope) override {
    return socket_.send(peer, message, envelope);
  }
  void let_in(const std::string& peer) override { socket_.let_in(peer); }
  void end(const std::string& peer, const std::string& why) override {
    socket_.end(peer, why);
  }
  std::vector<RouterSocket::Ended> take_ended() override {
    return socket_.take_ended();
  }
  ConnectionGuard::Flows take_flows() override { return socket_.take_flows(); }
  bool take_removed_key() override { return socket_.take_removed_key(); }
  void retire(const std::string& key) override { socket_.retire(key); }
  bool idle(const std::string& peer) const override {
    return socket_.idle(peer);
  }
  void forget_feed(const std::string& peer) override {
    socket_.forget_feed(peer);
  }
  std::uint64_t bytes_in() const override { return socket_.bytes_in(); }
  std::uint64_t bytes_out() const override { return socket_.bytes_out(); }
  std::uint64_t dropped() const override { return socket_.dropped(); }

 private:
  RouterSocket& socket_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_MASTER_LINK_H_
