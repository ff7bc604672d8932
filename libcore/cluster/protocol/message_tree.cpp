#include "libcore/cluster/protocol/message_tree.h"

#include "libcore/cluster/protocol/message_fields.h"

namespace dl::cluster {

Message Place::to_message() const {
  return {
      MessageType::kPlace, {{"parent", parent}, {"endpoint", endpoint}}, {}};
}

Place Place::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kPlace, 0, {"parent", "endpoint"});
  Place place{number_of(body, "parent"), endpoint_of(body, "endpoint")};
  if ((place.parent == 0) != place.endpoint.empty())
    body.at("endpoint")
        .fail(place.parent == 0 ? "nothing for the master"
                                : "tcp://ADDRESS:PORT");
  return place;
}

Message Listen::to_message() const {
  return {MessageType::kListen, {{"children", children}}, {}};
}

Listen Listen::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kListen, 0, {"children"});
  return {body.at("children").integer(1, kMaxInteger)};
}

Message Listening::to_message() const {
  return {MessageType::kListening,
          {{"endpoint", endpoint}, {"beside", beside}},
          {}};
}

Listening Listening::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kListening, 0, {"endpoint", "beside"});
  Listening listening{endpoint_of(body, "endpoint"),
                      body.at("beside").boolean()};
  if (listening.endpoint.empty()) body.at("endpoint").fail("an endpoint");
  return listening;
}

Message Fed::to_message() const {
  return {MessageType::kFed,
          {{"parent", parent},
           {"have", have},
           {"after", after},
           {"why", printable(why, kMaxReason)}},
          {}};
}

Fed Fed::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kFed, 0,
                                  {"parent", "have", "after", "why"});
  return {number_of(body, "parent"), number_of(body, "have"),
          number_of(body, "after"), text_of(body, "why", kMaxReason)};
}

Message Attach::to_message() const {
  return {MessageType::kAttach, Json::object(), {}};
}

Attach Attach::from_message(const Message& message) {
  open_body(message, MessageType::kAttach, 0, {});
  return {};
}

Message Feeding::to_message() const {
  return {MessageType::kFeeding, {{"after", after}}, {}};
}

Feeding Feeding::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kFeeding, 0, {"after"});
  return {number_of(body, "after")};
}

}  // namespace dl::cluster
