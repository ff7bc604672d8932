// Sync's rounds whose gradients workers average among themselves,
// tree/all_reduce.h.

#include <algorithm>
#include <utility>

#include "libcore/cluster/master/epoch/averaging/averaging_master.h"

namespace dl::cluster {

// All workers or none: whoever takes part gets the average from the others.
std::vector<Member*> AveragingEpoch::parties() {
  std::vector<Member*> workers = context_.members.workers();
  if (workers.size() < 2 || workers.size() > kMostParties) return {};
  for (Member* member : workers) context_.outgoing.ask_to_listen(*member);
  for (Member* member : workers) {
    const bool begins = !member->in_step && !working(*member);
    if (member->seat.endpoint.empty() || !reachable(*member) ||
        (begins && !context_.outgoing.bring_up_to_date(*member)) ||
        !member->in_step)
      return {};
  }
  return workers;
}

// One that reaches the master without a line reports all; without such a one,
// each reports what it makes.
bool AveragingEpoch::tell_parties(const std::vector<Member*>& workers) {
  Parties message;
  message.id = ++context_.parties.id;
  for (const Member* member : workers)
    message.endpoints.push_back(member->seat.endpoint);
  const auto beside = std::ranges::find_if(
      workers, [](const Member* member) { return member->seat.beside; });
  context_.parties.reporter = beside == workers.end() ? 0 : (*beside)->number;
  for (Member* member : workers) {
    message.reports = beside == workers.end() ? Reports::kOwn
                      : member == *beside     ? Reports::kAll
                                              : Reports::kNone;
    if (!context_.outgoing.send(*member, message.to_message())) return false;
  }
  return true;
}

bool AveragingEpoch::plan_exchange(OpenRound& round) {
  if (!is_sync()) return false;
  const std::vector<Member*> workers = parties();
  if (workers.empty()) return false;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(workers.size());
  for (const Member* member : workers) numbers.push_back(member->number);
  if (numbers != context_.parties.members) {
    context_.parties.members.clear();
    if (!tell_parties(workers)) return false;
    context_.parties.members = numbers;
  }
  round.parties = context_.parties.id;
  round.pieces = pieces_of(
      context_.state.parameters.size() + context_.state.statistics.size(),
      std::ssize(round.examples), numbers.size());
  round.appointed.insert(numbers.begin(), numbers.end());
  round.reducers = std::move(numbers);
  return true;
}

// With the parties that there are; others come in between two rounds.
bool AveragingEpoch::goes_ahead() const {
  if (!is_sync() || rounds_.front().parties != context_.parties.id)
    return false;
  const std::vector<Member*> workers = context_.members.workers();
  return std::ranges::equal(workers, context_.parties.members, {},
                            &Member::number) &&
         std::ranges::all_of(workers, [&](const Member* member) {
           return member->in_step && reachable(*member);
         });
}

// Whether it is this member who tells the piece.
bool AveragingEpoch::tells(const Member& member, const Mean& mean,
                           const OpenRound& round) const {
  const Piece* piece = piece_at(round.pieces, mean.first, mean.values.size());
  if (!piece) return false;
  const std::uint64_t reporter = context_.parties.reporter;
  return member.number ==
         (reporter == 0 ? round.reducers[piece->owner] : reporter);
}

// One of a round that is over, or that the master sums, comes late.
void AveragingEpoch::take_mean(const Member& member, Mean mean) {
  const auto found =
      std::ranges::find(rounds_, mean.round, &OpenRound::version);
  if (found == rounds_.end() && mean.round <= context_.state.version) return;
  if (found == rounds_.end() || !found->appointed.contains(member.number))
    throw Error{Code::kProtocol, "Mean: nobody asked for it"};
  OpenRound& round = *found;
  if (round.parties == 0 || round.missing == 0) return;
  if (!mean.why.empty()) return reduction_failed(round, mean.why);
  if (mean.parties != round.parties || !tells(member, mean, round))
    throw Error{Code::kProtocol, "Mean: another tells it"};
  if (const std::string why = fault_of(mean, round); !why.empty())
    return reduction_failed(round, why);
  const std::size_t count = mean.values.size();
  if (!round.come.emplace(mean.first, std::move(mean.values)).second) return;
  round.values_come += count;
  if (round.values_come < result_elements()) return;
  context_.reduction = {};
  round.is_averaged = true;
  settle(round, mean.counts);
  end_rounds();
}

// Why the average cannot be used; "": it can.
std::string AveragingEpoch::fault_of(const Mean& mean,
                                     const OpenRound& round) const {
  if (mean.counts.size() != round.slots())
    return "it is the average of another round";
  if (std::string why = fault_of(mean.counts, 0, round); !why.empty())
    return why;
  if (!(static_cast<double>(largest_magnitude(mean.values)) <= most_value_))
    return "its values are not finite, or nearly so";
  return "";
}

}  // namespace dl::cluster
