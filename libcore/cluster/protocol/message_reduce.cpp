// Messages about sums of Results, message_averaging.h.

#include <cmath>

#include "libcore/cluster/protocol/message_averaging.h"
#include "libcore/cluster/protocol/message_fields.h"

namespace dl::cluster {

Message Reduce::to_message() const {
  return {MessageType::kReduce,
          {{"round", round},
           {"level", level},
           {"first", first},
           {"count", count},
           {"parameters", parameters},
           {"up", up}},
          {}};
}

Reduce Reduce::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kReduce, 0,
                {"round", "level", "first", "count", "parameters", "up"});
  Reduce reduce;
  reduce.round = number_of(body, "round");
  reduce.level = body.at("level").integer(1, kMostLevels);
  reduce.parameters = count_of(body, "parameters");
  reduce.first = count_of(body, "first");
  reduce.count = body.at("count").integer(1, kMaxInteger - reduce.first);
  reduce.up = endpoint_of(body, "up");
  return reduce;
}

Json SlotCount::to_json() const {
  return {{"lease", lease},
          {"fence", fence},
          {"examples", examples},
          {"loss_sum", loss_sum}};
}

SlotCount SlotCount::from_json(const JsonView& json) {
  return {number_of(json, "lease"), number_of(json, "fence"),
          count_of(json, "examples"), json.at("loss_sum").number()};
}

std::vector<SlotCount> slot_counts_of(const JsonView& list) {
  std::vector<SlotCount> counts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonView slot = list.at(i);
    slot.only({"lease", "fence", "examples", "loss_sum"});
    counts.push_back(SlotCount::from_json(slot));
  }
  return counts;
}

Message Reduced::to_message() const {
  Json list = Json::array();
  for (const SlotCount& slot : counts) list.push_back(slot.to_json());
  return {MessageType::kReduced,
          {{"round", round},
           {"level", level},
           {"first", first},
           {"slots", list},
           {"why", printable(why, kMaxReason)}},
          blobs_of(delta, floats_to_blob(statistics),
                   floats_to_blob(updater_state))};
}

Reduced Reduced::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kReduced, 3,
                                  {"round", "level", "first", "slots", "why"});
  Reduced reduced;
  reduced.round = number_of(body, "round");
  reduced.level = body.at("level").integer(1, kMostLevels);
  reduced.first = count_of(body, "first");
  reduced.counts = slot_counts_of(body.at("slots"));
  reduced.why = text_of(body, "why", kMaxReason);
  reduced.delta = message.blobs[0];
  reduced.statistics = blob_to_floats(message, 1);
  reduced.updater_state = blob_to_floats(message, 2);
  return reduced;
}

Message Direct::to_message() const {
  return {MessageType::kDirect, {{"round", round}, {"pulled", pulled}}, {}};
}

Direct Direct::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kDirect, 0, {"round", "pulled"});
  return {number_of(body, "round"), body.at("pulled").boolean()};
}

Message Pull::to_message() const {
  return {
      MessageType::kPull,
      {{"lease", lease}, {"fence", fence}, {"first", first}, {"count", count}},
      {}};
}

Pull Pull::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kPull, 0,
                                  {"lease", "fence", "first", "count"});
  Pull pull;
  pull.lease = number_of(body, "lease");
  pull.fence = number_of(body, "fence");
  pull.count = body.at("count").integer(0, kLargestPiece);
  pull.first = body.at("first").integer(0, kMaxInteger - pull.count);
  return pull;
}

Message Slice::to_message() const {
  return {MessageType::kSlice,
          {{"lease", lease}, {"fence", fence}, {"first", first}},
          blobs_of(floats_to_blob(values))};
}

Slice Slice::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kSlice, 1, {"lease", "fence", "first"});
  Slice slice;
  slice.lease = number_of(body, "lease");
  slice.fence = number_of(body, "fence");
  slice.first = count_of(body, "first");
  slice.values = blob_to_floats(message, 0);
  return slice;
}

}  // namespace dl::cluster
