// The final report of a run, as text and JSON.

#include "libcore/cluster/report/report.h"

#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/cluster/run_dir/divergence.h"

namespace dl::cluster {

namespace {

std::string bytes(double value) {
  const char* units[] = {" B", " kB", " MB", " GB", " TB"};
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
  return format(unit == 0 ? "%.0f" : "%.1f", value) + units[unit];
}

std::string line(const std::string& name, const std::string& value) {
  return name + std::string(name.size() < 13 ? 13 - name.size() : 1, ' ') +
         value + "\n";
}

std::string some(const Json& count, const std::string& what) {
  return count.dump() + " " + what + (count == 1 ? "" : "s");
}

// A line for each of --hosts: "h1: 2 workers, 340 mini-batches, 1 restart".
std::string hosts_text(const Json& hosts) {
  std::string text;
  for (const Json& host : hosts) {
    std::string what = host["host"].get<std::string>() + ": " +
                       some(host["workers"], "worker");
    what += host["joined"] == 0
                ? " that never came"
                : ", " + host["batches"].dump() + " mini-batches";
    if (host["restarts"] > 0) what += ", " + some(host["restarts"], "restart");
    if (host["given_up"] > 0)
      what += ", " + host["given_up"].dump() + " given up";
    if (const std::string last = host["last_failure"]; !last.empty())
      what += "; the last to fail " + last;
    text += line(text.empty() ? "hosts" : "", what);
  }
  return text;
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

MassLedger total(const std::map<std::uint64_t, MassLedger>& masses) {
  MassLedger sum;
  for (const auto& [process, ledger] : masses) sum.add(ledger);
  return sum;
}

// "": nothing was lost or counted twice.
std::string mass_text(const MassLedger& all) {
  if (!(all.returned.size + all.dropped.size + all.residual.size > 0))
    return "";
  const auto number = [](double value) { return format("%.3g", value); };
  std::string text = number(all.sent.size) + " sent";
  if (all.returned.size > 0)
    text += ", " + number(all.returned.size) + " refused and learnt again";
  if (all.dropped.size > 0)
    text += ", " + number(all.dropped.size) + " dropped";
  if (all.clipped.size > 0)
    text += ", " + number(all.clipped.size) + " clipped";
  return text + ", " + number(all.residual.size) + " left in residuals";
}

// The epoch that the model is of; null: none is over.
const EpochScore* score_of_model(const RunState& state, bool keeps_best) {
  if (state.history.empty()) return nullptr;
  if (keeps_best && state.early_stopping.is_object())
    for (const EpochScore& score : state.history)
      if (state.early_stopping.value("best_epoch", Json()) == score.epoch)
        return &score;
  return &state.history.back();
}

std::string scores(const RunState& state, bool keeps_best,
                   const std::string& metric) {
  const EpochScore* score = score_of_model(state, keeps_best);
  if (!score) return "";
  std::string text = "loss " + format("%.4g", score->loss);
  for (const auto& [name, value] : score->metrics)
    text += ", " + name + " " + metric_text(value);
  text += " (epoch " + std::to_string(score->epoch + 1);
  if (keeps_best)
    text += " of " + std::to_string(state.history.size()) + ", the best";
  if (const EpochScore* best = best_score(state.history, metric);
      best && !keeps_best) {
    const std::string value = metric_text(best->metrics.at(metric));
    const auto written = score->metrics.find(metric);
    if (written == score->metrics.end() ||
        value != metric_text(written->second))
      text += "; epoch " + std::to_string(best->epoch + 1) + " had " + value;
  }
  return text + ")";
}

}  // namespace

std::int64_t examples_seen(const RunState& state) {
  std::int64_t seen = state.examples;
  for (const EpochScore& score : state.history) seen += score.examples;
  return seen;
}

double Report::payload_per_batch() const {
  if (batches == 0) return 0;
  return static_cast<double>(payload) / static_cast<double>(batches);
}

double Report::payload_share() const {
  if (parameters == 0) return 0;
  return payload_per_batch() / (4.0 * static_cast<double>(parameters));
}

bool Report::lacks_much() const {
  constexpr double kMuchLeft = 0.5, kMuchClipped = 4;  // beside what was sent
  const MassLedger all = total(masses);
  return all.residual.size > kMuchLeft * all.sent.size ||
         all.clipped.size > kMuchClipped * all.sent.size;
}

std::string Report::lacking() const {
  constexpr std::uint64_t kFewest = 64;  // of fewer nobody expects a model
  const MassLedger all = total(masses);
  const bool trial = batches < kFewest && all.sent.size > 0;
  return lacks_much() && !trial ? mass_text(all) : "";
}

Json Report::mass() const {
  if (masses.empty()) return {};
  Json json = total(masses).to_json();
  json["applied"] = {applied.sum, applied.size};
  return json;
}

Json Report::to_json(const RunState& state) const {
  Json history = state.to_json()["history"];
  const EpochScore* score = score_of_model(state, keeps_best);
  Json json = {
      {"examples", examples_seen(state)},
      {"examples_expected", expected_per_epoch * epochs - state.passed_over},
      {"examples_passed_over", state.passed_over},
      {"bad_shards", bad_files},
      {"epochs", state.history.size()},
      {"reason", state.reason},
      {"history", std::move(history)},
      {"scores", score ? cluster::to_json(*score) : Json()},
      {"early_stopping", state.early_stopping},
      {"setbacks", state.setbacks},
      {"step_factor", state.step_factor},
      {"workers",
       {{"joined", joined},
        {"lost", lost},
        {"returned", returned},
        {"left", left}}},
      {"leases",
       {{"granted", leases},
        {"revoked", revoked},
        {"stale", stale},
        {"rejected", rejected}}},
      {"batches", batches},
      {"bytes",
       {{"in", bytes_in},
        {"out", bytes_out},
        {"update_per_batch", payload_per_batch()},
        {"dense_update", 4 * parameters}}},
      {"staleness", staleness.to_json()},
      {"worth", staleness.updates() > 0 ? Json(mean_worth()) : Json()},
      {"exchange", exchange.to_json()},
      {"mass", mass()},
      {"resyncs", resyncs},
      {"histories_lost", histories_lost},
      {"foreign_messages", foreign},
      {"checkpoints", checkpoints},
      {"checkpoint_failures", checkpoint_failures},
      {"seconds", seconds},
      {"seconds_all", seconds_before + seconds},
      {"model", model},
      {"checkpoint", checkpoint},
      {"run", directory}};
  if (!hosts.is_null()) json["hosts"] = hosts;
  return json;
}

std::string Report::to_text(const RunState& state) const {
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  std::string text;
  text +=
      line("examples",
           std::to_string(examples_seen(state)) + " of " +
               std::to_string(expected_per_epoch * epochs - state.passed_over) +
               (state.reason.empty() ? "" : "; " + state.reason));
  if (!bad_files.empty())
    text +=
        line("passed over", std::to_string(state.passed_over) +
                                " examples; left out: " + quoted(bad_files));
  if (const std::string last = scores(state, keeps_best, metric); !last.empty())
    text += line("scores", last);
  if (state.setbacks > 0)
    text +=
        line("went back", std::to_string(state.setbacks) +
                              (state.setbacks == 1 ? " time" : " times") +
                              "; steps are " + format("%g", state.step_factor) +
                              " of what they were");
  text += line("workers", count(joined) + " joined, " + count(lost) +
                              " lost, " + count(returned) + " returned, " +
                              count(left) + " left");
  text += hosts_text(hosts);
  text += line("leases", count(leases) + " granted, " + count(revoked) +
                             " revoked, " + count(stale) + " stale answers, " +
                             count(rejected) + " rejected");
  text += line("network", bytes(static_cast<double>(bytes_in)) + " in, " +
                              bytes(static_cast<double>(bytes_out)) + " out");
  text += line("updates",
               bytes(payload_per_batch()) + " a mini-batch, " +
                   format("%.2f", 100 * payload_share()) + " % of dense (" +
                   bytes(4.0 * static_cast<double>(parameters)) + ")");
  if (staleness.updates() > 0)
    text += line("staleness", format("%.1f", staleness.mean()) + " mean, " +
                                  count(staleness.median()) + " median, " +
                                  count(staleness.max()) +
                                  " max; an update counted " +
                                  format("%.2f", mean_worth()));
  if (histories_lost)
    text += line("histories",
                 count(histories_lost) + " of slots lost with their workers");
  if (!exchange.empty()) {
    if (exchange.shares()) text += line("exchange", exchange.sent_text());
    text += line("workers' time", exchange.time_text());
  }
  if (const std::string told = mass_text(total(masses)); !told.empty())
    text += line("mass",
                 told + (lacks_much() ? "; what is left is not in the model: "
                                        "--mode averaging suits short runs"
                                      : ""));
  if (resyncs) text += line("replicas", count(resyncs) + " differed, resent");
  if (foreign) text += line("foreign", count(foreign) + " messages dropped");
  text += line("time", format("%.1f s", seconds) +
                           (seconds_before > 0.05
                                ? format(", %.1f s with earlier starts",
                                         seconds_before + seconds)
                                : ""));
  if (!model.empty()) text += line("model", model);
  if (!checkpoint.empty())
    text += line("checkpoint", directory + "/" + checkpoint);
  if (state.finished && state.reason.empty() && !epochs_given)
    text += line("epochs", std::to_string(epochs) +
                               ", the default; the same command with a larger "
                               "--epochs goes on");
  return text;
}

}  // namespace dl::cluster
