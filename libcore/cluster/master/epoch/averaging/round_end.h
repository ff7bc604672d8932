// The end of a round of averaging or sync: the step from the average, then its
// entry in the update log.
//
// With a large network either takes seconds, so a thread of its own does it
// while the master's loop goes on; with others the loop does it at once.
// Nobody may change the state's vectors until the end is over.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_ROUND_END_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_ROUND_END_H_

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/cluster/protocol/message_averaging.h"
#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log.h"
#include "libcore/exchange/codec/delta_format.h"

namespace dl::cluster {

// The greatest magnitudes of a state's vectors.
struct Reach {
  double parameters = 0, velocity = 0, residual = 0;
};
Reach reach_of(const RunState& state);

// A round that has all of its slots.
struct RoundAverage {
  Round round;  // the message for everybody, but for delta and digest
  // The average of the slots' vectors, of which the parameters' part counts;
  // nothing: there is no step, as in sync no slot had an example.
  std::optional<std::vector<float>> average;
  // Pieces to be copied into it, by first element.
  std::map<std::int64_t, std::vector<float>> pieces = {};
  exchange::DeltaFormat format;
  RoundOptimizer outer;
  bool whole = false;  // whether the average is a replica's own parameters
};

class RoundEnd {
 public:
  // Begins the step.  state: of the round before; outlives this.  aside: by a
  // thread of its own.
  RoundEnd(RoundAverage average, const RunState& state, bool aside);
  ~RoundEnd();  // waits for the thread
  RoundEnd(const RoundEnd&) = delete;
  RoundEnd& operator=(const RoundEnd&) = delete;

  // Whether the part that was begun last is over, so that its end takes no
  // time.
  bool ready() const;
  void wait() const;

  // Ends the step; the message is then complete.  Throws Error: kProtocol, it
  // gives what is not finite.
  void end_step();
  bool stepped() const { return !step_.valid(); }
  const Round& round() const { return made_.round; }

  // Begins to append the entry; of its payload only the round's own fields are
  // missing.  steps: of a replica's updater.
  void begin_entry(UpdateLog& log, LogEntry entry, std::int64_t steps);
  void end_entry();

  // Moves the vectors into the state, after all that was begun was ended.
  // Returns how far they reach, and gives the message away.
  Reach move_into(RunState& state);
  Round take_round() { return std::move(made_.round); }

 private:
  struct Made {
    Round round;
    std::optional<Stepped> vectors;
    std::vector<float> residual;
    Reach reach;
  };
  static Made step(RoundAverage average, const RunState& state);

  const bool aside_;
  const RoundOptimizer outer_;
  std::future<Made> step_;
  Made made_;
  std::future<void> entry_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_ROUND_END_H_
