// A worker's connection to its master: found and greeted, and again after it
// was lost.

#ifndef DL_LIBCORE_CLUSTER_WORKER_MASTER_CONNECTION_H_
#define DL_LIBCORE_CLUSTER_WORKER_MASTER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/worker/worker.h"

namespace dl::cluster {

// One thread.
class MasterConnection {
 public:
  // Both must outlive it.
  MasterConnection(const WorkerOptions& options, const Log& log,
                   Carrier carrier = {});

  // Sends Hello to the master's address, which may change, until a master
  // answers with the Welcome or Stop that is returned; returns nothing if the
  // file with the address says meanwhile that the run is finished.  first:
  // there was no master so far.  check: called often meanwhile; an exception
  // that it throws ends the wait.
  // Throws Error: kUnavailable or (not first) kTryAgain, no answer in time; as
  // refuse() does.
  std::optional<Received> join(const Hello& hello, bool first,
                               const std::function<void()>& check);
  // Throws the Error that a Refuse describes.
  [[noreturn]] void refuse(const Message& message) const;

  // Functions for use after join():
  const std::string& endpoint() const { return endpoint_; }
  DealerSocket& socket() const { return *socket_; }
  // Returns false if the message was not sent in that time.  Throws Error: as
  // DealerSocket::send(); a master that does not take such a message was told.
  bool send(const Message& message, std::chrono::milliseconds wait);
  // Queues a message behind those that wait for room.
  void post(Message message) {
    posted_.push_back(std::make_shared<const Message>(std::move(message)));
  }
  // Sends queued messages while the connection takes them.  Throws Error: as
  // send().
  void send_posted();
  // Sends all of them, waiting so long for room each time.  Returns false if
  // they were not sent.
  bool send_all_posted(std::chrono::milliseconds wait);
  std::size_t posted() const { return posted_.size(); }
  // Whether the message is of this run.
  bool is_of_this_run(const Received& received) const;
  // Text for a lost connection.
  std::string loss() const;

  // Totals of all connections.
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  void open(const std::string& endpoint);
  WorkerKeys read_keys() const;
  bool keys_changed() const;
  std::string look_up();
  bool try_endpoint(const Hello& hello, double deadline, double& notice,
                    const std::function<void()>& check, Received& answer);
  void agree(const Welcome& welcome);
  bool greet(const Hello& hello, Received& answer);
  // send: function that returns whether the message was sent.
  template <typename Send>
  bool send_telling(const Message& message, const Send& send);
  [[noreturn]] void give_up(bool first) const;
  std::string why_waiting() const;
  void note_waiting(double deadline, double& notice) const;

  const WorkerOptions& options_;
  const Log& log_;
  Carrier carrier_;
  std::unique_ptr<DealerSocket> socket_;
  std::string endpoint_;
  std::string status_;  // reason why there is no endpoint
  // The run that the file called finished when it was first read: an earlier
  // run.
  std::optional<std::string> finished_before_;
  bool over_ = false;
  WorkerKeys keys_;  // keys as of open()
  bool let_in_ = false;
  Envelope envelope_;
  std::deque<SharedMessage> posted_;
  bool greeted_ = false;
  double greeted_at_ = 0;
  int damages_ = 0;  // connections that this end ended
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;  // bytes of earlier connections
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_MASTER_CONNECTION_H_
