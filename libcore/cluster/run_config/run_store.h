// The files of a run, dl-run(5): it is taken up where an earlier start of
// it stopped; then come checkpoints, the log between them, and models.
//
// Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_STORE_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_STORE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/cluster/run_dir/run_directory.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/saving.h"
#include "libcore/cluster/run_dir/update_log.h"

namespace dl::cluster {

class RunStore {
 public:
  // Opens the run directory that the options name; both must outlive it.
  // Throws as RunDirectory() does.
  RunStore(const MasterOptions& options, const Log& log);

  const std::string& path() const { return directory_.path(); }
  std::string events() const { return directory_.file("events.jsonl"); }
  std::uint64_t incarnation() const { return directory_.incarnation(); }

  // Removes what an earlier run left, but for what the plan reads: streams are
  // in the folder already.  Throws Error: kIo.
  void start_over(const RunConfig& plan);

  // Whether there is a run to resume.
  bool holds_run() const { return !directory_.configuration().is_null(); }

  // The state of the newest checkpoint and the log after it, or where the plan
  // starts; whether that is finished is for the plan to say.  For a finished
  // run, writes the model if it is missing.  The plan must outlive the store. A
  // run that has learnt nothing yet may become another. Throws Error: kConfig,
  // kData, kIo, kCantCreate. Defaults that the run was begun with stay as they
  // were.
  RunState take_up(RunConfig& plan);
  // The finds of take_up(): whether there was a run, its checkpoint ("" for
  // none) and the updates or rounds replayed.
  bool known() const { return known_; }
  const std::string& checkpoint() const { return checkpoint_; }
  std::uint64_t replayed() const { return replayed_; }
  std::string describe(const RunState& state) const;

  // Where a run that went wrong goes on: the newest sound state that the folder
  // gives, one version after `now`.  Its steps are half as large.  Nothing:
  // there is none.  Throws Error: kData, kIo.
  std::optional<RunState> go_back(const RunState& now) const;
  // Where the model of the best epoch is, if that is kept, and the command that
  // writes the one of this version or of the checkpoint before it, as a clause;
  // "": neither can be had.
  std::string where_model(std::uint64_t version) const;

  // Begins to log what follows the state that was taken up, in the start `run`
  // of the master; null if no log is wanted.  Throws Error: kIo, kCantCreate.
  UpdateLog* begin_log(const std::string& run, const RunState& state);

  // Notes instructions that a worker of the run computes with, for run.json and
  // the model.  Throws Error: kCantCreate, kIo.
  void note_instructions(const std::string& instructions);
  // Notes that the model is the best so far; the next save() writes it.
  void keep_best(const RunState& state);

  // Both throw Error: kCantCreate, kIo.
  // Begins to write a checkpoint, and the best model if there is a new one, in
  // a thread of its own if `aside`; the log goes on from that state.  No other
  // is to be begun before this one ends.
  std::unique_ptr<Saving> save(const RunState& state, bool aside);
  // Writes the model where the options want it: the best, if that is kept, or
  // the state's.
  void write_model(const RunState& state) const;

  // Removes all that a run that is finished, well and with its model, would not
  // go on from, unless all is to be kept.
  void tidy(const RunState& state);

 private:
  void go_on_from(const Json& before, RunState& state);
  void write_configuration() const;
  std::optional<nn::Model> saved_best() const;
  bool loses_best(const RunState& state) const;
  void write_missing_model(const RunState& state) const;
  nn::Model final_model(const RunState& state) const;
  std::optional<Saved> newest_saved(std::uint64_t version) const;
  nn::Model model_of(const RunState& state) const;
  nn::Model checkpoint_of(const RunState& state) const;
  std::string best() const { return directory_.file("best.safetensors"); }

  const MasterOptions& options_;
  const Log& log_;
  RunDirectory directory_;
  const RunConfig* plan_ = nullptr;
  bool known_ = false;
  std::vector<std::string> instructions_;  // instructions of workers, sorted
  std::uint64_t replayed_ = 0;
  std::string checkpoint_;  // checkpoint that the run resumes from
  // Whether it lacks a rollback of the log after it.
  bool lacks_setback_ = false;
  std::shared_ptr<const nn::Model> best_;  // best model, if not yet written
  std::uint64_t last_saved_ = 0;           // version of the latest checkpoint
  // Checkpoints, oldest first; some are removed by now.
  std::vector<Saved> saved_;
  LogPolicy policy_;
  LogIdentity identity_;
  std::optional<UpdateLog> updates_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_RUN_STORE_H_
