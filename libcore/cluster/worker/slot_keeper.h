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

  // Begins a new conversation: nothing of the one before counts.
  void begin_session();
  void take(State state);
  // Throws Error: kProtocol, it does not fit.  OutOfStep: it follows another
  // version than this worker has.
  void take(Round round);

  // The Digest to send if the parameters after a round differ from the Round's;
  // returned once.  No task begins then until State comes.
  std::optional<Digest> take_difference();

  // Whether a task of this version may begin: the version is here, or never
  // will be.
  bool has(std::uint64_t version) const;

  // The start of a task; valid until the next call of a function here.
  struct Start {
    std::span<const float> parameters, statistics;
    std::span<const float> updater_state;  // empty: starts afresh
    std::int64_t afresh = 0;               // nn::Position::updater_reset_at
    // The round whose State the whole start is; nothing if the slot has values
    // of its own.
    std::optional<std::uint64_t> version;
  };
  // Returns nothing if the task continues a round that was not finished here,
  // so that it is no longer wanted.  Throws OutOfStep: its version is not
  // known.
  std::optional<Start> begin(const Task& task);
  // The answer to the task begun last, without its counts; nothing, and the
  // history as it was: the replica is not finite.
  // room: for as many values as parameters, which it overwrites where slots
  // have a history; empty: it allocates some.
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
    std::uint64_t round = 0;  // last round of the slot
    std::int64_t afresh = 0;  // iteration when its updater state was afresh
    std::vector<float> residual, updater_state;
    // Overlap: everything that it had to send in that round, and the statistics
    // that went with it.
    std::vector<float> learnt, statistics;
  };
  std::uint64_t newest() const;  // newest version that is here
  Result finish_whole(const Task& task, std::span<const float> parameters,
                      std::vector<float> statistics,
                      std::vector<float> updater_state);
  std::vector<std::byte> code_with_history(const Slot& slot,
                                           std::span<const float> parameters,
                                           const std::vector<float>& statistics,
                                           std::span<float> room);
  void advance(std::uint64_t version);
  void apply(const Round& round);

  AveragingSettings settings_;
  nn::Constrainer constrain_;
  bool known_ = false;
  std::optional<Digest> difference_;  // difference not reported yet
  bool differs_ = false;
  State state_;
  std::deque<Round> waiting_;  // rounds that follow state_
  State made_;  // state made by a round of one slot, maybe not over
  std::vector<float> base_;
  std::span<const float> from_;                // start of the task begun last
  std::map<std::int64_t, History> histories_;  // histories by slot
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SLOT_KEEPER_H_
