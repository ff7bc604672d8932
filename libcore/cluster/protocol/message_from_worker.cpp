// Messages that workers send.

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/message_fields.h"

namespace dl::cluster {

Message Hello::to_message() const {
  return {MessageType::kHello,
          {{"protocol", protocol},
           {"version", version},
           {"name", name},
           {"host", host},
           {"pid", pid},
           {"process", hex_field(process)},
           {"device", device},
           {"threads", threads},
           {"previous_run", previous_run},
           {"instructions", instructions},
           {"rank", rank ? Json(*rank) : Json()},
           {"max_frame", takes.frame},
           {"max_message", takes.message}},
          {}};
}

Hello Hello::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kHello, 0,
                {"protocol", "version", "name", "host", "pid", "process",
                 "device", "threads", "previous_run", "instructions", "rank",
                 "max_frame", "max_message"});
  Hello hello;
  hello.protocol = static_cast<int>(body.at("protocol").integer(1, 65535));
  hello.version = text_of(body, "version", 64);
  hello.name = text_of(body, "name", kLongestWorkerName);
  hello.host = text_of(body, "host", 256);
  hello.pid = count_of(body, "pid");
  hello.process = hex_of(body, "process");
  hello.device = text_of(body, "device", 256);
  hello.threads = static_cast<int>(body.at("threads").integer(1, 1 << 20));
  hello.previous_run = text_of(body, "previous_run", 32);
  hello.instructions = text_of(body, "instructions", 64);
  if (const JsonView rank = body.at("rank"); !rank.raw().is_null())
    hello.rank = static_cast<int>(rank.integer(0, INT32_MAX));
  hello.takes = takes_of(body);
  return hello;
}

Message Ready::to_message() const {
  return {MessageType::kReady,
          {{"unreadable", unreadable}, {"run", run}, {"version", version}},
          {}};
}

Ready Ready::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kReady, 0,
                            {"unreadable", "run", "version"});
  Ready ready;
  for (std::int64_t shard : body.at("unreadable").integers(0, UINT32_MAX))
    ready.unreadable.push_back(static_cast<std::uint32_t>(shard));
  ready.run = text_of(body, "run", 32);
  ready.version = number_of(body, "version");
  return ready;
}

Message Result::to_message() const& { return Result(*this).to_message(); }

Message Result::to_message() && {
  return {MessageType::kResult,
          {{"lease", lease},
           {"fence", fence},
           {"round", round},
           {"slot", slot},
           {"elsewhere", elsewhere},
           {"examples", examples},
           {"loss_sum", loss_sum},
           {"count", count}},
          blobs_of(std::move(delta), floats_to_blob(statistics),
                   floats_to_blob(updater_state))};
}

Result Result::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kResult, 3,
                            {"lease", "fence", "round", "slot", "elsewhere",
                             "examples", "loss_sum", "count"});
  Result result;
  result.lease = number_of(body, "lease");
  result.fence = number_of(body, "fence");
  result.round = number_of(body, "round");
  result.slot = count_of(body, "slot");
  result.elsewhere = body.at("elsewhere").boolean();
  result.examples = count_of(body, "examples");
  result.loss_sum = body.at("loss_sum").number();
  result.count = count_of(body, "count");
  result.delta = message.blobs[0];
  result.statistics = blob_to_floats(message, 1);
  result.updater_state = blob_to_floats(message, 2);
  return result;
}

Message Update::to_message() const {
  return {MessageType::kUpdate,
          {{"lease", lease},
           {"fence", fence},
           {"batch", batch},
           {"count", count},
           {"version", version},
           {"examples", examples},
           {"loss_sum", loss_sum},
           {"threshold", threshold},
           {"quanta", quanta}},
          blobs_of(payload)};
}

Update Update::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kUpdate, 1,
                            {"lease", "fence", "batch", "count", "version",
                             "examples", "loss_sum", "threshold", "quanta"});
  Update update;
  update.lease = number_of(body, "lease");
  update.fence = number_of(body, "fence");
  update.batch = count_of(body, "batch");
  // batch + count must not overflow either.
  update.count = body.at("count").integer(1, kMaxInteger - update.batch);
  update.version = number_of(body, "version");
  update.examples = count_of(body, "examples");
  update.loss_sum = body.at("loss_sum").number();
  update.threshold = body.at("threshold").number();
  if (update.threshold < 0) body.at("threshold").fail("a number >= 0");
  update.quanta = count_of(body, "quanta");
  update.payload = message.blobs[0];
  return update;
}

Message TaskDone::to_message() const {
  return {MessageType::kTaskDone,
          {{"lease", lease},
           {"fence", fence},
           {"examples", examples},
           {"evaluations", evaluations}},
          blobs_of(floats_to_blob(statistics))};
}

TaskDone TaskDone::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kTaskDone, 1,
                            {"lease", "fence", "examples", "evaluations"});
  TaskDone done;
  done.lease = number_of(body, "lease");
  done.fence = number_of(body, "fence");
  done.examples = count_of(body, "examples");
  JsonView list = body.at("evaluations");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list.at(i).raw().is_object()) list.at(i).fail("an object");
    done.evaluations.push_back(list.at(i).raw());
  }
  done.statistics = blob_to_floats(message, 0);
  return done;
}

Message Fault::to_message() const {
  return {MessageType::kFault,
          {{"lease", lease},
           {"fence", fence},
           {"batch", batch},
           {"reason", printable(reason, kMaxReason)},
           {"code", code},
           {"shard", shard},
           {"record", record}},
          {}};
}

Fault Fault::from_message(const Message& message) {
  JsonView body = open_body(
      message, MessageType::kFault, 0,
      {"lease", "fence", "batch", "reason", "code", "shard", "record"});
  return {number_of(body, "lease"),
          number_of(body, "fence"),
          count_of(body, "batch"),
          text_of(body, "reason", kMaxReason),
          static_cast<int>(body.at("code").integer(0, 255)),
          index_of(body, "shard"),
          index_of(body, "record")};
}

Message Beat::to_message() const {
  return {MessageType::kBeat,
          {{"progress", progress},
           {"examples_per_second", examples_per_second},
           {"doing", printable(doing, kMaxDoing)},
           {"exchange", exchange},
           {"feed", feed},
           {"flow", flow},
           {"lease", lease},
           {"batch", batch}},
          {}};
}

Beat Beat::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kBeat, 0,
                            {"progress", "examples_per_second", "doing",
                             "exchange", "feed", "flow", "lease", "batch"});
  Beat beat;
  beat.progress = number_of(body, "progress");
  beat.examples_per_second = body.at("examples_per_second").number();
  if (beat.examples_per_second < 0)
    body.at("examples_per_second").fail("a number >= 0");
  beat.doing = text_of(body, "doing", kMaxDoing);
  beat.exchange = object_of(body, "exchange");
  beat.feed = number_of(body, "feed");
  beat.flow = number_of(body, "flow");
  beat.lease = number_of(body, "lease");
  beat.batch = body.at("batch").integer(-1, kMaxInteger);
  return beat;
}

Message Spreads::to_message() const {
  Json all = Json::object();
  for (const auto& [name, layer] : layers) {
    Json& one = all[name] = Json::object();
    if (!layer.gradients.empty()) one["gradients"] = layer.gradients.to_json();
    if (!layer.activations.empty())
      one["activations"] = layer.activations.to_json();
  }
  return {MessageType::kSpreads, {{"layers", std::move(all)}}, {}};
}

Spreads Spreads::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kSpreads, 0, {"layers"});
  object_of(body, "layers");
  const JsonView all = body.at("layers");
  Spreads spreads;
  for (const auto& [name, value] : all.raw().items()) {
    const JsonView one = all.at(name);
    if (!value.is_object()) one.fail("an object");
    one.only({"gradients", "activations"});
    LayerCounts& layer = spreads.layers[name];
    if (one.has("gradients"))
      layer.gradients = ValueCounts::from_json(one.at("gradients"));
    if (one.has("activations"))
      layer.activations = ValueCounts::from_json(one.at("activations"));
  }
  if (spreads.layers.size() > kMostLayers)
    all.fail("at most " + std::to_string(kMostLayers) + " layers");
  return spreads;
}

Message Fetch::to_message() const {
  return {MessageType::kFetch,
          {{"evaluation", evaluation}, {"shard", shard}, {"record", record}},
          {}};
}

Fetch Fetch::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kFetch, 0,
                            {"evaluation", "shard", "record"});
  return {body.at("evaluation").boolean(), index_of(body, "shard"),
          index_of(body, "record")};
}

Message Digest::to_message() const {
  return {MessageType::kDigest,
          {{"sequence", sequence},
           {"digest", hex_field(digest)},
           {"residual_norm", residual_norm},
           {"mass", mass.to_json()},
           {"exchange", exchange}},
          blobs_of(floats_to_blob(statistics), floats_to_blob(updater_state))};
}

Digest Digest::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kDigest, 2,
                {"sequence", "digest", "residual_norm", "mass", "exchange"});
  Digest answer;
  answer.sequence = number_of(body, "sequence");
  answer.digest = hex_of(body, "digest");
  answer.residual_norm = body.at("residual_norm").number();
  answer.mass = MassLedger::from_json(body.at("mass"));
  answer.exchange = object_of(body, "exchange");
  answer.statistics = blob_to_floats(message, 0);
  answer.updater_state = blob_to_floats(message, 1);
  return answer;
}

Message Leave::to_message() const {
  return {MessageType::kLeave,
          {{"reason", printable(reason, kMaxReason)}, {"returns", returns}},
          {}};
}

Leave Leave::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kLeave, 0, {"reason", "returns"});
  return {text_of(body, "reason", kMaxReason), body.at("returns").boolean()};
}

}  // namespace dl::cluster
