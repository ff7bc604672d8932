// The updates that a worker of sharing has sent, until it knows what became of
// them.
//
// An update that was sent has left the residual.  If its answer is lost, with
// the connection or because a State came instead, it is adrift: the master may
// have applied it or not.  It is kept: when its mini-batches are leased to this
// worker again it was not, and the same update is the answer, as training
// again would count the gradient twice.  So a worker that joins again goes on
// as if nothing had happened.
//
// Pure bookkeeping.  Used by one thread at a time.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SENT_UPDATES_H_
#define DL_LIBCORE_CLUSTER_WORKER_SENT_UPDATES_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

struct SentUpdate {
  std::int64_t epoch = 0;
  Update update;
  bool refused = false;  // whether it was refused once
};

class SentUpdates {
 public:
  // Notes an update that was sent; an answer will come.
  void add(SentUpdate sent) { pending_.push_back(std::move(sent)); }
  std::size_t pending() const { return pending_.size(); }
  std::int64_t pending_batches() const;  // mini-batches of pending updates

  // Notes that no answer will come to pending updates.
  void lose_answers();
  // Payload of our own update that an Apply names, or nothing if there is none.
  std::optional<std::vector<std::byte>> applied(std::int64_t batch);
  // Keeps a refused update in case its mini-batches come again.  Returns one
  // that was refused twice, which is no longer kept.
  std::optional<SentUpdate> refused(const Stale& stale);

  // Notes that an update of these mini-batches was applied, with this payload.
  // Returns an update adrift that is another one, and will never be applied.
  std::optional<SentUpdate> settle(const Apply& apply);
  // Returns updates adrift of other epochs, which are no longer kept.
  std::vector<SentUpdate> leave_other_epochs(std::int64_t epoch);
  // Returns the update adrift whose mini-batches begin here, at most so many;
  // it is no longer kept.
  std::optional<SentUpdate> take_again(std::int64_t epoch, std::int64_t batch,
                                       std::int64_t most);

 private:
  std::deque<SentUpdate> pending_;
  std::vector<SentUpdate> adrift_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SENT_UPDATES_H_
