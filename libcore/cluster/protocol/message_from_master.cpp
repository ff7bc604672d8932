// Messages that the master sends.

#include <cmath>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/data/format/decode.h"

namespace dl::cluster {
namespace {

Json shards_to_json(const std::vector<ShardInfo>& shards) {
  Json list = Json::array();
  for (const ShardInfo& shard : shards) {
    list.push_back({{"path", shard.path},
                    {"digest", hex_field(shard.digest)},
                    {"records", shard.records},
                    {"alignment", shard.alignment.to_json()}});
    if (!shard.encoded.empty())
      list.back()["encoded"] = data::schema_to_json(shard.encoded);
  }
  return list;
}

std::map<std::string, data::Field> encoded_from_json(const JsonView& json) try {
  return data::encoded_part(data::schema_from_json(json));
} catch (const Error& e) {
  throw Error{Code::kProtocol, e.what()};
}

std::vector<ShardInfo> shards_from_json(const JsonView& list) {
  std::vector<ShardInfo> shards(list.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    JsonView item = list.at(i);
    item.only({"path", "digest", "records", "alignment", "encoded"});
    shards[i].path = item.at("path").string();
    // A path is used to open files: no byte that ends it early.
    if (shards[i].path.empty() ||
        shards[i].path.find('\0') != std::string::npos)
      item.at("path").fail("a path");
    shards[i].digest = hex_of(item, "digest");
    shards[i].records = item.at("records").integers(0, kMaxInteger);
    shards[i].alignment = data::Alignment::from_json(item.at("alignment"));
    if (item.has("encoded"))
      shards[i].encoded = encoded_from_json(item.at("encoded"));
  }
  return shards;
}

int status_of(const JsonView& body) {
  return static_cast<int>(body.at("code").integer(0, 255));
}

}  // namespace

Message Welcome::to_message() const {
  return {MessageType::kWelcome,
          {{"run", run},
           {"worker", worker},
           {"name", name},
           {"network", network},
           {"normalizer", normalizer},
           {"target_normalizer", target_normalizer},
           {"settings", settings},
           {"metadata", metadata},
           {"training", shards_to_json(training)},
           {"evaluation", shards_to_json(evaluation)},
           {"heartbeat_ms", heartbeat_ms},
           {"silence_ms", silence_ms},
           {"max_frame", takes.frame},
           {"max_message", takes.message},
           {"parameters", sizes.parameters},
           {"statistics", sizes.statistics},
           {"updater_state", sizes.updater_state},
           {"tree_key", tree_key},
           {"summary", summary}},
          {}};
}

Welcome Welcome::from_message(const Message& message) {
  JsonView body = open_body(
      message, MessageType::kWelcome, 0,
      {"run", "worker", "name", "network", "normalizer", "target_normalizer",
       "settings", "metadata", "training", "evaluation", "heartbeat_ms",
       "silence_ms", "max_frame", "max_message", "parameters", "statistics",
       "updater_state", "tree_key", "summary"});
  Welcome welcome;
  welcome.run = body.at("run").string();
  if (welcome.run.size() != 32 ||
      welcome.run.find_first_not_of("0123456789abcdef") != std::string::npos)
    body.at("run").fail("32 hexadecimal digits");
  welcome.worker = number_of(body, "worker");
  welcome.name = text_of(body, "name", 256);
  welcome.network = body.at("network").raw();
  welcome.normalizer = body.at("normalizer").raw();
  welcome.target_normalizer = body.at("target_normalizer").raw();
  welcome.settings = body.at("settings").raw();
  welcome.metadata = body.at("metadata").raw();
  welcome.training = shards_from_json(body.at("training"));
  welcome.evaluation = shards_from_json(body.at("evaluation"));
  welcome.heartbeat_ms = body.at("heartbeat_ms").integer(1, 3'600'000);
  welcome.silence_ms = body.at("silence_ms").integer(1, INT64_C(1) << 40);
  welcome.takes = takes_of(body);
  const auto reals = [&](std::string_view key) {
    return static_cast<std::uint64_t>(body.at(key).integer(0, kMostReals));
  };
  welcome.sizes.parameters = reals("parameters");
  welcome.sizes.statistics = reals("statistics");
  welcome.sizes.updater_state = reals("updater_state");
  welcome.tree_key = text_of(body, "tree_key", 40);
  if (!welcome.tree_key.empty() && welcome.tree_key.size() != 40)
    body.at("tree_key").fail("40 characters, or none");
  welcome.summary = count_of(body, "summary");
  return welcome;
}

Message Refuse::to_message() const {
  return {MessageType::kRefuse,
          {{"code", code}, {"reason", printable(reason, kMaxReason)}},
          {}};
}

Refuse Refuse::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kRefuse, 0, {"code", "reason"});
  Refuse refuse{status_of(body), text_of(body, "reason", kMaxReason)};
  if (refuse.code == 0) body.at("code").fail("integer 1..255");
  return refuse;
}

Message State::to_message() const {
  return with({parameters, statistics, updater_state, velocity, fasgd});
}

Message State::with(
    const std::array<std::span<const float>, 5>& vectors) const {
  Message message{MessageType::kState,
                  {{"version", version},
                   {"threshold", threshold},
                   {"averages", averages},
                   {"setbacks", setbacks}},
                  {}};
  message.blobs.reserve(vectors.size());
  for (const std::span<const float> values : vectors)
    message.blobs.push_back(floats_to_blob(values));
  return message;
}

State State::from_message(Message message) {
  JsonView body = open_body(message, MessageType::kState, 5,
                            {"version", "threshold", "averages", "setbacks"});
  State state;
  state.version = number_of(body, "version");
  state.threshold = body.at("threshold").number();
  if (state.threshold < 0) body.at("threshold").fail("a number >= 0");
  state.averages = number_of(body, "averages");
  state.setbacks = number_of(body, "setbacks");
  const auto take = [&](std::size_t blob) {
    std::vector<float> values = blob_to_floats(message, blob);
    message.blobs[blob] = std::vector<std::byte>();  // as large
    return values;
  };
  state.parameters = take(0);
  state.statistics = take(1);
  state.updater_state = take(2);
  state.velocity = take(3);
  state.fasgd = take(4);
  return state;
}

// nn::Position::factor
static double factor_of(const JsonView& body) {
  const double factor = body.at("factor").number();
  if (!(factor > 0 && factor <= 1))
    body.at("factor").fail("a number in (0, 1]");
  return factor;
}

// Blobs of the wire; pieces follow.
static constexpr std::size_t kRoundBlobs = 3;

Message Round::to_message() const& { return Round(*this).to_message(); }

Message Round::to_message() && {
  Message message{MessageType::kRound,
                  {{"version", version},
                   {"momentum", momentum},
                   {"iteration", iteration},
                   {"epoch", epoch},
                   {"factor", factor},
                   {"held", held},
                   {"digest", hex_field(digest)}},
                  {}};
  message.blobs.reserve(kRoundBlobs + pieces.size());
  message.blobs.push_back(std::move(delta));
  message.blobs.push_back(floats_to_blob(statistics));
  message.blobs.push_back(floats_to_blob(updater_state));
  std::ranges::move(pieces, std::back_inserter(message.blobs));
  return message;
}

Round Round::from_message(Message message) {
  JsonView body = open_body(message, MessageType::kRound,
                            std::max(kRoundBlobs, message.blobs.size()),
                            {"version", "momentum", "iteration", "epoch",
                             "factor", "held", "digest"});
  Round round;
  round.version = number_of(body, "version");
  round.momentum = body.at("momentum").number();
  if (!(round.momentum >= 0 && round.momentum < 1))
    body.at("momentum").fail("a number from 0 to below 1");
  round.iteration = count_of(body, "iteration");
  round.epoch = count_of(body, "epoch");
  round.factor = factor_of(body);
  round.held = body.at("held").boolean();
  round.digest = hex_of(body, "digest");
  round.delta = std::move(message.blobs[0]);
  round.statistics = blob_to_floats(message, 1);
  round.updater_state = blob_to_floats(message, 2);
  round.pieces.assign(
      std::make_move_iterator(message.blobs.begin() + kRoundBlobs),
      std::make_move_iterator(message.blobs.end()));
  return round;
}

Message Task::to_message() const {
  return {MessageType::kTask,
          {{"kind", kind == TaskKind::kTrain ? "train" : "evaluate"},
           {"lease", lease},
           {"fence", fence},
           {"version", version},
           {"epoch", epoch},
           {"first", first},
           {"count", count},
           {"iteration", iteration},
           {"beside", beside},
           {"factor", factor},
           {"slot", slot.index},
           {"round", slot.round},
           {"follows", slot.follows},
           {"reducer", slot.reducer},
           {"parties", slot.parties},
           {"slots", slot.slots},
           {"pulled", slot.pulled},
           {"feed", feed},
           {"evaluations", evaluations},
           {"careful", careful},
           {"without", without},
           {"passed_over", passed_over}},
          {}};
}

Task Task::from_message(const Message& message) {
  JsonView body = open_body(
      message, MessageType::kTask, 0,
      {"kind",    "lease",     "fence",       "version", "epoch", "first",
       "count",   "iteration", "beside",      "factor",  "slot",  "round",
       "follows", "reducer",   "parties",     "slots",   "feed",  "evaluations",
       "careful", "without",   "passed_over", "pulled"});
  Task task;
  std::string kind = body.at("kind").string();
  if (kind != "train" && kind != "evaluate")
    body.at("kind").fail("train or evaluate");
  task.kind = kind == "train" ? TaskKind::kTrain : TaskKind::kEvaluate;
  task.lease = number_of(body, "lease");
  task.fence = number_of(body, "fence");
  task.version = number_of(body, "version");
  task.epoch = count_of(body, "epoch");
  task.first = count_of(body, "first");
  // first + count must not overflow either.
  task.count = body.at("count").integer(0, kMaxInteger - task.first);
  task.iteration = count_of(body, "iteration");
  task.beside = body.at("beside").integer(1, kMaxInteger);
  task.factor = factor_of(body);
  task.slot.index = count_of(body, "slot");
  task.slot.round = number_of(body, "round");
  task.slot.follows = number_of(body, "follows");
  task.slot.reducer = endpoint_of(body, "reducer");
  task.slot.parties = number_of(body, "parties");
  task.slot.slots = count_of(body, "slots");
  task.slot.pulled = body.at("pulled").boolean();
  task.feed = number_of(body, "feed");
  task.evaluations = body.at("evaluations").strings();
  task.careful = body.at("careful").boolean();
  for (const std::int64_t shard : body.at("without").integers(0, UINT32_MAX))
    task.without.push_back(static_cast<std::uint32_t>(shard));
  task.passed_over = body.at("passed_over").integers(0, kMaxInteger);
  return task;
}

Message Apply::to_message() const {
  return {MessageType::kApply,
          {{"sequence", sequence},
           {"origin", origin},
           {"epoch", epoch},
           {"batch", batch},
           {"scale", scale},
           {"iteration", iteration}},
          blobs_of(payload)};
}

Apply Apply::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kApply, 1,
                {"sequence", "origin", "epoch", "batch", "scale", "iteration"});
  Apply apply;
  apply.sequence = number_of(body, "sequence");
  apply.origin = number_of(body, "origin");
  apply.epoch = count_of(body, "epoch");
  apply.batch = count_of(body, "batch");
  apply.scale = static_cast<float>(body.at("scale").number());
  if (!std::isfinite(apply.scale)) body.at("scale").fail("a finite float");
  apply.iteration = count_of(body, "iteration");
  apply.payload = message.blobs[0];
  return apply;
}

Message Stale::to_message() const {
  return {MessageType::kStale,
          {{"lease", lease}, {"fence", fence}, {"batch", batch}},
          {}};
}

Stale Stale::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kStale, 0, {"lease", "fence", "batch"});
  return {number_of(body, "lease"), number_of(body, "fence"),
          body.at("batch").integer(-1, kMaxInteger)};
}

Message Cut::to_message() const {
  return {MessageType::kCut, {{"lease", lease}, {"fence", fence}}, {}};
}

Cut Cut::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kCut, 0, {"lease", "fence"});
  return {number_of(body, "lease"), number_of(body, "fence")};
}

Message Record::to_message() const {
  return {MessageType::kRecord,
          {{"evaluation", evaluation}, {"shard", shard}, {"record", record}},
          {packed}};
}

Record Record::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kRecord, 1,
                            {"evaluation", "shard", "record"});
  return {body.at("evaluation").boolean(), index_of(body, "shard"),
          index_of(body, "record"), message.blobs[0]};
}

Message Check::to_message() const {
  return {MessageType::kCheck,
          {{"epoch", epoch},
           {"sequence", sequence},
           {"digest", hex_field(digest)},
           {"updater_of", updater_of}},
          {}};
}

Check Check::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kCheck, 0,
                            {"epoch", "sequence", "digest", "updater_of"});
  return {count_of(body, "epoch"), number_of(body, "sequence"),
          hex_of(body, "digest"), number_of(body, "updater_of")};
}

Message Statistics::to_message() const {
  return {MessageType::kStatistics,
          {{"number", number}},
          blobs_of(floats_to_blob(values))};
}

Statistics Statistics::from_message(const Message& message) {
  const JsonView body =
      open_body(message, MessageType::kStatistics, 1, {"number"});
  return {number_of(body, "number"), blob_to_floats(message, 0)};
}

Message Alive::to_message() const {
  return {MessageType::kAlive, {{"lease", lease}, {"batch", batch}}, {}};
}

Alive Alive::from_message(const Message& message) {
  JsonView body =
      open_body(message, MessageType::kAlive, 0, {"lease", "batch"});
  return {number_of(body, "lease"), body.at("batch").integer(-1, kMaxInteger)};
}

Message Rejoin::to_message() const {
  return {MessageType::kRejoin, {{"why", why}}, {}};
}

Rejoin Rejoin::from_message(const Message& message) {
  const JsonView body = open_body(message, MessageType::kRejoin, 0, {"why"});
  return {text_of(body, "why", kMaxReason)};
}

Message Stop::to_message() const {
  return {MessageType::kStop,
          {{"code", code}, {"reason", printable(reason, kMaxReason)}},
          {}};
}

Stop Stop::from_message(const Message& message) {
  JsonView body = open_body(message, MessageType::kStop, 0, {"code", "reason"});
  return {status_of(body), text_of(body, "reason", kMaxReason)};
}

}  // namespace dl::cluster
