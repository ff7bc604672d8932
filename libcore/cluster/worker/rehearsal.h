// What an exchange has a worker do beside computing, in each mode, without a
// master and timed: for Probed.  Times are seconds, means.

#ifndef DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_
#define DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message_sharing.h"
#include "libcore/cluster/settings/averaging_settings.h"
#include "libcore/cluster/settings/sharing_settings.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/cluster/worker/shared_parameters.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

// Does with updates what sharing does, where it does it, as one of two workers
// whose update is the only one that comes.
class SharingRehearsal {
 public:
  // The replica outlives it, and is moved by it, by `scale` times its updates.
  SharingRehearsal(Replica& replica, const SharingSettings& settings,
                   float scale);

  // Before a mini-batch; returns what it took.
  double begin();
  // Of the last compute(), whose update on the host the caller has if it must
  // be there to be coded.
  void run(std::span<const float> update);
  bool on_device() const { return keeper_ != nullptr; }
  std::size_t bytes() const { return apply_.payload.size(); }  // an update's

  // Of each mini-batch; what is done before it is encoding, too.
  std::vector<double> encode, decode;

 private:
  Replica& replica_;
  const bool ahead_;
  tensor::Device* const keeper_;
  UpdateCoder coder_;
  std::unique_ptr<SharedParameters> parameters_;
  Apply apply_;
  double before_ = 0;
};

struct RoundRehearsed {
  double seconds = 0;
  std::int64_t bytes = 0;  // that a replica sends, and as many come back
};
// A round of averaging in which the replica's update is what it learns, but for
// its mini-batches, again and again for so many seconds.  The replica is
// somewhere else then.  Throws Error: kData, the update is not finite.
RoundRehearsed rehearse_round(Replica& replica,
                              const AveragingSettings& settings,
                              double seconds);

// Likewise a step of sync, from the update that the replica has.  network: with
// the updaters that take it, in so many threads.
double rehearse_step(Replica& replica, const nn::NetworkConfig& network,
                     int threads, double seconds);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_REHEARSAL_H_
