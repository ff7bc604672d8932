#include "libcore/cluster/tree/all_reduce.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

namespace {

// The master may tell of others round after round, while one is open here.
constexpr std::size_t kMostGroups = 16;
constexpr std::int64_t kFloat = sizeof(float);

// Whether a Round's average is with the parties.
bool is_held(const Message& round) {
  return JsonView(round.body, Code::kProtocol, "Round").at("held").boolean();
}

}  // namespace

void AllReduce::begin_session(const Sizes& sizes) {
  sizes_ = sizes;
  own_endpoint_.clear();
  groups_.clear();
  own_.clear();
  open_.clear();
  early_.clear();
  early_bytes_ = 0;
  direct_.clear();
  pulled_.clear();
  over_ = newest_ = taken_ = 0;
  for_master_.clear();
  trimmer_ = HeapTrimmer(sizeof(float) * elements());
}

void AllReduce::from_master(const Message& message) {
  switch (message.type) {
    case MessageType::kParties:
      return take_parties(Parties::from_message(message));
    case MessageType::kTask:
      return take_task(Task::from_message(message));
    case MessageType::kDirect:
      return go_direct(Direct::from_message(message));
    case MessageType::kState:
      // It has ended this worker's tasks.
      own_.clear();
      taken_ = number_of(message, "version");
      return end_rounds(taken_);
    case MessageType::kRound:
      newest_ = std::max(newest_, number_of(message, "version"));
      return;
    default:
      return;
  }
}

void AllReduce::take_task(const Task& task) {
  newest_ = std::max(newest_, task.slot.round);
  if (task.slot.pulled) pulled_.insert(task.slot.round);
  if (!group_of(task.slot.round, task.slot.parties)) return;
  Round& step = opened(task.slot.round, task.slot.slots).step;
  step.version = task.slot.round;
  step.iteration = task.iteration;
  step.epoch = task.epoch;
  step.factor = task.factor;
  step.held = true;
}

void AllReduce::take_parties(const Parties& parties) {
  Group& group = groups_[parties.id];
  group.endpoints = parties.endpoints;
  group.own = static_cast<std::size_t>(
      std::ranges::find(parties.endpoints, own_endpoint_) -
      parties.endpoints.begin());
  group.reports = parties.reports;
  while (groups_.size() > kMostGroups) groups_.erase(groups_.begin());
  early_bytes_ = 0;
  for (Message& message : std::exchange(early_, {})) {
    try {
      from_worker(std::move(message));
    } catch (const Error&) {  // the round goes on without it
    }
  }
}

void AllReduce::take_own(Message message) {
  Part part = Part::without_values(message);
  const std::uint64_t lease = part.count.lease;
  Own& own = own_[lease];
  const std::size_t before = own.parts.size();
  if (before == 0) own.pieces = pieces_of(elements(), part.slots);
  require(before < own.pieces.size() &&
              std::cmp_equal(own.pieces[before].first, part.first) &&
              own.pieces[before].count * sizeof(float) ==
                  message.blobs.front().size(),
          "a part of a slot that is not its next piece");
  own.what = std::move(part);
  own.parts.push_back(std::make_shared<const Message>(std::move(message)));
  const Group* group = group_of(own.what.round, own.what.parties);
  if (group) send_parts(own, *group);
  if (!own.whole()) return;
  const bool kept = group || pulled_.contains(own.what.round);
  for_master_.push_back(result_of(own, kept));
  if (!kept) own_.erase(lease);
}

void AllReduce::send_parts(Own& own, const Group& group) {
  for (; own.sent < own.parts.size(); ++own.sent) {
    const std::size_t owner = group.owner_of(own.sent);
    const SharedMessage& part = own.parts[own.sent];
    if (owner == group.own)
      take_part(Part::from_message(*part));
    else
      link_.send_to_reducer(group.endpoints[owner], part);
  }
}

// elsewhere: the vectors stay with workers.
Message AllReduce::result_of(const Own& own, bool elsewhere) const {
  Result result;
  result.lease = own.what.count.lease;
  result.fence = own.what.count.fence;
  result.round = own.what.round;
  result.slot = own.what.slot;
  result.elsewhere = elsewhere;
  result.examples = own.what.count.examples;
  result.loss_sum = own.what.count.loss_sum;
  if (elsewhere) return result.to_message();
  std::vector<float> all(elements());
  for (const SharedMessage& message : own.parts) {
    const Part part = Part::from_message(*message);
    std::ranges::copy(part.values, all.begin() + part.first);
  }
  const auto parameters = static_cast<std::size_t>(sizes_.parameters);
  exchange::encode_delta(std::span(all).first(parameters), {}, {},
                         result.delta);
  result.statistics.assign(all.begin() + sizes_.parameters, all.end());
  return result.to_message();
}

const AllReduce::Group* AllReduce::group_of(std::uint64_t round,
                                            std::uint64_t parties) const {
  const auto found = groups_.find(parties);
  const bool wanted =
      !is_over(round) && round <= std::max(over_, newest_) + kRoundsAhead;
  return wanted && found != groups_.end() ? &found->second : nullptr;
}

// The round, of so many slots.  Throws Error: kProtocol, it has another number.
AllReduce::Open& AllReduce::opened(std::uint64_t round, std::int64_t slots) {
  Open& open = open_[round];
  if (open.slots == 0) {
    open.slots = slots;
    open.pieces = pieces_of(elements(), slots);
  }
  if (open.slots != slots)
    throw Error{Code::kProtocol, "round " + std::to_string(round) + " has " +
                                     std::to_string(open.slots) +
                                     " slots, and not " +
                                     std::to_string(slots)};
  return open;
}

// Whether a message is for parties that the master has not told of yet: keeps
// it.
bool AllReduce::is_early(const Message& message) {
  const std::uint64_t known = groups_.empty() ? 0 : groups_.rbegin()->first;
  if (number_of(message, "parties") <= known) return false;
  const std::uint64_t bytes = early_bytes_ + size_of(message);
  if (bytes > 2 * kMostParties * sizeof(float) * elements()) return true;
  early_bytes_ = bytes;
  early_.push_back(message);
  return true;
}

void AllReduce::from_worker(Message message) {
  if (is_early(message)) return;
  if (message.type == MessageType::kPart)
    take_part(Part::from_message(message));
  else
    take_mean(std::move(message));
}

void AllReduce::take_part(Part part) {
  const Group* group = group_of(part.round, part.parties);
  if (!group) return;
  Open& open = opened(part.round, part.slots);
  const Piece* piece = piece_at(open.pieces, part.first, part.values.size());
  if (!piece || group->owner_of(open.index_of(*piece)) != group->own)
    throw Error{Code::kProtocol, "Part: it is another's to average"};
  Gathering& gathering = open.gathering[piece->first];
  if (gathering.done) return;
  // A slot that was leased again has another Part, whichever comes last.
  const auto before = gathering.parts.find(part.slot);
  if (before != gathering.parts.end() &&
      before->second.count.lease > part.count.lease)
    return;
  gathering.parts[part.slot] = {part.count, std::move(part.values)};
  if (std::cmp_equal(gathering.parts.size(), part.slots))
    average(part.round, *group, part.parties, piece->first, gathering);
}

void AllReduce::average(std::uint64_t round, const Group& group,
                        std::uint64_t parties, std::size_t first,
                        Gathering& gathering) {
  Mean mean;
  mean.round = round;
  mean.parties = parties;
  mean.first = static_cast<std::int64_t>(first);
  const std::size_t count = gathering.parts.begin()->second.values.size();
  exchange::Average sums(gathering.parts.size(), count);
  try {
    std::size_t slot = 0;
    for (auto& [index, part] : gathering.parts) {
      mean.counts.push_back(part.count);
      sums.put(slot++, std::move(part.values),
               static_cast<double>(part.count.examples));
    }
    mean.values = sums.result();
  } catch (const Error& error) {
    mean.counts.clear();
    mean.why = error.what();
  }
  trimmer_.freed(sizeof(float) * count * gathering.parts.size());
  gathering.parts.clear();
  gathering.done = true;
  failpoint("worker.before_mean");
  if (!mean.why.empty()) return for_master_.push_back(mean.to_message());
  const auto message = std::make_shared<const Message>(mean.to_message());
  for (std::size_t i = 0; i < group.endpoints.size(); ++i)
    if (i != group.own) link_.send_to_reducer(group.endpoints[i], message);
  take_mean(*message);
}

void AllReduce::take_mean(Message message) {
  const Mean mean = Mean::without_values(message);
  const Group* group = group_of(mean.round, mean.parties);
  if (!group) return;
  if (mean.counts.empty()) throw Error{Code::kProtocol, "Mean: of no slots"};
  Open& open = opened(mean.round, std::ssize(mean.counts));
  std::vector<std::byte>& values = message.blobs.front();
  const Piece* piece =
      piece_at(open.pieces, mean.first, values.size() / sizeof(float));
  if (!piece || values.size() % sizeof(float) != 0)
    throw Error{Code::kProtocol, "Mean: of no piece"};
  open.parties = mean.parties;
  open.averages.resize(open.pieces.size());
  const std::size_t index = open.index_of(*piece);
  if (!open.averages[index].empty()) return;
  ++open.come;
  const bool own = group->owner_of(index) == group->own;
  if (group->reports == Reports::kAll ||
      (group->reports == Reports::kOwn && own)) {
    open.averages[index] = values;
    for_master_.push_back(std::move(message));
  } else {
    open.averages[index] = std::move(values);
  }
}

bool AllReduce::is_whole(std::uint64_t round, const Open& open) const {
  return group_of(round, open.parties) && open.come == open.pieces.size();
}

void AllReduce::move_averages(Open& open, Message& round) {
  for (std::vector<std::byte>& piece : open.averages)
    round.blobs.push_back(std::move(piece));
  open.averages.clear();
}

std::optional<Message> AllReduce::take_next() {
  const auto found = open_.find(taken_ + 1);
  if (found == open_.end() || found->second.step.version == 0 ||
      !is_whole(found->first, found->second))
    return std::nullopt;
  Message round = found->second.step.to_message();
  move_averages(found->second, round);
  ++taken_;
  return round;
}

bool AllReduce::complete(Message& round) {
  const std::uint64_t version = number_of(round, "version");
  if (is_held(round) && version > taken_) {
    const auto found = open_.find(version);
    if (found == open_.end() || !is_whole(version, found->second)) return false;
    move_averages(found->second, round);
  }
  if (const auto found = open_.find(version); found != open_.end())
    groups_.erase(groups_.begin(), groups_.find(found->second.parties));
  taken_ = std::max(taken_, version);
  end_rounds(version);
  return true;
}

bool AllReduce::is_over(const Message& part) const {
  return part.type == MessageType::kPart && is_over(number_of(part, "round"));
}

void AllReduce::lost(const std::string& endpoint) {
  for (const auto& [lease, own] : own_) {
    const Group* group = group_of(own.what.round, own.what.parties);
    if (!group || std::ranges::count(group->endpoints, endpoint) == 0) continue;
    Mean failed;
    failed.round = own.what.round;
    failed.parties = own.what.parties;
    failed.why = endpoint + " cannot be reached";
    for_master_.push_back(failed.to_message());
  }
}

void AllReduce::go_direct(const Direct& direct) {
  if (direct.round <= over_) return;
  direct_.insert(direct.round);
  if (direct.pulled) pulled_.insert(direct.round);
  const auto concerns = [&](const Own& own) {
    return own.what.round == direct.round && own.whole();
  };
  for (const auto& [lease, own] : own_)
    if (concerns(own)) for_master_.push_back(result_of(own, direct.pulled));
  if (!direct.pulled)
    std::erase_if(own_, [&](const auto& e) { return concerns(e.second); });
  open_.erase(direct.round);
}

std::vector<float> AllReduce::slice(const Pull& pull) const {
  const auto found = own_.find(pull.lease);
  const std::int64_t end = pull.first + pull.count;
  if (found == own_.end() || !found->second.whole() ||
      std::cmp_greater(end, elements()))
    return {};
  std::vector<float> values(static_cast<std::size_t>(pull.count));
  for (const SharedMessage& message : found->second.parts) {
    const auto& part = message->blobs.front();
    const auto begin = static_cast<std::int64_t>(number_of(*message, "first"));
    const std::int64_t from = std::max(begin, pull.first);
    const std::int64_t to = std::min(begin + std::ssize(part) / kFloat, end);
    if (from < to)
      std::memcpy(values.data() + (from - pull.first),
                  part.data() + kFloat * (from - begin),
                  static_cast<std::size_t>(kFloat * (to - from)));
  }
  return values;
}

void AllReduce::give_held() {
  const auto is_held = [&](const Own& own) {
    return pulled_.contains(own.what.round) && own.whole();
  };
  for (const auto& [lease, own] : own_)
    if (is_held(own)) for_master_.push_back(result_of(own, false));
  std::erase_if(own_, [&](const auto& e) { return is_held(e.second); });
}

void AllReduce::end_rounds(std::uint64_t version) {
  over_ = std::max(over_, version);
  std::erase_if(open_, [&](const auto& e) { return e.first <= version; });
  const std::size_t slots = std::erase_if(
      own_, [&](const auto& e) { return e.second.what.round <= version; });
  trimmer_.freed(sizeof(float) * elements() * slots);
  std::erase_if(direct_, [&](std::uint64_t r) { return r <= version; });
  std::erase_if(pulled_, [&](std::uint64_t r) { return r <= version; });
}

std::vector<Message> AllReduce::take_for_master() {
  return std::exchange(for_master_, {});
}

}  // namespace dl::cluster
