#include "libcore/cluster/protocol/probe.h"

#include <string>

#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kMostBatches = 1'000'000;

Slowest read_slowest(const JsonView& json) {
  Slowest slowest{};
  if (json.size() != slowest.size())
    json.fail(std::to_string(slowest.size()) + " numbers");
  for (std::size_t i = 0; i < slowest.size(); ++i)
    slowest[i] = at_least_zero(json.at(i));
  return slowest;
}

}  // namespace

Message Probe::to_message() const {
  return {MessageType::kProbe,
          {{"batches", batches},
           {"answer", answer},
           {"hosts", hosts},
           {"quick", quick}},
          {load}};
}

Probe Probe::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kProbe, 1,
                                  {"batches", "answer", "hosts", "quick"});
  return {body.at("batches").integer(0, kMostBatches), message.blobs[0],
          body.at("answer").boolean(), body.at("hosts").integer(0, 2),
          body.at("quick").boolean()};
}

Message Probed::to_message() const {
  return {MessageType::kProbed,
          {{"compute", compute},
           {"compute_from", compute_from},
           {"compute_to", compute_to},
           {"encode", encode},
           {"decode", decode},
           {"whole", whole},
           {"update_bytes", update_bytes},
           {"round", round},
           {"delta_bytes", delta_bytes},
           {"slowest", slowest},
           {"slowest_round", slowest_round},
           {"answer", answer}},
          {load}};
}

Probed Probed::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kProbed, 1,
                {"compute", "compute_from", "compute_to", "encode", "decode",
                 "whole", "update_bytes", "round", "delta_bytes", "slowest",
                 "slowest_round", "answer"});
  Probed probed;
  probed.compute = at_least_zero(body.at("compute"));
  probed.compute_from = at_least_zero(body.at("compute_from"));
  probed.compute_to = at_least_zero(body.at("compute_to"));
  probed.encode = at_least_zero(body.at("encode"));
  probed.decode = at_least_zero(body.at("decode"));
  probed.whole = at_least_zero(body.at("whole"));
  probed.update_bytes = count_of(body, "update_bytes");
  probed.round = at_least_zero(body.at("round"));
  probed.delta_bytes = count_of(body, "delta_bytes");
  probed.slowest = read_slowest(body.at("slowest"));
  probed.slowest_round = read_slowest(body.at("slowest_round"));
  probed.answer = body.at("answer").boolean();
  probed.load = message.blobs[0];
  return probed;
}

}  // namespace dl::cluster
