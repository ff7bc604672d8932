// The state of a run as a checkpoint, and back.

#include "libcore/cluster/run_dir/run_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dl::cluster {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// JSON has no NaN: it is written as null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

double number(const JsonView& view) {
  if (view.raw().is_null()) return std::numeric_limits<double>::quiet_NaN();
  return view.number();
}

EpochScore score_from(const JsonView& json) {
  EpochScore score;
  score.epoch = json.at("epoch").integer(0, kMost);
  score.examples = json.at("examples").integer(0, kMost);
  score.loss = number(json.at("loss"));
  const JsonView metrics = json.at("metrics");
  if (!metrics.raw().is_object()) metrics.fail("an object");
  for (const auto& [name, value] : metrics.raw().items())
    score.metrics[name] = number(metrics.at(name));
  if (json.has("version"))
    score.version =
        static_cast<std::uint64_t>(json.at("version").integer(0, kMost));
  return score;
}

}  // namespace

Json to_json(const EpochScore& score) {
  Json metrics = Json::object();
  for (const auto& [name, value] : score.metrics) metrics[name] = number(value);
  return {{"epoch", score.epoch},
          {"examples", score.examples},
          {"loss", number(score.loss)},
          {"metrics", std::move(metrics)},
          {"version", score.version}};
}

double RunState::loss() const {
  if (examples == 0) return std::numeric_limits<double>::quiet_NaN();
  return loss_sum / static_cast<double>(examples);
}

void RunState::count(std::int64_t batches, std::int64_t trained_examples,
                     double their_loss_sum, double applied,
                     std::uint64_t staleness, bool together) {
  examples += trained_examples;
  loss_sum += their_loss_sum;
  watch.add(version, batches, trained_examples, their_loss_sum, applied,
            parameters, staleness, together);
}

void RunState::replace_losses(double their_loss_sum,
                              std::int64_t trained_examples, double mean) {
  loss_sum += mean * static_cast<double>(trained_examples) - their_loss_sum;
}

std::vector<std::uint32_t> RunState::without() const {
  std::vector<std::uint32_t> shards;
  for (const BadShard& bad : bad_shards)
    if (bad.epoch < epoch) shards.push_back(bad.shard);
  std::ranges::sort(shards);
  return shards;
}

Json RunState::to_json() const {
  Json bad = Json::array();
  for (const BadShard& shard : bad_shards)
    bad.push_back({shard.shard, shard.epoch, shard.from});
  Json past = Json::array();
  for (const EpochScore& score : history)
    past.push_back(cluster::to_json(score));
  return {{"epoch", epoch},
          {"committed", committed},
          {"examples", examples},
          {"loss_sum", number(loss_sum)},
          {"iteration", iteration},
          {"version", version},
          {"threshold", number(threshold)},
          {"bad_shards", std::move(bad)},
          {"bad_batches", bad_batches},
          {"passed_over", passed_over},
          {"watch", watch.to_json()},
          {"step_factor", step_factor},
          {"lr_warmup", lr_warmup},
          {"setbacks", setbacks},
          {"elapsed", elapsed},
          {"finished", finished},
          {"reason", reason},
          {"history", std::move(past)},
          {"early_stopping", early_stopping}};
}

void RunState::restore(const JsonView& json) {
  epoch = json.at("epoch").integer(0, kMost);
  committed.clear();
  const JsonView ranges = json.at("committed");
  for (std::size_t i = 0; i < ranges.size(); ++i)
    committed.emplace_back(ranges.at(i).at(0).integer(0, kMost),
                           ranges.at(i).at(1).integer(1, kMost));
  examples = json.at("examples").integer(0, kMost);
  loss_sum = number(json.at("loss_sum"));
  iteration = json.at("iteration").integer(0, kMost);
  version = static_cast<std::uint64_t>(json.at("version").integer(0, kMost));
  threshold = number(json.at("threshold"));
  bad_shards.clear();
  bad_batches.clear();
  passed_over = 0;
  if (json.has("bad_shards")) {  // not of version 0.1
    const JsonView shards = json.at("bad_shards");
    for (std::size_t i = 0; i < shards.size(); ++i)
      bad_shards.push_back({static_cast<std::uint32_t>(
                                shards.at(i).at(0).integer(0, UINT32_MAX)),
                            shards.at(i).at(1).integer(0, kMost),
                            shards.at(i).at(2).integer(0, kMost)});
    bad_batches = json.at("bad_batches").integers(0, kMost);
    passed_over = json.at("passed_over").integer(0, kMost);
  }
  watch = {};
  step_factor = 1;
  setbacks = 0;
  if (json.has("watch")) {  // not of 0.1
    watch.restore(json.at("watch"));
    step_factor = json.at("step_factor").number();
    setbacks = json.at("setbacks").integer(0, kMost);
  }
  lr_warmup = json.has("lr_warmup")  // not of 0.1
                  ? json.at("lr_warmup").integer(0, kMost)
                  : 0;
  elapsed = json.at("elapsed").number();
  finished = json.at("finished").boolean();
  reason = json.at("reason").string();
  history.clear();
  const JsonView past = json.at("history");
  for (std::size_t i = 0; i < past.size(); ++i)
    history.push_back(score_from(past.at(i)));
  early_stopping = json.at("early_stopping").raw();
}

}  // namespace dl::cluster
