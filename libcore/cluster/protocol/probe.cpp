#include "libcore/cluster/protocol/probe.h"

#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kMostBatches = 1'000'000;

}  // namespace

Message Probe::to_message() const {
  return {MessageType::kProbe, {{"batches", batches}}, {load}};
}

Probe Probe::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kProbe, 1, {"batches"});
  return {body.at("batches").integer(0, kMostBatches), message.blobs[0]};
}

Message Probed::to_message() const {
  return {MessageType::kProbed,
          {{"compute", compute},
           {"compute_from", compute_from},
           {"compute_to", compute_to},
           {"encode", encode},
           {"decode", decode},
           {"update_bytes", update_bytes},
           {"delta_bytes", delta_bytes}},
          {load}};
}

Probed Probed::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kProbed, 1,
                {"compute", "compute_from", "compute_to", "encode", "decode",
                 "update_bytes", "delta_bytes"});
  Probed probed;
  probed.compute = at_least_zero(body.at("compute"));
  probed.compute_from = at_least_zero(body.at("compute_from"));
  probed.compute_to = at_least_zero(body.at("compute_to"));
  probed.encode = at_least_zero(body.at("encode"));
  probed.decode = at_least_zero(body.at("decode"));
  probed.update_bytes = count_of(body, "update_bytes");
  probed.delta_bytes = count_of(body, "delta_bytes");
  probed.load = message.blobs[0];
  return probed;
}

}  // namespace dl::cluster
