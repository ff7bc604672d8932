// The worker's side of averaging's rounds, without a network: the parameters
// that all have, which each Round takes one step further, and the histories of
// the slots that this worker does.
//
// What a slot sends is the difference to where it started, coded; what coding
// leaves out is kept and added to the next difference (error feedback: Seide et
// al. 2014; Karimireddy et al. 2019).  A slot starts from the shared parameters
// and what it has kept, or it would learn the same a second time (step-ahead
// error feedback: Xu, Huo and Huang 2021).  When rounds overlap, the shared
// parameters do not have its own last round in them yet; then all that it had
// to send in that is added (Shen et al. 2019, CoCoD-SGD).
//
// Where one replica is alone (AveragingSettings::alone), it sends its
// parameters and goes on from them.
//
// Used by one thread at a time.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SLOT_KEEPER_H_
#define DL_LIBCORE_CLUSTER_WORKER_SLOT_KEEPER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/settings/averaging_settings.h"
#include "libcore/nn/update/constrainer.h"

namespace dl::cluster {

class SlotKeeper {
 public:
  explicit SlotKeeper(const AveragingSettings& settings,
                      nn::Constrainer constrain = {})
      : settings_(settings), constrain_(std::move(constrain)) {}

  // A new conversation: nothing of the one before counts.
  void begin_session();
  void take(State state);
  // Throws Error: kProtocol, it does not fit.  OutOfStep: it follows another
  // version than this worker has.
  void take(Round round);

  // Its parameters after a round are not what the Round said: what to tell the
  // master, once.  Nothing begins then until State comes.
  std::optional<Digest> take_difference();

  // Whether a task of this version may begin: it is here, or will never be.
  bool has(std::uint64_t version) const;

  // Where a task starts from; there until the next call of anything here.
  struct Start {
    std::span<const float> parameters, statistics;
    std::span<const float> updater_state;  // empty: afresh
    std::int64_t afresh = 0;               // nn::Position::updater_reset_at
    // All of it is that of this round; nothing: the slot has something of its
    // own.
    std::optional<std::uint64_t> version;
  };
  // Nothing: the task goes on from a round that was not finished here, so it
  // is no longer wanted.  Throws OutOfStep: its version is not known.
  std::optional<Start> begin(const Task& task);
  // The answer to the task begun last, without its counts; nothing, and the
  // history as it was: the replica is not finite.
  // room: for as many values as parameters, which it overwrites; empty: it
  // allocates some.
  std::optional<Result> finish(const Task& task,
                               std::span<const float> parameters,
                               std::vector<float> statistics,
                               std::vector<float> updater_state,
                               std::span<float> room = {});
  // Whether the slot gives its parameters, and its worker goes on from them.
  bool is_whole(const Task& task) const {
    return settings_.alone && task.slot.slots == 1;
  }

 private:
  struct History {
    std::uint64_t round = 0;  // its last one
    std::int64_t afresh = 0;  // when its updater state was
    std::vector<float> residual, updater_state;
    // Overlap: all that it had to send in that round, and what went with it.
    std::vector<float> learnt, statistics;
  };
  std::uint64_t newest() const;  // version that is here
  Result finish_whole(const Task& task, std::span<const float> parameters,
                      std::vector<float> statistics,
                      std::vector<float> updater_state);
  void advance(std::uint64_t version);
  void apply(const Round& round);

  AveragingSettings settings_;
  nn::Constrainer constrain_;
  bool known_ = false;
  std::optional<Digest> difference_;  // not told yet
  bool differs_ = false;
  State state_;
  std::deque<Round> waiting_;  // that follow state_
  State made_;  // here, by a round of one slot that may not be over yet
  std::vector<float> base_;
  std::span<const float> from_;  // where the task begun last starts
  std::map<std::int64_t, History> histories_;  // by slot
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SLOT_KEEPER_H_
