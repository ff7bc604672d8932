// Runs on simulated hosts: their time is a model's, and all else follows.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/run_config/master_options.h"
#include "tests/simulation/all_reduce.h"
#include "tests/simulation/training.h"
#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::simulated_hosts_test {

using simulated::HostModel;

namespace {

const dl::Log kSilent = [](dl::Level, const std::string&) {};
constexpr const char* kNetwork = R"({
  "seed": 5, "input": {"shape": [3]},
  "updater": {"type": "adagrad", "learning_rate": 0.05},
  "layers": [
    {"type": "dense", "units": 4, "activation": "tanh"},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}]})";
constexpr std::int64_t kBatches = 40;  // of one example

struct Outcome {
  std::vector<float> parameters;
  dl::Json report;
  std::vector<simulated::EpochResult> epochs;
};

class Bench {
 public:
  Bench() {
    const auto bytes = sample::stream({16, 16, 8}, 3);
    folder_.write("a.dls",
                  {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    folder_.write("net.json", kNetwork);
    options.net = folder_ / "net.json";
    options.data = options.eval_data = {folder_ / "a.dls"};
    options.batch = 1;
  }
  Outcome train(const HostModel& model, bool apply = false,
                simulated::Looks looks = {}) {
    Outcome outcome;
    const RunConfig plan = make(model);
    std::filesystem::remove(folder_ / "events");
    simulated::Training training(plan, model, limits_of(options), apply,
                                 kSilent, folder_ / "events");
    training.run([&](const auto& epoch) { outcome.epochs.push_back(epoch); },
                 std::move(looks));
    outcome.parameters = training.state().parameters;
    outcome.report = training.report();
    return outcome;
  }
  Outcome train_synchronously(const HostModel& model) {
    Outcome outcome;
    const RunConfig plan = make(model);
    RunState state;
    outcome.report = simulated::train_synchronously(
        plan, model, simulated::Reduce::kRing,
        [&](const auto& epoch) { outcome.epochs.push_back(epoch); }, state,
        kSilent);
    outcome.parameters = state.parameters;
    return outcome;
  }

  // The lines of the run that was the last.
  std::vector<dl::Json> events() const {
    std::ifstream lines(folder_ / "events");
    std::vector<dl::Json> events;
    for (std::string line; std::getline(lines, line);)
      events.push_back(dl::Json::parse(line));
    return events;
  }
  void take_network(const char* text) { folder_.write("net.json", text); }

  MasterOptions options;

 private:
  RunConfig make(const HostModel& model) {
    options.local = model.workers;
    if (options.mode == "auto") options.mode = "sharing";
    return make_run_config(options, folder_ / "run", kSilent);
  }
  Scratch folder_;
};

// Equal hosts, between which a message takes no time but the latency.
HostModel equal_hosts(std::int64_t workers, double latency) {
  HostModel model;
  model.workers = workers;
  model.gbit = 1e6;
  model.latency = latency;
  model.timer_slack = 0;
  return model;
}

HostModel uneven_hosts(std::uint64_t seed) {
  HostModel model;
  model.workers = 5;
  model.host_spread = 0.3;
  model.batch_spread = 0.2;
  model.stragglers = 1;
  model.gbit = 0.001;
  model.latency_spread = 0.5;
  model.seed = seed;
  return model;
}

}  // namespace

TEST_CASE("Simulated hosts give the same bytes each time", "[simulation]") {
  Bench bench;
  bench.options.epochs = 2;
  const Outcome first = bench.train(uneven_hosts(1));
  const Outcome again = bench.train(uneven_hosts(1));
  CHECK(first.parameters == again.parameters);
  CHECK(first.report.dump() == again.report.dump());
  CHECK(first.report["examples"] == 2 * kBatches);
  CHECK(bench.train(uneven_hosts(2)).parameters != first.parameters);

  // A history in place of applying each update in each replica is no other run.
  const Outcome applied = bench.train(uneven_hosts(1), true);
  CHECK(applied.parameters == first.parameters);
  CHECK(applied.report.dump() == first.report.dump());
}

TEST_CASE("Equal hosts are as stale as there are others", "[simulation]") {
  Bench bench;
  constexpr std::int64_t kWorkers = 4;
  // All begin with nothing.  From then on each waits for its own answer, and
  // begins before it has seen the three that come after it.
  const Outcome near = bench.train(equal_hosts(kWorkers, 1e-6));
  REQUIRE(near.epochs.size() == 1);
  CHECK(near.epochs[0].staleness.updates() == kBatches);
  CHECK(near.epochs[0].staleness.max() == 3);
  CHECK(near.epochs[0].staleness.mean() ==
        Approx((0 + 1 + 2 + 3 + 3 * (kBatches - 4)) / double(kBatches)));

  // An answer that takes half of a mini-batch is not waited for: nobody has
  // seen the four before it, and of those that come with it 0 to 3 go first.
  bench.options.sharing.in_flight = 2;
  const Outcome far = bench.train(equal_hosts(kWorkers, 0.0025));
  CHECK(far.epochs[0].staleness.max() == 7);
  CHECK(far.epochs[0].staleness.mean() ==
        Approx((1.5 * kBatches + 4 * (kBatches - 4)) / kBatches));
}

// Leases of four hosts begin far ahead of what is done.
TEST_CASE("Learning rates go by the mini-batches of all", "[simulation]") {
  constexpr std::uint64_t kHalf = 20;
  const bool gradient = GENERATE(false, true);
  CAPTURE(gradient);
  Bench bench;
  bench.take_network(R"({
    "seed": 5, "input": {"shape": [3]},
    "updater": {"type": "sgd", "learning_rate":
      {"schedule": "map", "by": "iteration", "values": {"0": 0, "20": 0.5}}},
    "layers": [{"type": "output", "units": 2, "activation": "softmax",
                "loss": "negative_log_likelihood"}]})");
  if (gradient) bench.options.sharing.share = "gradient";
  std::vector<simulated::Look> looks;
  bench.train(equal_hosts(4, 0.001), false,
              {1, [&](const simulated::Look& look) { looks.push_back(look); }});
  REQUIRE(looks.size() == kBatches);
  const auto first = looks.front().metrics;
  for (const simulated::Look& look : looks) {
    CAPTURE(look.batches);
    if (look.batches <= kHalf) CHECK(look.metrics == first);
    if (look.batches >= kHalf + 8) CHECK(look.metrics != first);
  }
}

TEST_CASE("Messages queue at the master's line", "[simulation]") {
  HostModel model;
  model.workers = 3;
  model.gbit = 8;
  model.master_gbit = 1;
  model.latency = 0.5;
  simulated::EventQueue queue;
  simulated::Network network(model, queue);
  std::vector<double> times;
  const auto note = [&] { times.push_back(queue.now()); };
  constexpr std::size_t kSecond = 125'000'000;  // of the master's line
  for (std::size_t worker = 1; worker <= 3; ++worker)
    network.send(worker, simulated::Network::kMaster, kSecond, note);
  while (queue.next()) {
  }
  REQUIRE(times.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(times[i] == Approx(0.5 + double(i + 1)));
  CHECK(network.bytes_in(simulated::Network::kMaster) == 3 * kSecond);

  // And out, but from host to host in a moment.
  times.clear();
  const double begin = queue.now();
  network.send(simulated::Network::kMaster, 1, kSecond, note);
  network.send(simulated::Network::kMaster, 2, kSecond, note);
  network.send(1, 3, kSecond, note);
  while (queue.next()) {
  }
  REQUIRE(times.size() == 3);
  CHECK(times[0] == Approx(begin + 0.5 + 0.125));
  CHECK(times[1] == Approx(begin + 0.5 + 1));
  CHECK(times[2] == Approx(begin + 0.5 + 2));
}

TEST_CASE("What is synchronous does not depend on the hosts", "[simulation]") {
  Bench bench;
  SECTION("averaging") {
    bench.options.mode = "averaging";
    bench.options.averaging.frequency = 3;
  }
  SECTION("sync") { bench.options.mode = "sync"; }
  SECTION("staleness 0") { bench.options.sharing.staleness = "0"; }
  const Outcome uneven = bench.train(uneven_hosts(1));
  const Outcome equal = bench.train(equal_hosts(5, 0.001));
  CHECK(uneven.parameters == equal.parameters);
  CHECK(uneven.report["examples"] == kBatches);
  CHECK(uneven.epochs[0].seconds > equal.epochs[0].seconds);
}

TEST_CASE("Simulated hosts hand on in a tree", "[simulation]") {
  Bench bench;
  bench.options.epochs = 3;
  HostModel model = equal_hosts(7, 0.001);
  model.seconds = 0.05;  // the tree grows meanwhile
  SECTION("averaging") {
    bench.options.mode = "averaging";
    bench.options.averaging.frequency = 1;
  }
  SECTION("staleness 0") { bench.options.sharing.staleness = "0"; }
  const Outcome star = bench.train(model);
  bench.options.topology = "tree";
  bench.options.fan_out = 2;
  const Outcome tree = bench.train(model);
  CHECK(tree.parameters == star.parameters);
  CHECK(tree.epochs[2].bytes_out < 0.8 * double(star.epochs[2].bytes_out));
  CHECK(tree.report["workers"]["joined"] == 7);
}

TEST_CASE("Simulated hosts of sync average among themselves", "[simulation]") {
  Bench bench;
  bench.options.lr_warmup = 0;
  const HostModel model = equal_hosts(4, 0.001);
  const Outcome dense = bench.train_synchronously(model);
  bench.options.mode = "sync";
  const Outcome sync = bench.train(model);
  CHECK(sync.report["examples"] == kBatches);
  CHECK(sync.report["batches"] == kBatches);
  REQUIRE(sync.parameters.size() == dense.parameters.size());
  for (std::size_t i = 0; i < sync.parameters.size(); ++i)
    CHECK(sync.parameters[i] == Approx(dense.parameters[i]).epsilon(1e-5));
  // Joining takes four messages, a step two, one after the other.
  CHECK(sync.epochs[0].seconds == Approx(10 * (0.01 + 2 * 0.001) + 0.004));
}

TEST_CASE("The last two rounds of an epoch share what is left",
          "[simulation]") {
  Bench bench;
  bench.options.mode = "sync";
  const auto slots = [&](std::int64_t hosts) {
    bench.train(equal_hosts(hosts, 0.001));
    std::vector<std::int64_t> counts;
    for (const dl::Json& event : bench.events())
      if (event.at("event") == "round") counts.push_back(event.at("slots"));
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  CHECK(slots(12) == Counts{12, 12, 8, 8});
  CHECK(slots(13) == Counts{13, 13, 7, 7});
  CHECK(slots(20) == Counts{20, 20});
  CHECK(slots(39) == Counts{20, 20});
  CHECK(slots(64) == Counts{40});
  // The last of 14 mini-batches has one example.
  bench.options.batch = 3;
  CHECK(slots(3) == Counts{3, 3, 3, 5});
  bench.options.mode = "averaging";
  bench.options.averaging.frequency = 1;
  CHECK(slots(3) == Counts{3, 3, 3, 5});
  CHECK(slots(4) == Counts{4, 4, 3, 3});
}

TEST_CASE("An all-reduce goes from the mean of all gradients", "[simulation]") {
  Bench bench;
  bench.options.lr_warmup = 0;
  const HostModel model = equal_hosts(4, 0.001);
  const Outcome dense = bench.train_synchronously(model);
  // Ten steps, each with 2 (N - 1) messages one after the other.
  CHECK(dense.epochs[0].seconds == Approx(10 * (0.01 + 6 * 0.001)));
  CHECK(dense.report["batches"] == kBatches);
  // One worker with the four mini-batches in one.
  bench.options.batch = 4;
  bench.options.mode = "averaging";
  bench.options.averaging.frequency = 1000;
  const Outcome alone = bench.train(equal_hosts(1, 0));
  REQUIRE(alone.parameters.size() == dense.parameters.size());
  for (std::size_t i = 0; i < alone.parameters.size(); ++i)
    CHECK(alone.parameters[i] == Approx(dense.parameters[i]).epsilon(1e-5));
}

}  // namespace dl::cluster::simulated_hosts_test
