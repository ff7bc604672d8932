#include "libcore/cluster/master/epoch/evaluation_master.h"

#include <algorithm>

#include "libcore/cluster/master/members/stragglers.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kLease = 8;  // mini-batches, whoever asks

}  // namespace

EvaluationRound::EvaluationRound(RunContext& context)
    : Phase(context),
      order_(context.evaluation, context.settings.batch, context.settings.seed,
             0, false),
      table_(order_.batches(), context.next_lease) {}

void EvaluationRound::tick() {
  if (winding_up_) return;
  for (Member* member : context_.members.workers()) {
    if (!table_.any_free()) return speculate();
    if (!reachable(*member) || working(*member)) continue;
    if (!context_.outgoing.bring_up_to_date(*member)) continue;
    const auto lease = table_.grant(
        member->number, kLease, table_.batches(),
        [&](std::int64_t batch) { return may_do(*member, batch); });
    if (!lease) continue;
    note_begun(*member, context_.now);
    send_task(*member, *lease, context_.state.iteration);
  }
}

void EvaluationRound::speculate() {
  const auto usual = [&](const Member&) { return median_seconds(); };
  for (const Lease& lease : overdue(usual)) {
    Member* member = idle_worker();
    if (!member) return;
    const auto copy = table_.copy(lease.id, member->number);
    if (!copy) continue;
    note_begun(*member, context_.now);
    send_task(*member, *copy, context_.state.iteration);
  }
}

// Median time of finished work; 0: nothing is.
double EvaluationRound::median_seconds() {
  if (seconds_.empty()) return 0;
  const auto middle =
      seconds_.begin() + static_cast<std::ptrdiff_t>(seconds_.size() / 2);
  std::ranges::nth_element(seconds_, middle);
  return *middle;
}

void EvaluationRound::take(Member& member, const Message& message) {
  if (message.type == MessageType::kTaskDone)
    take_done(member, TaskDone::from_message(message));
  else if (message.type == MessageType::kFault)
    take_fault(member, Fault::from_message(message));
  else
    refuse_late(member, message);
}

void EvaluationRound::take_done(Member& member, const TaskDone& done) {
  const Lease* held = table_.find(done.lease, done.fence);
  if (!held || held->worker != member.number)
    return context_.answers.refuse(member, done.lease, done.fence);
  const Lease lease = *held;
  const std::vector<std::string>& kinds = context_.settings.evaluations;
  if (!done.statistics.empty() || done.evaluations.size() != kinds.size() ||
      done.examples != order_.examples(lease.first, lease.count))
    throw Error{Code::kProtocol, "TaskDone: it does not fit its Task"};
  Evaluations part;
  try {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      part.push_back(eval::evaluation_from_json(
          JsonView(done.evaluations[i], Code::kProtocol)));
      // Results that cannot be merged are found now, not at the end.
      eval::make_chosen(kinds[i], context_.subjects)->merge(*part[i]);
    }
  } catch (const Error& error) {
    table_.finish(lease.id);
    return context_.answers.reject(member, lease.first, error.what());
  }
  table_.commit(lease.id, lease.fence, lease.first, lease.count);
  losses_.settle(lease.first, lease.count);
  seconds_.push_back((context_.now - member.busy_since) /
                     static_cast<double>(lease.count));
  end_twin(lease);
  table_.finish(lease.id);
  parts_[lease.first] = std::move(part);
}

EvaluationRound::Evaluations EvaluationRound::result() const {
  Evaluations merged;
  for (const auto& [first, part] : parts_) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (merged.size() <= i) {
        const Json json = part[i]->to_json();
        merged.push_back(
            eval::evaluation_from_json(JsonView(json, Code::kBug)));
      } else {
        merged[i]->merge(*part[i]);
      }
    }
  }
  return merged;
}

}  // namespace dl::cluster
