#include "libcore/cluster/protocol/message_sync.h"

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/protocol/message_fields.h"

namespace dl::cluster {

Message Parties::to_message() const {
  return {MessageType::kParties,
          {{"id", id},
           {"endpoints", endpoints},
           {"reports", kReportsNames.of(reports)}},
          {}};
}

Parties Parties::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kParties, 0,
                                  {"id", "endpoints", "reports"});
  Parties parties;
  parties.id = number_of(body, "id");
  const JsonView list = body.at("endpoints");
  parties.endpoints = list.strings();
  if (parties.endpoints.empty() || parties.endpoints.size() > kMostParties)
    list.fail("1 to " + std::to_string(kMostParties) + " endpoints");
  for (const std::string& endpoint : parties.endpoints)
    if (endpoint.size() > kMaxEndpoint || !tcp_address(endpoint))
      list.fail("tcp://ADDRESS:PORT of each");
  const auto reports = kReportsNames.find(body.at("reports").string());
  if (!reports) body.at("reports").fail(kReportsNames.list());
  parties.reports = *reports;
  return parties;
}

Message Part::to_message() const {
  Json body = count.to_json();
  body.update({{"round", round},
               {"parties", parties},
               {"slots", slots},
               {"slot", slot},
               {"first", first}});
  return {MessageType::kPart, std::move(body),
          blobs_of(floats_to_blob(values))};
}

Part Part::from_message(const Message& message) {
  Part part = without_values(message);
  part.values = blob_to_floats(message, 0);
  return part;
}

Part Part::without_values(const Message& message) {
  const JsonView body = open_body(message, MessageType::kPart, 1,
                                  {"round", "parties", "slots", "slot", "first",
                                   "lease", "fence", "examples", "loss_sum"});
  Part part;
  part.round = number_of(body, "round");
  part.parties = number_of(body, "parties");
  part.slots = body.at("slots").integer(1, kMaxInteger);
  part.slot = body.at("slot").integer(0, part.slots - 1);
  part.first = count_of(body, "first");
  part.count = SlotCount::from_json(body);
  return part;
}

Message Mean::to_message() const {
  Json list = Json::array();
  for (const SlotCount& slot : counts) list.push_back(slot.to_json());
  return {MessageType::kMean,
          {{"round", round},
           {"parties", parties},
           {"first", first},
           {"slots", std::move(list)},
           {"why", printable(why, kMaxReason)}},
          blobs_of(floats_to_blob(values))};
}

Mean Mean::from_message(const Message& message) {
  Mean mean = without_values(message);
  mean.values = blob_to_floats(message, 0);
  return mean;
}

Mean Mean::without_values(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kMean, 1,
                {"round", "parties", "first", "slots", "why"});
  Mean mean;
  mean.round = number_of(body, "round");
  mean.parties = number_of(body, "parties");
  mean.first = count_of(body, "first");
  mean.counts = slot_counts_of(body.at("slots"));
  mean.why = text_of(body, "why", kMaxReason);
  return mean;
}

}  // namespace dl::cluster
