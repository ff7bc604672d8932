// The cost of an update of sharing to the master and to workers that pass it
// on, in a star and in a tree: simulated workers and the master's real
// bookkeeping; every message is encoded and decoded as for a socket.

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/machine.h"
#include "tests/unit/cluster/master/simulation.h"

namespace {

using namespace simulation;

constexpr int kMessagesAtOnce = 64;  // that the master takes in between ticks
constexpr int kSettleEvery = 8;      // ... before workers look at theirs
constexpr int kBeatEvery = 20;       // turns
constexpr double kTurn = 0.1;        // seconds, of a mini-batch
constexpr std::int64_t kMiniBatches = 1'000'000;

struct Traffic {
  std::uint64_t messages = 0, bytes = 0;  // sent

  void add(const Frames& frames) {
    ++messages;
    for (const auto& frame : frames) bytes += frame.size();
  }
};

Received received_of(const Frames& frames) {
  return decode(std::vector<Frame>(frames.begin(), frames.end()),
                {.most = kMaxFrame});
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs while one is alive.
class Clock {
 public:
  explicit Clock(double& seconds) : seconds_(seconds) {}
  ~Clock() { seconds_ += cpu_seconds() - begin_; }

 private:
  double& seconds_;
  double begin_ = cpu_seconds();
};

Settings sharing() {
  Settings settings;
  settings.mode = Mode::kSharing;
  settings.batch = 1;
  settings.metric = "loss";
  return settings;
}

Limits limits_of(Topology topology) {
  Limits limits;
  limits.topology = topology;
  return limits;
}

class Run {
 public:
  Run(Topology topology, int workers)
      : master_(sharing(), limits_of(topology), folder_, saved_, 1,
                kMiniBatches) {
    for (int i = 0; i < workers; ++i) master_.join("w" + std::to_string(i));
    master_.link.carry = [this](const std::string& from, Worker& to,
                                const Received& received) {
      Frames frames = encode(received.message, received.envelope, kMaxFrame);
      sent_[from].add(frames);
      wire_.push_back({&to, from.empty(), std::move(frames)});
    };
  }

  // Every worker does a mini-batch.
  void turn() {
    for (auto& [name, worker] : master_.link.workers) {
      worker.branch->step(worker, SIZE_MAX);
      worker.work(Mode::kSharing, master_.order);
      if ((worker.number + turns_) % kBeatEvery == 0) beat(worker);
      for (const Message& message : worker.branch->relay.take_for_master())
        worker.out.push_back(message);
      for (const Message& message : std::exchange(worker.out, {}))
        tell_master(worker, message);
    }
    ++turns_;
    tick();
    settle();
  }

  std::uint64_t updates() const { return master_.context.state.version; }
  std::uint64_t children() {  // that have a parent
    std::uint64_t count = 0;
    for (const Member* member : master_.context.members.present())
      count += member->seat.fed_by != 0;
    return count;
  }
  void start_counting() {
    sent_.clear();
    handling_ = ticking_ = 0;
    ticks_ = 0;
    first_ = updates();
  }
  void report(benchmark::State& state);

 private:
  struct Mail {
    Worker* to;
    bool from_master;
    Frames frames;
  };

  // All that is on its way arrives, and what follows from that.
  void settle() {
    for (; !wire_.empty(); wire_.pop_front()) {
      const Mail& mail = wire_.front();
      Received received = received_of(mail.frames);
      if (mail.from_master) {
        mail.to->receive(std::move(received), Mode::kSharing);
      } else {
        mail.to->branch->arrive(std::move(received));
        mail.to->branch->step(*mail.to, 1);
      }
    }
  }

  void beat(Worker& worker) {
    Beat beat;
    beat.progress = worker.progress;
    beat.feed = worker.branch->relay.position();
    worker.out.push_back(beat.to_message());
  }

  void tell_master(Worker& worker, const Message& message) {
    Envelope envelope;
    envelope.run = worker.run;
    const Frames frames = encode(message, envelope, kMaxFrame);
    sent_[worker.peer].add(frames);
    master_.now += kTurn / static_cast<double>(master_.link.workers.size());
    {
      const Clock clock(handling_);
      master_.coordinator->handle({worker.peer, received_of(frames)},
                                  master_.now);
    }
    ++taken_in_;
    if (taken_in_ % kMessagesAtOnce == 0) tick();
    if (taken_in_ % kSettleEvery == 0) settle();
  }

  void tick() {
    const Clock clock(ticking_);
    master_.coordinator->tick(master_.now);
    ++ticks_;
  }

  Folder folder_;
  std::optional<RunState> saved_;
  Master master_;
  std::deque<Mail> wire_;
  std::map<std::string, Traffic> sent_;  // by sender, "": the master
  std::uint64_t turns_ = 0, taken_in_ = 0, first_ = 0, ticks_ = 0;
  double handling_ = 0, ticking_ = 0;  // seconds of the master
};

// All for one accepted update.
void Run::report(benchmark::State& state) {
  const auto n = static_cast<double>(updates() - first_);
  Traffic busiest, all;
  for (const auto& [name, traffic] : sent_) {
    if (name.empty()) continue;
    busiest.messages = std::max(busiest.messages, traffic.messages);
    busiest.bytes = std::max(busiest.bytes, traffic.bytes);
    all.messages += traffic.messages;
    all.bytes += traffic.bytes;
  }
  const auto workers = static_cast<double>(master_.link.workers.size());
  const auto set = [&](const std::string& name, const Traffic& traffic,
                       double nodes) {
    state.counters[name + "_msgs"] =
        static_cast<double>(traffic.messages) / n / nodes;
    state.counters[name + "_bytes"] =
        static_cast<double>(traffic.bytes) / n / nodes;
  };
  set("master", sent_[""], 1);
  set("busiest", busiest, 1);
  set("mean", all, workers);
  state.counters["master_us"] = 1e6 * (handling_ + ticking_) / n;
  state.counters["tick_us"] = 1e6 * ticking_ / static_cast<double>(ticks_);
}

void share(benchmark::State& state, Topology topology) {
  const auto workers = static_cast<int>(state.range(0));
  constexpr int kFanOut = 8;
  const auto with_parent = static_cast<std::uint64_t>(
      topology == Topology::kTree ? std::max(workers - kFanOut, 0) : 0);
  for (auto _ : state) {
    state.PauseTiming();
    Run run(topology, workers);
    while (run.updates() == 0 || run.children() < with_parent) run.turn();
    run.start_counting();
    const std::uint64_t end = run.updates() + std::max(2000, 6 * workers);
    state.ResumeTiming();
    while (run.updates() < end) run.turn();
    run.report(state);
  }
}
BENCHMARK_CAPTURE(share, star, Topology::kStar)
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Iterations(1);
BENCHMARK_CAPTURE(share, tree, Topology::kTree)
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Iterations(1);

}  // namespace

int main(int argc, char** argv) {
  // Small chunks that workers freed are else put together when the master asks
  // for a large one.
  mallopt(M_MXFAST, 0);
  if (!dl::bench::initialise(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
