#include "libcore/cluster/reducer.h"

#include <optional>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/message_fields.h"
#include "libcore/exchange/average.h"
#include "libcore/exchange/delta.h"

namespace dl::cluster {

namespace {

// Slots of a part at this level.
std::int64_t slots_at(std::int64_t level) {
  std::int64_t slots = 1;
  while (level-- > 0) slots *= exchange::kAverageGroup;
  return slots;
}

// Of a Round or a State, without its vectors.
std::uint64_t version_of(const Message& message) {
  return number_of(JsonView(message.body, Code::kProtocol, "version"),
                   "version");
}

std::vector<float> decoded(std::span<const std::byte> delta,
                           std::int64_t elements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  exchange::decode_delta(delta, 1, values);
  return values;
}

// The three averages of a round, over some of its slots.
class Sums {
 public:
  Sums(std::size_t slots, std::size_t parameters, std::size_t statistics,
       std::size_t updater_state)
      : deltas_(slots, parameters),
        statistics_(slots, statistics),
        updater_state_(slots, updater_state) {}

  void put(std::size_t slot, std::vector<float> delta, Result result) {
    const auto weight = static_cast<double>(result.examples);
    deltas_.put(slot, std::move(delta), weight);
    statistics_.put(slot, std::move(result.statistics), weight);
    updater_state_.put(slot, std::move(result.updater_state), weight);
  }
  void put(std::size_t first, std::vector<float> delta, Reduced part) {
    double weight = 0;
    for (const SlotCount& slot : part.counts)
      weight += static_cast<double>(slot.examples);
    const std::size_t count = part.counts.size();
    deltas_.put_sum(first, count, {std::move(delta), weight});
    statistics_.put_sum(first, count, {std::move(part.statistics), weight});
    updater_state_.put_sum(first, count,
                           {std::move(part.updater_state), weight});
  }
  void finish(Reduced& reduced) const {
    exchange::encode_delta(deltas_.sum().values, {}, {}, reduced.delta);
    reduced.statistics = statistics_.sum().values;
    reduced.updater_state = updater_state_.sum().values;
  }

 private:
  exchange::Average deltas_, statistics_, updater_state_;
};

}  // namespace

void Reducer::begin_session() {
  own_.clear();
  slots_.clear();
  kept_.clear();
  orders_.clear();
  parts_.clear();
  sent_.clear();
  direct_.clear();
  for_master_.clear();
}

void Reducer::from_master(const Message& message) {
  switch (message.type) {
    case MessageType::kTask: {
      const Task task = Task::from_message(message);
      if (!task.slot.reducer.empty()) slots_[task.lease] = task.slot;
      return;
    }
    case MessageType::kReduce: {
      const Reduce order = Reduce::from_message(message);
      const Key key{order.round, order.level, order.first};
      orders_[key] = order;
      return try_to_reduce(key);
    }
    case MessageType::kDirect:
      return go_direct(Direct::from_message(message).round);
    case MessageType::kRound:
      return end_rounds(version_of(message));
    case MessageType::kState:
      // It has ended this worker's tasks.
      slots_.clear();
      kept_.clear();
      return end_rounds(version_of(message));
    default:
      return;
  }
}

void Reducer::take_result(Message message) {
  Result result = Result::from_message(message);
  const auto slot = slots_.find(result.lease);
  if (slot == slots_.end() || direct_.contains(result.round))
    return for_master_.push_back(std::move(message));
  const std::string endpoint = slot->second.reducer;
  slots_.erase(slot);
  kept_[result.lease] = {result.round, endpoint, message};
  result.elsewhere = true;
  result.delta.clear();
  result.statistics.clear();
  result.updater_state.clear();
  for_master_.push_back(result.to_message());
  send(endpoint, std::move(message));
}

void Reducer::send(const std::string& endpoint, Message message) {
  if (endpoint.empty())
    for_master_.push_back(std::move(message));
  else if (endpoint == own_)
    from_worker(message);
  else
    link_.send_to_reducer(endpoint, message);
}

void Reducer::from_worker(const Message& message) {
  if (message.type == MessageType::kResult) {
    const Result result = Result::from_message(message);
    take_part({result.round, 0, result.slot}, message);
  } else if (message.type == MessageType::kReduced) {
    const Reduced part = Reduced::from_message(message);
    take_part({part.round, part.level, part.first}, message);
  }
}

void Reducer::take_part(const Key& key, const Message& message) {
  if (direct_.contains(key.round)) return;
  parts_[key] = message;
  const std::int64_t whole = slots_at(key.level + 1);
  try_to_reduce({key.round, key.level + 1, key.first / whole * whole});
}

void Reducer::try_to_reduce(const Key& key) {
  const auto found = orders_.find(key);
  if (found == orders_.end()) return;
  const Reduce order = found->second;
  const std::int64_t end = order.first + order.count;
  std::vector<Message> parts;
  for (Key part{key.round, key.level - 1, key.first}; part.first < end;
       part.first += slots_at(part.level)) {
    const auto there = parts_.find(part);
    if (there == parts_.end()) return;
    parts.push_back(there->second);
  }
  orders_.erase(found);
  Reduced reduced;
  std::string to = order.up;
  try {
    reduced = reduce(order, parts);
  } catch (const Error& error) {
    reduced.why = error.what();
    to.clear();
  }
  reduced.round = key.round;
  reduced.level = key.level;
  reduced.first = key.first;
  sent_[key] = to;
  send(to, reduced.to_message());
}

Reduced Reducer::reduce(const Reduce& order,
                        const std::vector<Message>& parts) {
  Reduced reduced;
  std::optional<Sums> sums;
  const auto begin = [&](std::size_t statistics, std::size_t updater_state) {
    if (!sums)
      sums.emplace(static_cast<std::size_t>(order.count),
                   static_cast<std::size_t>(order.parameters), statistics,
                   updater_state);
  };
  for (const Message& message : parts) {
    if (message.type == MessageType::kResult) {
      Result result = Result::from_message(message);
      begin(result.statistics.size(), result.updater_state.size());
      reduced.counts.push_back(
          {result.lease, result.fence, result.examples, result.loss_sum});
      auto delta = decoded(result.delta, order.parameters);
      sums->put(static_cast<std::size_t>(result.slot - order.first),
                std::move(delta), std::move(result));
    } else {
      Reduced part = Reduced::from_message(message);
      begin(part.statistics.size(), part.updater_state.size());
      reduced.counts.insert(reduced.counts.end(), part.counts.begin(),
                            part.counts.end());
      auto delta = decoded(part.delta, order.parameters);
      sums->put(static_cast<std::size_t>(part.first - order.first),
                std::move(delta), std::move(part));
    }
  }
  sums->finish(reduced);
  return reduced;
}

void Reducer::lost(const std::string& endpoint) {
  for (auto at = kept_.begin(); at != kept_.end();) {
    if (at->second.endpoint != endpoint) {
      ++at;
      continue;
    }
    for_master_.push_back(std::move(at->second.message));
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

void Reducer::go_direct(std::uint64_t round) {
  direct_.insert(round);
  for (auto& [lease, kept] : kept_)
    if (kept.round == round) for_master_.push_back(std::move(kept.message));
  std::erase_if(kept_, [&](const auto& e) { return e.second.round == round; });
  const auto of_round = [&](const auto& e) { return e.first.round == round; };
  std::erase_if(orders_, of_round);
  std::erase_if(parts_, of_round);
  std::erase_if(sent_, of_round);
}

void Reducer::end_rounds(std::uint64_t version) {
  const auto over = [&](const auto& e) { return e.first.round <= version; };
  std::erase_if(orders_, over);
  std::erase_if(parts_, over);
  std::erase_if(sent_, over);
  std::erase_if(kept_,
                [&](const auto& e) { return e.second.round <= version; });
  std::erase_if(slots_,
                [&](const auto& e) { return e.second.round <= version; });
  std::erase_if(direct_, [&](std::uint64_t r) { return r <= version; });
}

std::vector<Message> Reducer::take_for_master() {
  return std::exchange(for_master_, {});
}

}  // namespace dl::cluster
