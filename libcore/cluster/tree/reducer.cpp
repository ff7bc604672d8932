#include "libcore/cluster/tree/reducer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

namespace {

// So many parts may come before the order to sum them: of two sums.
constexpr std::uint64_t kEarlyParts = 2 * exchange::kAverageGroup;

// Slots of a part at this level.
std::int64_t slots_at(std::int64_t level) {
  std::int64_t slots = 1;
  while (level-- > 0) slots *= exchange::kAverageGroup;
  return slots;
}

// The three averages of a round, over some of its slots.
class Sums {
 public:
  Sums(const Reduce& order, const Message& part)
      : order_(order),
        deltas_(count(), static_cast<std::size_t>(order.parameters)),
        statistics_(count(), floats(part, 1)),
        updater_state_(count(), floats(part, 2)) {}

  void put(const Message& part) {
    if (part.type == MessageType::kResult) {
      const auto slot = place(number_of(part, "slot"));
      const double weight = count_slot(part.body);
      deltas_.put(slot, delta(part), weight);
      statistics_.put(slot, blob_to_floats(part, 1), weight);
      updater_state_.put(slot, blob_to_floats(part, 2), weight);
      return;
    }
    const auto first = place(number_of(part, "first"));
    double weight = 0;
    const Json& slots = part.body.at("slots");
    for (const Json& slot : slots) weight += count_slot(slot);
    deltas_.put_sum(first, slots.size(), {delta(part), weight});
    statistics_.put_sum(first, slots.size(), {blob_to_floats(part, 1), weight});
    updater_state_.put_sum(first, slots.size(),
                           {blob_to_floats(part, 2), weight});
  }
  Reduced finish() {
    exchange::encode_delta(deltas_.sum().values, {}, {}, reduced_.delta);
    reduced_.statistics = statistics_.sum().values;
    reduced_.updater_state = updater_state_.sum().values;
    return std::move(reduced_);
  }

 private:
  static std::size_t floats(const Message& part, std::size_t blob) {
    return part.blobs[blob].size() / sizeof(float);
  }
  std::size_t count() const { return static_cast<std::size_t>(order_.count); }
  std::size_t place(std::uint64_t slot) const {
    return static_cast<std::size_t>(slot) -
           static_cast<std::size_t>(order_.first);
  }
  // Returns its examples.
  double count_slot(const Json& json) {
    reduced_.counts.push_back(
        SlotCount::from_json(JsonView(json, Code::kProtocol, "slot")));
    return static_cast<double>(reduced_.counts.back().examples);
  }
  std::vector<float> delta(const Message& part) const {
    std::vector<float> values(static_cast<std::size_t>(order_.parameters));
    exchange::read_delta(part.blobs[0], values);
    return values;
  }

  const Reduce& order_;
  exchange::Average deltas_, statistics_, updater_state_;
  Reduced reduced_;
};

// parts: in the order of their slots.
Reduced reduce(const Reduce& order, std::vector<SharedMessage> parts) {
  Reduced reduced;
  try {
    Sums sums(order, *parts.front());
    for (SharedMessage& part : parts) {
      sums.put(*part);
      part.reset();  // its memory is wanted
    }
    reduced = sums.finish();
  } catch (const std::exception& error) {
    reduced = {};
    reduced.why = error.what();
  }
  reduced.round = order.round;
  reduced.level = order.level;
  reduced.first = order.first;
  return reduced;
}

// The elements that are asked for, of vectors of binary32 one behind the other;
// none: they have no such elements.
std::vector<float> slice_of(
    const std::array<std::span<const std::byte>, 3>& vectors,
    const Pull& pull) {
  std::vector<float> values;
  auto first = sizeof(float) * static_cast<std::size_t>(pull.first);
  auto left = sizeof(float) * static_cast<std::size_t>(pull.count);
  values.resize(static_cast<std::size_t>(pull.count));
  auto* to = reinterpret_cast<std::byte*>(values.data());
  for (const std::span<const std::byte> vector : vectors) {
    const std::size_t skipped = std::min(first, vector.size());
    const auto part =
        vector.subspan(skipped, std::min(left, vector.size() - skipped));
    first -= skipped;
    left -= part.size();
    to = std::ranges::copy(part, to).out;
  }
  return left == 0 ? values : std::vector<float>();
}

}  // namespace

void Reducer::begin_session(const Sizes& sizes) {
  early_most_ =
      kEarlyParts * largest_message({.from = kFromChild, .sizes = sizes});
  all_reduce_.begin_session(sizes);
  turn_.clear();
  gave_up_ = false;
  own_.clear();
  slots_.clear();
  kept_.clear();
  orders_.clear();
  parts_.clear();
  early_.clear();
  early_bytes_ = 0;
  running_.clear();
  sent_.clear();
  direct_.clear();
  pulled_.clear();
  over_ = newest_ = 0;
  for_master_.clear();
}

std::vector<Message> Reducer::from_master(std::vector<Message> messages) {
  for (Message& message : messages) {
    take(message);
    all_reduce_.from_master(message);
    switch (message.type) {
      case MessageType::kReduce:
      case MessageType::kDirect:
      case MessageType::kParties:
      case MessageType::kPull:
        break;  // not for that thread
      case MessageType::kState:
        turn_.clear();  // it has what was in them
        gave_up_ = false;
        [[fallthrough]];
      default:
        turn_.push_back(std::move(message));
    }
  }
  std::vector<Message> next;
  while (!turn_.empty()) {
    Message& front = turn_.front();
    if (front.type == MessageType::kRound && !gave_up_ &&
        !all_reduce_.complete(front))
      break;
    gave_up_ = false;
    next.push_back(std::move(front));
    turn_.pop_front();
  }
  if (turn_.empty())
    while (auto round = all_reduce_.take_next())
      next.push_back(std::move(*round));
  return next;
}

void Reducer::give_up_round() { gave_up_ = !turn_.empty(); }

void Reducer::take(const Message& message) {
  switch (message.type) {
    case MessageType::kTask: {
      const Task task = Task::from_message(message);
      newest_ = std::max(newest_, task.slot.round);
      if (!task.slot.reducer.empty()) slots_[task.lease] = task.slot;
      if (task.slot.pulled) pulled_.insert(task.slot.round);
      return;
    }
    case MessageType::kReduce:
      return take_order(Reduce::from_message(message));
    case MessageType::kDirect:
      return go_direct(Direct::from_message(message));
    case MessageType::kPull:
      return answer(Pull::from_message(message));
    case MessageType::kState:
      // It has ended this worker's tasks.
      slots_.clear();
      kept_.clear();
      [[fallthrough]];
    case MessageType::kRound:
      return end_rounds(number_of(message, "version"));
    default:
      return;
  }
}

void Reducer::take_result(Message message) {
  const std::uint64_t lease = number_of(message, "lease");
  const std::uint64_t round = number_of(message, "round");
  const auto slot = slots_.find(lease);
  const bool reduced = slot != slots_.end() && !is_over(round);
  // Pulls are for elements that have a place.
  const bool pulled = pulled_.contains(round) &&
                      exchange::is_plain_delta(message.blobs.front());
  if (!reduced && !pulled) return for_master_.push_back(std::move(message));
  const std::string endpoint = reduced ? slot->second.reducer : "";
  if (reduced) slots_.erase(slot);
  auto shared = std::make_shared<const Message>(std::move(message));
  keep(lease, {round, endpoint, shared});
  if (!reduced) return;
  if (endpoint == own_)
    take_part({round, 0, static_cast<std::int64_t>(number_of(*shared, "slot"))},
              shared);
  else
    link_.send_to_reducer(endpoint, shared);
}

// Tells the master that the Result is here.
void Reducer::keep(std::uint64_t lease, Kept kept) {
  const Message& message = *kept.message;
  Message without{message.type, message.body,
                  std::vector<std::vector<std::byte>>(message.blobs.size())};
  without.body["elsewhere"] = true;
  for_master_.push_back(std::move(without));
  kept_[lease] = std::move(kept);
}

// One of a lease that has ended is passed over.
void Reducer::answer(const Pull& pull) {
  if (pull.count == 0) {
    kept_.erase(pull.lease);
    return all_reduce_.drop(pull.lease);
  }
  failpoint("worker.before_slice");
  Slice slice;
  slice.lease = pull.lease;
  slice.fence = pull.fence;
  slice.first = pull.first;
  const auto kept = kept_.find(pull.lease);
  if (kept == kept_.end()) {
    slice.values = all_reduce_.slice(pull);
  } else {
    const auto& blobs = kept->second.message->blobs;
    slice.values =
        slice_of({exchange::plain_floats(blobs[0]), blobs[1], blobs[2]}, pull);
  }
  if (!slice.values.empty()) for_master_.push_back(slice.to_message());
}

void Reducer::give_held() {
  for (const auto& [lease, kept] : kept_)
    if (pulled_.contains(kept.round)) for_master_.push_back(*kept.message);
  std::erase_if(
      kept_, [&](const auto& e) { return pulled_.contains(e.second.round); });
  all_reduce_.give_held();
}

// One that no parties average is a Result as any other.
void Reducer::take_own(Message part) {
  all_reduce_.take_own(std::move(part));
  for (Message& message : all_reduce_.take_for_master())
    if (message.type == MessageType::kResult &&
        !message.body.at("elsewhere").get<bool>())
      take_result(std::move(message));
    else
      for_master_.push_back(std::move(message));
}

void Reducer::take_order(const Reduce& order) {
  newest_ = std::max(newest_, order.round);
  const Key key{order.round, order.level, order.first};
  orders_[key] = {order};
  std::map<Key, SharedMessage> here;
  for (auto at = early_.begin(); at != early_.end();) {
    const auto early = at++;
    if (sum_of(early->first) < key || key < sum_of(early->first)) continue;
    early_bytes_ -= size_of(*early->second);
    here.insert(early_.extract(early));
  }
  for (auto& [part, message] : here) take_part(part, std::move(message));
}

// Key of a part, by its body alone.
Reducer::Key Reducer::key_of(const Message& part) {
  const Message body{part.type, part.body,
                     std::vector<std::vector<std::byte>>(part.blobs.size())};
  if (part.type == MessageType::kResult) {
    const Result result = Result::from_message(body);
    return {result.round, 0, result.slot};
  }
  const Reduced sum = Reduced::from_message(body);
  const std::int64_t slots = slots_at(sum.level);
  if (!sum.why.empty() || sum.level >= kMostLevels || sum.first % slots != 0 ||
      std::cmp_greater(sum.counts.size(), slots))
    throw Error{Code::kProtocol, "Reduced: no part of a sum"};
  return {sum.round, sum.level, sum.first};
}

Reducer::Key Reducer::sum_of(const Key& part) {
  const std::int64_t slots = slots_at(part.level + 1);
  return {part.round, part.level + 1, part.first / slots * slots};
}

void Reducer::from_worker(Message message) {
  if (message.type == MessageType::kPart || message.type == MessageType::kMean)
    return all_reduce_.from_worker(std::move(message));
  const Key key = key_of(message);
  take_part(key, std::make_shared<const Message>(std::move(message)));
}

void Reducer::take_part(const Key& key, SharedMessage message) {
  if (is_over(key.round) || key.round > std::max(over_, newest_) + kRoundsAhead)
    return;
  const Key sum = sum_of(key);
  const auto found = orders_.find(sum);
  if (found == orders_.end()) return take_early(key, std::move(message));
  const auto& [order, summed] = found->second;
  if (summed || key.first - order.first >= order.count) return;
  parts_[key] = std::move(message);
  try_to_reduce(sum);
}

void Reducer::take_early(const Key& key, SharedMessage message) {
  const auto there = early_.find(key);
  const std::uint64_t before =
      there == early_.end() ? 0 : size_of(*there->second);
  const std::uint64_t after = early_bytes_ - before + size_of(*message);
  if (after > early_most_) return;
  early_bytes_ = after;
  early_[key] = std::move(message);
}

template <typename Which>
void Reducer::forget_early(const Which& which) {
  std::erase_if(early_, which);
  early_bytes_ = 0;
  for (const auto& [key, part] : early_) early_bytes_ += size_of(*part);
}

std::uint64_t Reducer::kept_bytes() const {
  std::uint64_t bytes = early_bytes_;
  for (const auto& [key, part] : parts_) bytes += size_of(*part);
  return bytes;
}

bool Reducer::is_over(const Message& part) const {
  if (part.type == MessageType::kPart || part.type == MessageType::kMean)
    return all_reduce_.is_over(part);
  return is_over(number_of(part, "round"));
}

void Reducer::try_to_reduce(const Key& key) {
  const auto found = orders_.find(key);
  if (found == orders_.end() || found->second.summed) return;
  const Reduce& order = found->second.reduce;
  std::vector<SharedMessage> parts;
  const std::int64_t end = order.first + order.count;
  for (Key part{key.round, key.level - 1, key.first}; part.first < end;
       part.first += slots_at(part.level)) {
    const auto there = parts_.find(part);
    if (there == parts_.end()) return;
    parts.push_back(there->second);
  }
  found->second.summed = true;
  std::erase_if(parts_, [&](const auto& entry) {
    return entry.first.round == key.round &&
           entry.first.level == key.level - 1 &&
           entry.first.first >= key.first && entry.first.first < end;
  });
  running_.push_back(
      {key, order.up,
       std::async(std::launch::async, reduce, order, std::move(parts))});
}

void Reducer::poll() {
  std::vector<Running> done;
  for (auto at = running_.begin(); at != running_.end();) {
    if (at->sum.wait_for(std::chrono::seconds(0)) !=
        std::future_status::ready) {
      ++at;
      continue;
    }
    done.push_back(std::move(*at));
    at = running_.erase(at);
  }
  for (Running& each : done) send_up(each.key, each.up, each.sum.get());
}

void Reducer::send_up(const Key& key, const std::string& up,
                      const Reduced& sum) {
  if (is_over(key.round)) return;
  failpoint("worker.before_reduced");
  const std::string to = sum.why.empty() ? up : "";
  sent_[key] = to;
  if (to.empty())
    for_master_.push_back(sum.to_message());
  else if (to == own_)
    take_part(key, std::make_shared<const Message>(sum.to_message()));
  else
    link_.send_to_reducer(to,
                          std::make_shared<const Message>(sum.to_message()));
}

void Reducer::lost(const std::string& endpoint) {
  all_reduce_.lost(endpoint);
  for (auto at = kept_.begin(); at != kept_.end();) {
    if (at->second.endpoint != endpoint) {
      ++at;
      continue;
    }
    for_master_.push_back(*at->second.message);
    at = kept_.erase(at);
  }
  for (const auto& [key, to] : sent_) {
    if (to != endpoint) continue;
    Reduced failed;
    failed.round = key.round;
    failed.level = key.level;
    failed.first = key.first;
    failed.why = endpoint + " cannot be reached";
    for_master_.push_back(failed.to_message());
  }
}

void Reducer::go_direct(const Direct& direct) {
  const std::uint64_t round = direct.round;
  direct_.insert(round);
  if (direct.pulled) pulled_.insert(round);
  for (auto& [lease, kept] : std::exchange(kept_, {}))
    if (kept.round != round)
      kept_[lease] = std::move(kept);
    else if (direct.pulled && exchange::is_plain_delta(kept.message->blobs[0]))
      keep(lease, {round, "", std::move(kept.message)});
    else
      for_master_.push_back(*kept.message);
  const auto of_round = [&](const auto& e) { return e.first.round == round; };
  std::erase_if(orders_, of_round);
  std::erase_if(parts_, of_round);
  forget_early(of_round);
  std::erase_if(sent_, of_round);
}

void Reducer::end_rounds(std::uint64_t version) {
  over_ = version;
  const auto over = [&](const auto& e) { return e.first.round <= version; };
  std::erase_if(orders_, over);
  std::erase_if(parts_, over);
  forget_early(over);
  std::erase_if(sent_, over);
  std::erase_if(kept_,
                [&](const auto& e) { return e.second.round <= version; });
  std::erase_if(slots_,
                [&](const auto& e) { return e.second.round <= version; });
  std::erase_if(direct_, [&](std::uint64_t r) { return r <= version; });
  std::erase_if(pulled_, [&](std::uint64_t r) { return r <= version; });
}

std::vector<Message> Reducer::take_for_master() {
  std::vector<Message> messages = std::exchange(for_master_, {});
  for (Message& message : all_reduce_.take_for_master())
    messages.push_back(std::move(message));
  return messages;
}

}  // namespace dl::cluster
