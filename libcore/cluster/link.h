// What lies between a worker's two threads.
//
// The main thread owns the socket: it puts what arrives into the inbox and
// sends what it finds in the outbox.  The compute thread trains: it takes from
// the inbox between two mini-batches and never waits for the network, except
// when it has nothing to do.  Records that must come from the master pass
// through the fetch desk, past the inbox, because the compute thread may be
// waiting for one.

#ifndef DL_LIBCORE_CLUSTER_LINK_H_
#define DL_LIBCORE_CLUSTER_LINK_H_

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

#include "libcore/cluster/message.h"

namespace dl::cluster {

// Messages for the compute thread, in the order of their arrival.  Thread-safe.
class Inbox {
 public:
  // False: more than kMaxBytes wait; the worker has fallen too far behind.
  bool push(Message message);
  // The next message.  Nothing: there is none now, or (wait) wake() was called.
  std::optional<Message> pop(bool wait);
  void clear();
  void wake();  // makes a waiting pop() return, once

  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> queue_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
};

// Messages for the master.  Thread-safe.
class Outbox {
 public:
  Outbox();  // throws Error: kIo, no more descriptors
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  void push(Message message);
  std::optional<Message> pop();  // never waits
  void clear();
  // Readable while something may be waiting; pop() until empty resets it.
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  std::mutex mutex_;
  std::deque<Message> queue_;
};

// Records on their way from the master.  Thread-safe.
class FetchDesk {
 public:
  explicit FetchDesk(Outbox& outbox) : outbox_(outbox) {}

  // Asks for a record and waits for it: its bytes as in the file.
  // Throws Error: kTryAgain, the master was lost or does not answer within the
  // limit; kData, it cannot read the record either.
  std::vector<std::byte> fetch(const Fetch& wanted,
                               std::chrono::milliseconds limit);
  void deliver(Record record);
  // Ends every fetch() that waits, and those to come until open().
  void close();
  void open();

 private:
  using Key = std::tuple<bool, std::uint32_t, std::uint32_t>;
  Outbox& outbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::optional<Record>> wanted_;
  bool closed_ = false;
};

struct Link {
  Inbox inbox;
  Outbox outbox;
  FetchDesk desk{outbox};

  std::atomic<std::uint64_t> progress{0};  // mini-batches done, of any kind
  std::atomic<std::int64_t> examples{0};   // trained or evaluated
  std::atomic<bool> leaving{false};        // finish the mini-batch and end
  std::atomic<bool> finished{false};       // the compute thread has ended

  void set_doing(std::string text);
  std::string doing();

 private:
  std::mutex mutex_;
  std::string doing_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LINK_H_
