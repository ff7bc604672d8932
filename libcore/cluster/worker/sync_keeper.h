// The worker's side of sync's rounds, without a network that computes: the
// parameters and the state of the updater that all have, which each Round takes
// one step further.
//
// They are in host memory, whatever the replica computes on, as their bits may
// not depend on that.
//
// Used by one thread at a time.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SYNC_KEEPER_H_
#define DL_LIBCORE_CLUSTER_WORKER_SYNC_KEEPER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/nn/update/constrainer.h"
#include "libcore/nn/update/host_updater.h"

namespace dl::cluster {

class SyncKeeper {
 public:
  // parameters: where they are to be; room: for as many values, which a Round
  // overwrites; empty: it allocates some.  Both outlive this.  threads: of a
  // step.
  SyncKeeper(const nn::NetworkConfig& network, int threads,
             std::span<float> parameters, std::span<float> room = {})
      : updater_(network, threads),
        constrain_(network),
        parameters_(parameters),
        gradient_(room) {}

  // Begins a new conversation: nothing of the one before counts.
  void begin_session() { known_ = false; }
  // Takes a State.  Throws Error: kProtocol, it is of another network.
  void take(State state);
  // Takes the next round, or the master's Round of one that was taken before.
  // Throws Error: kProtocol, it is of another network.  OutOfStep: it follows
  // another version than this worker has.
  void take(Round round);

  // The Digest to send if the parameters after a round differ from the Round's;
  // returned once.  No task begins then until State comes.
  std::optional<Digest> take_difference();

  // Whether a task of this version may begin: the version is here, or never
  // will be.
  bool has(std::uint64_t version) const {
    return !known_ || version <= version_;
  }
  // Returns false if the task is of a round that is over, so that it is no
  // longer wanted.
  // Throws OutOfStep: its version is not known, or only a step ahead of the
  // master's word has left it behind, as when a worker is lost whose averages
  // came here and not to the master.
  bool begin(const Task& task) const;

  std::span<const float> parameters() const { return parameters_; }
  std::span<const float> statistics() const { return statistics_; }

 private:
  void read(const Round& round);
  void read_pieces(Round& round);
  void step(const Round& round);
  void compare(const Round& round);

  nn::HostUpdater updater_;
  nn::Constrainer constrain_;
  std::span<float> parameters_;
  std::vector<float> statistics_, updater_state_;
  std::vector<float> own_room_;
  std::span<float> gradient_;
  std::uint64_t version_ = 0;
  std::uint64_t said_ = 0;  // last round that the master called over
  bool known_ = false, differs_ = false;
  // Digests of the last versions.
  std::map<std::uint64_t, std::uint64_t> digests_;
  std::optional<Digest> difference_;  // difference not reported yet
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SYNC_KEEPER_H_
