// simulate - train as so many hosts would, on this one
//
//   simulate --net NET.json --data SHARDS --eval-data SHARDS --hosts N [...]
//
// The master, the learners and the code of their messages are those of
// dl-master and dl-worker; what takes time on the hosts and between them takes
// that of a model (tests/simulation/hosts.h), and only the arithmetic is done,
// by one thread.  So staleness and the order of updates are those of N hosts.
// Equal options give equal bytes.
//
// Standard output has a line for each epoch, and last one of JSON: what
// dl-master --json reports, with "epoch_results", "hosts" and "verdict": the
// status that dl-master ends with and the sentence that it says; of a run that
// could not go on, just the first two and "stopped", why.

#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <span>
#include <string>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/master/health/final_warnings.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "tests/simulation/all_reduce.h"
#include "tests/simulation/training.h"
#include "tools/dl-master-exchange.h"

namespace {

using dl::Error;
using dl::Json;

constexpr dl::cli::ToolInfo kTool = {
    .name = "simulate",
    .summary = "Train as so many hosts would, on this one.",
    .usage =
        "simulate --net NET --data SHARDS --eval-data SHARDS --hosts COUNT "
        "[OPTION...]",
    .examples =
        "simulate --net lenet.json --data 'train-*.dls' --eval-data "
        "'test-*.dls' --hosts 16 --seconds 0.005 --epochs 3",
    .filter = false,
};

struct Args {
  dl::cluster::MasterOptions master;
  simulated::HostModel hosts;
  std::string all_reduce;  // "": by messages
  std::int64_t look_every = 0;
  std::string events = "/dev/null";
  bool apply = false;
  const dl::cli::Options* options = nullptr;
};

void declare(dl::cli::Options& opt, Args& a) {
  dl::cluster::MasterOptions& m = a.master;
  opt.section("Training, as dl-master");
  opt.add("net", &m.net, "FILE", "the network, dl-network(5)");
  opt.add("init", &m.init, "MODEL", "start from this model's parameters");
  opt.add("data", &m.data, "SHARD", "training data; may be repeated");
  opt.add("eval-data", &m.eval_data, "SHARD", "held-out data; may be repeated");
  m.mode = "sharing";
  opt.add("mode", &m.mode, "MODE", "sharing, averaging or sync");
  opt.add("all-reduce", &a.all_reduce, "WAY",
          "instead of a mode, dense in every step: by a ring or a star");
  opt.add("epochs", &m.epochs, "COUNT", "passes over the data");
  opt.add("batch", &m.batch, "COUNT", "examples in a worker's mini-batch");
  opt.add("lr-warmup", &m.lr_warmup, "COUNT", "as dl-master");
  opt.add("seed", &m.seed, "NUMBER", "of the order of examples");
  opt.flag("speculate", &m.speculate, "give what is slow to an idle worker");
  opt.add("on-divergence", &m.on_divergence, "WHAT", "stop or ignore");
  declare_exchange(opt, m);
  simulated::HostModel& h = a.hosts;
  opt.section("Hosts");
  opt.add("hosts", &h.workers, "COUNT", "with a worker each");
  opt.add("seconds", &h.seconds, "TIME", "of a mini-batch, in seconds");
  opt.add("host-spread", &h.host_spread, "SPREAD",
          "standard deviation of its logarithm from host to host");
  opt.add("batch-spread", &h.batch_spread, "SPREAD",
          "the same from mini-batch to mini-batch");
  opt.add("stragglers", &h.stragglers, "COUNT", "hosts that are slow");
  opt.add("slower", &h.slower, "FACTOR", "so many times slower");
  opt.add("gbit", &h.gbit, "RATE", "of a host's line, each way, in Gbit/s");
  opt.add("master-gbit", &h.master_gbit, "RATE",
          "of the master's; 0: as the others");
  opt.add("latency", &h.latency, "TIME", "one way, in seconds");
  opt.add("latency-spread", &h.latency_spread, "SPREAD",
          "standard deviation of its logarithm, from message to message");
  opt.add("master-seconds", &h.master_seconds, "TIME",
          "of the master's work for an update");
  opt.add("timer-slack", &h.timer_slack, "TIME",
          "by which waits of a worker are longer, in seconds");
  opt.add("host-seed", &h.seed, "NUMBER", "of what is drawn of hosts");
  opt.section("How it is computed");
  opt.add("look-every", &a.look_every, "COUNT",
          "also evaluate after so many mini-batches of all; 0: epochs only");
  opt.add("events", &a.events, "FILE", "the history, dl-run(5)");
  opt.flag("apply", &a.apply,
           "let each replica apply each update: slower, the same result");
}

void check(const dl::cli::Options& opt, const Args& a) {
  const simulated::HostModel& h = a.hosts;
  const auto refuse = [](const char* what) {
    throw Error{dl::Code::kUsage, what};
  };
  if (h.workers < 1 || h.workers > 4096) refuse("--hosts: want 1 to 4096");
  if (!(h.seconds > 0)) refuse("--seconds: want a positive number");
  if (!(h.host_spread >= 0) || !(h.batch_spread >= 0) ||
      !(h.latency_spread >= 0))
    refuse("--host-spread, --batch-spread, --latency-spread: want 0 or more");
  if (h.stragglers < 0 || h.stragglers > h.workers)
    refuse("--stragglers: want 0 to --hosts");
  if (!(h.slower > 0)) refuse("--slower: want a positive number");
  if (a.look_every < 0) refuse("--look-every: want 0 or more");
  if (!(h.gbit > 0) || !(h.master_gbit >= 0) || !(h.latency >= 0) ||
      !(h.master_seconds >= 0) || !(h.timer_slack >= 0))
    refuse("--gbit: want a positive number, and 0 or more of other times");
  if (a.all_reduce.empty()) return check_exchange(opt, a.master);
  if (a.all_reduce != "ring" && a.all_reduce != "star")
    refuse("--all-reduce: want ring or star");
  for (const char* title : {"Averaging", "Sharing", "Topology"})
    opt.refuse_section(title, "does not go with --all-reduce");
  opt.refuse({"mode", "speculate", "apply", "events"},
             "does not go with --all-reduce");
}

void print(const simulated::EpochResult& epoch) {
  std::printf("epoch %d: %.3f s, %lld examples, loss %.4g",
              static_cast<int>(epoch.score.epoch) + 1, epoch.seconds,
              static_cast<long long>(epoch.score.examples), epoch.score.loss);
  for (const auto& [name, value] : epoch.score.metrics)
    std::printf(", %s %.4f", name.c_str(), value);
  std::printf(", staleness %.2f at most %llu, %.3g bytes in, %.3g out\n",
              epoch.staleness.mean(),
              static_cast<unsigned long long>(epoch.staleness.max()),
              static_cast<double>(epoch.bytes_in),
              static_cast<double>(epoch.bytes_out));
  std::fflush(stdout);
}

// Prints warnings; the rest of what a master says is told by the lines of
// epochs.
dl::Log quiet_log() {
  return [](dl::Level level, const std::string& line) {
    if (level == dl::Level::kWarning) dl::cli::log()(level, line);
  };
}

// The last words of dl-master on a model that ended so.
Json verdict_on(const Args& a, const dl::cluster::RunConfig& plan,
                const dl::cluster::RunState& state) {
  dl::cluster::Outcome outcome;
  dl::cluster::judge(
      a.master, plan, [](std::uint64_t) { return std::string(); }, state,
      outcome);
  if (outcome.verdict)
    return {{"status", static_cast<int>(outcome.verdict->code())},
            {"text", outcome.verdict->what()}};
  return {{"status", 0},
          {"text", outcome.remark.empty() ? outcome.note : outcome.remark}};
}

// Returns the report; state: as it ended.
Json train(const Args& a, const dl::cluster::RunConfig& plan,
           const std::function<void(const simulated::EpochResult&)>& told,
           const simulated::Looks& looks, dl::cluster::RunState& state) {
  if (!a.all_reduce.empty())
    return simulated::train_synchronously(plan, a.hosts,
                                          a.all_reduce == "ring"
                                              ? simulated::Reduce::kRing
                                              : simulated::Reduce::kStar,
                                          told, state, quiet_log(), looks);
  simulated::Training training(plan, a.hosts, limits_of(a.master), a.apply,
                               quiet_log(), a.events);
  training.run(told, looks);
  state = training.state();
  return training.report();
}

void run(Args& a) {
  check(*a.options, a);
  a.master.version = DL_VERSION;
  // As with --local: one worker waits for its update.
  a.master.local = a.hosts.workers;
  const dl::cluster::RunConfig plan =
      dl::cluster::make_run_config(a.master, "/nonexistent", quiet_log());
  Json epochs = Json::array();
  const auto told = [&](const simulated::EpochResult& epoch) {
    print(epoch);
    epochs.push_back(epoch.to_json());
  };
  Json looked = Json::array();
  const simulated::Looks looks(
      static_cast<std::uint64_t>(a.look_every),
      [&](const simulated::Look& look) { looked.push_back(look.to_json()); });
  Json json;
  std::exception_ptr stopped;
  try {
    dl::cluster::RunState state;
    json = train(a, plan, told, looks, state);
    json["verdict"] = verdict_on(a, plan, state);
    json["parameters_digest"] =
        dl::io::hex(dl::io::digest(std::as_bytes(std::span(state.parameters))));
  } catch (const Error& error) {
    stopped = std::current_exception();
    json["stopped"] = error.what();
  }
  json["hosts"] = a.hosts.to_json();
  json["epoch_results"] = std::move(epochs);
  if (a.look_every > 0) json["looks"] = std::move(looked);
  std::cout << dl::dump_json(json) << std::endl;
  if (stopped) std::rethrow_exception(stopped);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv,
      [&](dl::cli::Options& o) {
        args.options = &o;
        declare(o, args);
      },
      [&] { run(args); });
}
