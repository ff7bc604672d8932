// Measures the work of a worker beside computing, in each mode, without a
// run: for Probed.  Times are seconds, means.

#ifndef DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_
#define DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message_sharing.h"
#include "libcore/cluster/settings/averaging_settings.h"
#include "libcore/cluster/settings/sharing_settings.h"
#include "libcore/cluster/tree/pieces.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/cluster/worker/shared_parameters.h"
#include "libcore/cluster/worker/sync_keeper.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

// Does with updates what sharing does, where it does it, as one of two workers
// whose update is the only one that comes.
class SharingRehearsal {
 public:
  // The replica outlives this object, which changes it by `scale` times its
  // updates.
  SharingRehearsal(Replica& replica, const SharingSettings& settings,
                   float scale);

  // Call before a mini-batch; returns the seconds that it took.
  double begin();
  // Runs with the last compute(), whose update on the host the caller has if it
  // must be there to be coded.
  void run(std::span<const float> update);
  bool on_device() const { return keeper_ != nullptr; }
  // Bytes of an update.
  std::size_t bytes() const { return apply_.payload.size(); }

  // Times of each mini-batch; what is done before it is encoding, too.
  std::vector<double> encode, decode;

 private:
  Replica& replica_;
  const bool ahead_;
  device::Device* const keeper_;
  UpdateCoder coder_;
  std::unique_ptr<SharedParameters> parameters_;
  Apply apply_;
  double before_ = 0;
};

struct RoundRehearsed {
  double seconds = 0;
  std::int64_t bytes = 0;  // bytes that a replica sends, and that come back
};
// A round of averaging in which the replica's update is what it learns, but for
// its mini-batches, again and again for so many seconds.  The replica is
// somewhere else then.  Throws Error: kData, the update is not finite.
RoundRehearsed rehearse_round(Replica& replica,
                              const AveragingSettings& settings,
                              double seconds);

// Does in a step of sync what a worker does, as the only host or as one of two,
// where the master's echoes are what the other one and the master send.
class SyncRehearsal {
 public:
  // Sends a piece to the master, with or without an answer.
  using Send = std::function<void(std::vector<std::byte>, bool answer)>;

  // The replica outlives this object, which changes it.  network: has the
  // updaters that take the step, in so many threads.
  SyncRehearsal(Replica& replica, const nn::NetworkConfig& network, int threads,
                bool alone, Send send);

  // Computes a gradient; returns how many echoes there will be.
  std::size_t compute(const nn::Batch& batch, const nn::Position& at);
  // Takes the next echo; the last one ends the step.  Throws Error: kProtocol,
  // its length is not that of the sent piece.
  void take(std::vector<std::byte> echo);

 private:
  void give(std::size_t from, std::span<const float> found);
  void step();

  Replica& replica_;
  const bool alone_;
  const Send send_;
  std::vector<float> apart_;  // copy of parameters that are not in host memory
  SyncKeeper keeper_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<float>> own_;  // own values of pieces averaged here
  std::size_t given_ = 0;
  std::vector<float> statistics_;
  Round round_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_
