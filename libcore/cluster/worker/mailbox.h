// The queues between a worker's two threads.
//
// The main thread owns the socket: it puts what arrives into the inbox and
// sends what it finds in the outbox.  The compute thread trains: it takes from
// the inbox between two mini-batches and never waits for the network, except
// when it has nothing to do.  Records that must come from the master pass
// through the fetcher, past the inbox, because the compute thread may be
// waiting for one.

#ifndef DL_LIBCORE_CLUSTER_WORKER_MAILBOX_H_
#define DL_LIBCORE_CLUSTER_WORKER_MAILBOX_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/cluster/protocol/exchange_stats.h"
#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

// A session is the time between a Welcome and the loss of that master.  What
// was meant for an earlier session is never sent in a later one.

struct Delivered {
  std::uint64_t session = 0;
  Message message;
};

// Messages for the compute thread, in the order of their arrival.  Thread-safe.
class Inbox {
 public:
  // most: number of bytes that may wait besides the largest message, as a State
  // may be of any size.
  explicit Inbox(std::size_t most = std::size_t{1} << 30) : most_(most) {}

  // Drops waiting messages and begins a session with its Welcome.
  void begin_session(std::uint64_t session, Message welcome);
  // Returns false if more bytes would wait: the worker is too far behind.
  bool push(Message message);
  // The next message, or nothing if there is none now, or (wait) wake() was
  // called.
  std::optional<Delivered> pop(bool wait);
  // The next message, waiting at most for this time.
  std::optional<Delivered> pop_within(double seconds);
  void wake();  // makes a waiting pop() return, once
  std::size_t size();

 private:
  std::optional<Delivered> take();  // call with the lock held

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> queue_;
  std::uint64_t session_ = 0;
  std::size_t bytes_ = 0;
  bool woken_ = false;
};

// Messages for the master.  Thread-safe.
class Outbox {
 public:
  Outbox();  // throws Error: kIo, no more descriptors left
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  void push(Message message);
  // Drops queued messages, as the compute thread has turned to this session.
  void begin_session(std::uint64_t session);
  // The next message of this session; messages of others are dropped.
  std::optional<Message> pop(std::uint64_t session);
  std::size_t size();
  void poke();  // makes descriptor() readable
  // Readable while something may be waiting; pop() until empty resets it.
  int descriptor() const { return fd_; }

 private:
  void poke_locked();  // call with the lock held

  int fd_ = -1;
  bool poked_ = false;
  std::mutex mutex_;
  std::deque<Message> queue_;
  std::uint64_t session_ = 0;
};

// Records on their way from the master.  Thread-safe.
class RecordFetcher {
 public:
  explicit RecordFetcher(Outbox& outbox) : outbox_(outbox) {}

  // Asks for a record and waits for it: its bytes as in the file.
  // Throws Error: kTryAgain, the master was lost or does not answer within the
  // limit; kData, it cannot read the record either.
  std::vector<std::byte> fetch(const Fetch& wanted,
                               std::chrono::milliseconds limit);
  void deliver(Record record);
  // Ends every waiting fetch(), and those to come until open().
  void close();
  void open();
  bool closed();

 private:
  using Key = std::tuple<bool, std::uint32_t, std::uint32_t>;
  Outbox& outbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::optional<Record>> wanted_;
  bool closed_ = false;
};

struct Mailbox {
  // clock: clock of the compute thread; outlives this object.
  explicit Mailbox(Clock& the_clock = monotonic_clock()) : clock(the_clock) {}

  Clock& clock;
  Inbox inbox;
  Outbox outbox;
  RecordFetcher fetcher{outbox};

  // Read by the main thread for Beat and the last line.
  std::atomic<std::uint64_t> progress{0};  // mini-batches of any kind done
  std::atomic<std::int64_t> examples{0};   // examples trained or evaluated
  // Messages of the outbox that wait for room in the connection.
  std::atomic<std::size_t> unsent{0};
  ExchangeMeter meter;  // reported by tell_exchange()
  // Set by the main thread: finish the mini-batch and end.
  std::atomic<bool> leaving{false};
  // Set by the compute thread: it has ended; it has lost the thread of the
  // conversation and wants to join again (doing() says why).
  std::atomic<bool> finished{false};
  std::atomic<bool> rejoin{false};

  void set_doing(std::string text);
  // Beat.exchange: work that was not reported yet, and present queues.
  Json tell_exchange();
  std::string doing();

 private:
  std::mutex mutex_;
  std::string doing_ = "starting";
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_MAILBOX_H_
