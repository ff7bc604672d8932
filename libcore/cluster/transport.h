// Sockets: a ROUTER for the master, a DEALER for a worker, and what libzmq
// keeps to itself (bind failures, refused handshakes, lost peers) as events.
//
// Limits, water marks and heartbeats are set on every socket; every wait ends.
// CURVE is on unless the address is loopback or ipc:, or `insecure` is set.
// Each object belongs to one thread.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/wire.h"

namespace dl::cluster {

constexpr std::size_t kMaxFrame = std::size_t{16} << 20;
constexpr std::size_t kMaxMessage = std::size_t{4} << 30;

// Where keys are, dl-protocol(7): a master's folder holds server.key and
// workers/*.pub; a worker's holds server.pub and worker.key.
struct Security {
  std::string keys;  // folder; "" for none
  bool insecure = false;
};

class MasterSocket {
 public:
  // endpoint: "tcp://*:0", "tcp://127.0.0.1:7000", "ipc:///path".
  // Throws Error: kUnavailable, "cannot bind tcp://*:7000: Address already in
  // use"; kUsage, a public address with neither keys nor insecure;
  // kNotAuthorised, key files are missing or readable by others.
  MasterSocket(const std::string& endpoint, const Security& security, Log log);
  ~MasterSocket();

  std::string endpoint() const;    // with the port that was taken
  std::string public_key() const;  // "" without CURVE

  // A peer: the connection's routing id.
  struct Incoming {
    std::string peer;
    Received received;
  };
  // The next good message, or nothing within the time.  Foreign and damaged
  // ones are counted, not returned.  A peer of another protocol version is
  // answered with Refuse.
  // Returns early, with nothing, when a descriptor of `wake` is readable.
  std::optional<Incoming> receive(std::chrono::milliseconds wait,
                                  std::span<const int> wake = {});

  // False: the peer is gone or its queue is full; nothing was sent.
  bool send(const std::string& peer, const Message& message,
            const Envelope& envelope);

  std::uint64_t dropped() const;  // foreign or damaged, so far
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class WorkerSocket {
 public:
  WorkerSocket(const std::string& endpoint, const Security& security, Log log);
  ~WorkerSocket();  // waits at most 2 s for what is unsent

  // Throws Error: kProtocol, a damaged message or another version;
  // kNotAuthorised, the handshake was refused.
  // Returns early, with nothing, when a descriptor of `wake` is readable.
  std::optional<Received> receive(std::chrono::milliseconds wait,
                                  std::span<const int> wake = {});
  // False: not connected, or the queue stayed full for `wait`.
  bool send(const Message& message, const Envelope& envelope,
            std::chrono::milliseconds wait);
  bool connected() const;      // a master answers at the other end
  std::string status() const;  // "connection refused", for messages of waiting

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_H_
