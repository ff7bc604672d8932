#include "libcore/cluster/master/epoch/averaging/round_end.h"

#include <algorithm>
#include <span>
#include <utility>

#include "libcore/base/aside.h"
#include "libcore/base/heap.h"
#include "libcore/cluster/health/step_bound.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

double reach(std::span<const float> values) {
  return static_cast<double>(largest_magnitude(values));
}

// Copies the pieces to their places, and frees each; those behind the end are
// left out.
void join(std::map<std::int64_t, std::vector<float>>& pieces,
          std::span<float> values) {
  HeapTrimmer trimmer(values.size_bytes());
  for (auto& [at, piece] : pieces) {
    const auto first = std::min(static_cast<std::size_t>(at), values.size());
    const auto to = values.subspan(first);
    std::ranges::copy(std::span(piece).first(std::min(piece.size(), to.size())),
                      to.begin());
    trimmer.freed(sizeof(float) * piece.size());
    piece = std::vector<float>();
  }
}

}  // namespace

Reach reach_of(const RunState& state) {
  return {reach(state.parameters), reach(state.velocity),
          reach(state.residual)};
}

RoundEnd::RoundEnd(RoundAverage average, const RunState& state, bool aside)
    : aside_(aside), outer_(average.outer) {
  const auto shared = std::make_shared<RoundAverage>(std::move(average));
  step_ = begin_aside(
      aside_, [shared, &state] { return step(std::move(*shared), state); });
}

RoundEnd::~RoundEnd() = default;  // as futures of std::async do

bool RoundEnd::ready() const { return is_over(step_) && is_over(entry_); }

void RoundEnd::wait() const {
  if (step_.valid()) step_.wait();
  if (entry_.valid()) entry_.wait();
}

// Each vector takes as much memory as the parameters, so there are as few of
// them at a time as can be.
RoundEnd::Made RoundEnd::step(RoundAverage average, const RunState& state) {
  Made made;
  made.round = std::move(average.round);
  made.residual = state.residual;
  if (average.average) {
    std::vector<float> values = std::move(*average.average);
    values.resize(state.parameters.size());
    join(average.pieces, values);
    exchange::encode_delta(values, average.format, made.residual,
                           made.round.delta);
    // All take the step from what was coded.
    if (average.format.lossy()) exchange::read_delta(made.round.delta, values);
    made.vectors = step_from(std::move(values), average.outer, state);
  }
  const std::vector<float>& parameters =
      made.vectors ? made.vectors->parameters : state.parameters;
  if (!average.whole)
    made.round.digest = io::digest(std::as_bytes(std::span(parameters)));
  const bool moves = made.vectors && !made.vectors->velocity.empty();
  made.reach = {reach(parameters),
                reach(moves ? made.vectors->velocity : state.velocity),
                reach(made.residual)};
  return made;
}

void RoundEnd::end_step() { made_ = step_.get(); }

void RoundEnd::begin_entry(UpdateLog& log, LogEntry entry, std::int64_t steps) {
  entry_ = begin_aside(aside_, [this, &log, entry, steps]() mutable {
    const std::vector<std::byte> payload =
        encode_round_record(made_.round, outer_, steps, made_.residual);
    entry.payload = payload;
    entry.rest = made_.round.delta;
    log.append(entry);
  });
}

void RoundEnd::end_entry() {
  if (entry_.valid()) entry_.get();
}

Reach RoundEnd::move_into(RunState& state) {
  if (made_.vectors) std::move(*made_.vectors).move_into(state);
  state.residual = std::move(made_.residual);
  return made_.reach;
}

}  // namespace dl::cluster
