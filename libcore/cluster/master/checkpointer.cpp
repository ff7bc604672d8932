#include "libcore/cluster/master/checkpointer.h"

#include <algorithm>
#include <utility>

#include "libcore/cluster/master/epoch/phase.h"

namespace dl::cluster {

namespace {

constexpr int kMostFailedCheckpoints = 3;
constexpr double kEpochCheckpoints = 1;  // seconds between two, at the least

// Size of the update log at which a checkpoint takes its place: so many times
// the checkpoint, and what is nothing to a disk.
constexpr std::uint64_t kLogForCheckpoint = 8;
constexpr std::uint64_t kLeastLog = std::uint64_t{64} << 20;

std::uint64_t most_log(const RunState& state) {
  const std::size_t floats = state.parameters.size() + state.statistics.size() +
                             state.updater_state.size() +
                             state.velocity.size() + state.residual.size();
  return std::max(kLeastLog, kLogForCheckpoint * sizeof(float) * floats);
}

}  // namespace

Checkpointer::Checkpointer(RunContext& context, Save save)
    : context_(context), save_(std::move(save)), last_(context.now) {}

// Epochs may be so short that saving each would take longer than training it;
// the update log has what a master that dies in between had learnt.
void Checkpointer::save_epoch() {
  if (context_.limits.checkpoint_every <= 0 ||
      context_.now - last_ >= kEpochCheckpoints)
    save();
}

void Checkpointer::save_if_due() {
  if (saving_ && saving_->is_over()) settle();
  if (!saving_ && context_.phase && context_.phase->at_boundary() && due())
    save();
}

bool Checkpointer::due() const {
  const Limits& limits = context_.limits;
  const auto batches =
      static_cast<std::int64_t>(context_.report.batches - batches_at_last_);
  if (batches == 0) return false;
  const std::uint64_t logged = context_.updates ? context_.updates->size() : 0;
  return logged >= logged_at_last_ + most_log(context_.state) ||
         (limits.checkpoint_every > 0 &&
          context_.now - last_ >= limits.checkpoint_every) ||
         (limits.checkpoint_batches > 0 &&
          batches >= limits.checkpoint_batches);
}

void Checkpointer::save(bool last) {
  settle();
  if (context_.phase) {
    context_.phase->settle();
    context_.state.committed = context_.phase->committed();
  }
  last_ = context_.now;
  batches_at_last_ = context_.report.batches;
  if (!all_finite(context_.state.parameters))
    throw Error{Code::kConfig,
                "the parameters are no longer finite; the last checkpoint is "
                "from before that; lower the learning rate"};
  begin(last);
  logged_at_last_ = context_.updates ? context_.updates->size() : 0;
}

void Checkpointer::begin(bool last) {
  const RunState& state = context_.state;
  const bool aside =
      !last && std::cmp_greater_equal(state.parameters.size(),
                                      context_.limits.end_aside_from);
  try {
    context_.events.sync();  // the checkpoint counts what they tell
    saving_ = save_(aside);
  } catch (const Error& error) {
    return note_failure(error, last);
  }
  saved_ = {{"epoch", state.epoch},
            {"committed", state.committed},
            {"version", state.version},
            {"finished", state.finished}};
  if (!aside) end(last);
}

void Checkpointer::end(bool last) {
  if (!saving_) return;
  try {
    context_.report.checkpoint = std::exchange(saving_, nullptr)->end();
  } catch (const Error& error) {
    return note_failure(error, last);
  }
  failed_ = 0;
  ++context_.report.checkpoints;
  saved_["checkpoint"] = context_.report.checkpoint;
  context_.events.write("checkpoint", std::exchange(saved_, Json()));
  context_.log(Level::kDetail, "saved " + context_.report.checkpoint);
}

void Checkpointer::note_failure(const Error& error, bool last) {
  ++context_.report.checkpoint_failures;
  context_.events.write("fault", {{"why", error.what()}});
  if (++failed_ >= kMostFailedCheckpoints || last)
    throw Error{Code::kIo,
                std::string("no checkpoint could be written: ") + error.what()};
  context_.log(Level::kWarning,
               std::string(error.what()) +
                   "; no checkpoint was written, training continues");
}

}  // namespace dl::cluster
