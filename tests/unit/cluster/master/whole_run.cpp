#include "tests/unit/cluster/master/whole_run.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "libcore/base/philox.h"

namespace simulation {

Settings settings(Mode mode) {
  Settings s;
  s.mode = mode;
  s.batch = 4;
  s.epochs = 2;
  if (mode == Mode::kSync) s.averaging = AveragingSettings::for_sync(0);
  if (mode == Mode::kAveraging) s.averaging.frequency = 4;
  if (in_rounds(mode)) s.averaging.workers = 3;
  s.metric = "loss";
  return s;
}

void check_exactly_once(const Folder& folder, std::int64_t epochs) {
  const auto counts = committed(folder);
  REQUIRE(static_cast<std::int64_t>(counts.size()) == epochs);
  for (const auto& [epoch, batches] : counts) {
    CHECK(batches.size() == 51);
    for (const auto& [batch, n] : batches) {
      INFO("epoch " << epoch << ", mini-batch " << batch);
      CHECK(n == 1);
    }
  }
}

void check_goes_on(const RunState& before, const RunState& now) {
  CHECK(now.version == before.version);
  CHECK(now.parameters == before.parameters);
  CHECK(now.examples == before.examples);
  CHECK(now.loss_sum == before.loss_sum);
  CHECK(now.epoch == before.epoch);
  CHECK(now.history.size() == before.history.size());
}

RunState undisturbed(const Settings& settings, int workers,
                     const Limits& limits) {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings, limits, folder, saved, 1, kExamples);
  for (int i = 0; i < workers; ++i) master.join("w" + std::to_string(i));
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  check_exactly_once(folder, settings.epochs);
  CHECK(examples_seen(master.context.state) == settings.epochs * kExamples);
  CHECK(master.context.report.resyncs == 0);
  const Shutdown farewell(master.context, 0, "", Shutdown::everybody);
  for (const auto& [name, worker] : master.link.workers)
    CHECK(worker.stop == 0);
  return master.context.state;
}

RunState disturbed(const Settings& s, std::uint64_t seed, Limits limits,
                   int workers) {
  Folder folder;
  std::optional<RunState> saved;
  limits.checkpoint_batches = 9;
  dl::Philox random(seed, 2);
  std::uint64_t incarnation = 1;
  auto master = std::make_unique<Master>(s, limits, folder, saved, incarnation,
                                         kExamples);
  const auto lag = [&] { return random.below(4); };
  master->lag = lag;
  master->means_are_late = seed % 2 == 1;
  // kill -9 of the master.  The next one knows all that this one had
  // acknowledged; in sharing workers that live go on with their replicas.
  const auto restart = [&] {
    const RunState before = std::move(master->context.state);
    auto old = std::move(master->link.workers);
    master.reset();
    master = std::make_unique<Master>(s, limits, folder, saved, ++incarnation,
                                      kExamples);
    master->lag = lag;
    master->means_are_late = seed % 2 == 1;
    check_goes_on(before, master->context.state);
    if (s.mode != Mode::kSharing) return;
    for (const auto& [name, worker] : old)
      if (worker.alive && random.below(2) == 0) master->join_again(worker);
  };
  int names = 0, kills = 0;
  while (names < workers) master->join("w" + std::to_string(names++));
  for (int turn = 0; !master->over(); ++turn) {
    REQUIRE(turn < 20000);
    auto& there = master->link.workers;
    if (random.below(20) == 0 || there.empty())
      master->join("w" + std::to_string(names++));
    if (random.below(25) == 0 && !there.empty()) {
      Worker& unlucky =
          std::next(there.begin(),
                    static_cast<std::ptrdiff_t>(random.below(there.size())))
              ->second;
      if (limits.speculate && random.below(2) == 0) unlucky.period = 20;
      switch (random.below(limits.topology == Topology::kTree ? 5 : 4)) {
        case 0:  // leaves
          master->deliver(unlucky, Leave{"test"}.to_message());
          unlucky.alive = false;
          break;
        case 1:  // stopped and continued, perhaps after it was given up
          unlucky.deaf = !unlucky.deaf;
          break;
        case 2:
          unlucky.poison = true;
          break;
        case 4:
          unlucky.branch->walled_in = !unlucky.branch->walled_in;
          break;
        default:  // dies between answers, or of a lost process seen at once
          unlucky.alive = false;
          unlucky.hello.pid = 1;
      }
    }
    if (random.below(400) == 0 && kills < 4) {  // kill -9 of the master
      ++kills;
      restart();
    }
    try {
      master->turn();
    } catch (const dl::Error& error) {
      // Many workers died over one mini-batch: start the master again.
      REQUIRE(error.code() == dl::Code::kData);
      restart();
    }
  }
  REQUIRE(master->coordinator->finished());
  CHECK(master->context.report.resyncs == 0);
  check_exactly_once(folder, s.epochs);
  return master->context.state;
}

}  // namespace simulation
