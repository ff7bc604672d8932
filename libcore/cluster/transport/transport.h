// Sockets: a ROUTER that peers connect to, a DEALER for a connection to one,
// and what libzmq keeps to itself (bind failures, refused handshakes, lost
// peers) as events.
//
// Limits, water marks and time-outs are set on every socket; every wait ends.
// With keys CURVE is on.  Without them only loopback and ipc: addresses are
// allowed, unless `insecure` is set, which turns CURVE off.
// Each object belongs to one thread, which may have several and wait for them
// together.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cluster/protocol/wire.h"
#include "libcore/cluster/transport/connection_guard.h"
#include "libcore/cluster/transport/security/keys.h"

namespace dl::cluster {

// Time for which a worker tries to reach another one.
constexpr double kReachSeconds = 5;

// Number of messages of a peer that libzmq holds until they are received.
constexpr int kMessagesHeld = 2;
// Bytes that RouterSocket queues for a slow peer; one message may always wait.
constexpr std::size_t kMaxQueued = std::size_t{64} << 20;

// Where keys are, dl-keygen(1): a master's folder holds server.key and what is
// in workers; a worker's holds server.pub and worker.key.
struct Security {
  std::string keys = "";  // folder of keys, or ""
  bool insecure = false;
  // In place of a folder: a key pair that all of a run's peers have.  It is the
  // only key that is let in, and the server's as well.
  std::optional<KeyPair> shared = std::nullopt;
  // A master's, in place of a folder: only admit_once() lets workers in.
  std::optional<KeyPair> own = std::nullopt;
  // A worker's, in place of a folder.
  std::optional<WorkerKeys> given = std::nullopt;
  // The master let this worker in before: a handshake that dies is no refusal,
  // for keys may be replaced at both ends, one after the other.
  bool proven = false;
};

// A socket for wait_for_any().
class Socket {
 public:
  virtual ~Socket() = default;

  struct Waiting {
    // Readable once something comes: messages, and events if they need
    // attention; -1: none.
    std::array<int, 2> descriptors;
    std::chrono::milliseconds most = std::chrono::milliseconds::max();
    bool unread = false;  // messages may be there without a signal
  };
  virtual Waiting waiting() const = 0;
  // Whether a descriptor was readable just now: the next receive() need not
  // ask.
  virtual void note(bool readable) const = 0;
};

// Returns when a receive() of one of the sockets may have something to do, or
// the time is over; and with false, when a descriptor of `wake` is readable or
// a signal came.
bool wait_for_any(std::span<const Socket* const> sockets,
                  std::span<const int> wake, std::chrono::milliseconds wait);

// The thread that carries the bytes of sockets to and from the network: one for
// all DealerSockets that are given the same.  Copies are the same one; the last
// to go waits until what these sockets had to send is away.
class Carrier {
 public:
  Carrier();  // throws Error: kUnavailable, no more threads left

 private:
  friend class DealerSocket;
  std::shared_ptr<void> context_;  // context of libzmq
};

class RouterSocket : public Socket {
 public:
  // endpoint: "tcp://127.0.0.1:7000", "tcp://eth0:0", "ipc:///path",
  // "tcp://*:0"; the port 0 or * takes one that is free.
  // Throws Error: kUnavailable, "cannot bind tcp://*:7000: Address already in
  // use"; kUsage, a public address with neither keys nor insecure;
  // kNotAuthorised, key files are missing or readable by others.
  RouterSocket(const std::string& endpoint, const Security& security, Log log);
  ~RouterSocket() override;  // waits at most 2 s for unsent messages

  // The endpoint with the port that was taken, and this host's name for "*".
  std::string endpoint() const;
  std::string public_key() const;  // "" without CURVE

  // peer: routing id of the connection.
  struct Incoming {
    std::string peer;
    Received received;
    std::string key = "";  // public key of the peer, Z85; "" without CURVE
    // The key of a Hello: whether it is for one process; else its name.
    bool once = false;
    std::string key_name = "";
  };
  // Sets the messages that peers may send, and may be sent; without it,
  // anything. A connection with more of messages that are not whole is ended,
  // connection_guard.h. If they are to greet first: before a peer is let in,
  // only its Hello comes whole, and of other messages just type and envelope.
  void expect(const Expected& expected, const Expected& sent = {});

  // The next good message, or nothing within the time.  Foreign and damaged
  // ones, and others than expected, are counted and reported once a minute,
  // not returned; they end the connection, but for a stranger's foreign bytes.
  // A peer of another protocol version is answered with Refuse, and counted.
  // Returns early, with nothing, on a signal and when a descriptor of `wake`
  // is readable.
  std::optional<Incoming> receive(std::chrono::milliseconds wait,
                                  std::span<const int> wake = {});

  // Sends without waiting: bytes that the connection does not take at once are
  // queued, and go out during receive().  Returns false, and sends nothing, if
  // the peer is gone or its queue is full.  Throws Error: as encode(), the
  // message is more than peers take.
  bool send(const std::string& peer, const SharedMessage& message,
            const Envelope& envelope);
  bool send(const std::string& peer, Message message, const Envelope& envelope);

  // Lets the peer send all expected messages from now on.
  void let_in(const std::string& peer);
  // Ends the peer's connection; take_ended() tells of it, with the reason.
  void end(const std::string& peer, const std::string& why);
  // Peers whose connections ended, since the last call; why: "" where that was
  // not here.  What they sent before may still come.
  struct Ended {
    std::string peer, why;
  };
  std::vector<Ended> take_ended();
  // Connections over which bytes moved since the last call, ConnectionBytes.
  ConnectionGuard::Flows take_flows();
  // Whether a key was removed, since the last call.
  bool take_removed_key();
  // Lets in new keys for one process, which are in no file.
  WorkerKeys admit_once(const std::string& name);
  // Removes a key for one process, if it is there.  Throws Error: kIo.
  void retire(const std::string& key);
  // If there is another server.key, binds again with it, which ends all
  // connections; true: it did.  Looks once a second.  A key that is of no use
  // is reported and passed over.  Throws Error: kUnavailable, the address is
  // taken meanwhile.
  bool renew_server_key();

  // Whether nothing waits here for the peer, which may then take a message at
  // once.
  bool idle(const std::string& peer) const;
  // Drops messages of the feed that wait for the peer.
  void forget_feed(const std::string& peer);

  Waiting waiting() const override;
  void note(bool readable) const override;

  std::uint64_t dropped() const;  // number of foreign or damaged messages
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class DealerSocket : public Socket {
 public:
  // endpoint: "tcp://HOST:PORT", "ipc:///path".  Connects in the background,
  // again and again until that succeeds.  Throws Error: kUsage, no such
  // address, or a public one with neither keys nor insecure; kNotAuthorised,
  // bad key files.
  DealerSocket(const std::string& endpoint, const Security& security, Log log,
               Carrier carrier = {});
  ~DealerSocket() override;  // the carrier has 2 s for unsent messages

  // Sets the messages that the other end may send, and may be sent; without it,
  // anything.
  void expect(const Expected& expected, const Expected& sent = {});
  // The next message, or nothing within the time.  Returns early, with
  // nothing, on a signal and when a descriptor of `wake` is readable.  A master
  // of another version answers with a Refuse (envelope.protocol is 0).
  // A message that is damaged, or never ends, loses the connection.
  // Throws Error: kProtocol, the first one is foreign or of another version;
  // kNotAuthorised, the handshake was refused; of a server key that does not
  // match this is known only after seconds.
  std::optional<Received> receive(std::chrono::milliseconds wait,
                                  std::span<const int> wake = {});
  // Returns false, and sends nothing, if the socket was not connected, or the
  // queue stayed full, for `wait` or until a signal.  Throws like receive(),
  // and like encode().
  bool send(const Message& message, const Envelope& envelope,
            std::chrono::milliseconds wait);
  // Sends without waiting and without copying the blobs.
  bool offer(const SharedMessage& message, const Envelope& envelope);
  Waiting waiting() const override;
  void note(bool readable) const override;
  // Whether bytes of a message that is not whole came, or many went and
  // arrived, since the last call; as of the last receive().
  bool flowed();
  // Whether there is a peer at the other end, as of the last receive() or
  // send().
  bool connected() const;
  // Whether there was a connection, and it ended.  It stays lost: the next peer
  // there does not know us, though libzmq connects again.
  bool lost() const;
  // Reason why this end ended it: "checksum of a message differs"; "": it did
  // not.
  const std::string& damage() const;
  // Reason for messages about waiting: "connection refused", "name not found".
  // At most once a second it tries a connection of its own, which takes as long
  // as the resolver does.
  std::string status() const;

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_TRANSPORT_H_
