// One worker that tells another story than all others do.

#include "libcore/cluster/health/told_losses.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "libcore/base/philox.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::told_losses_test {

using namespace simulation;

namespace {

// Losses that fall to 0.4 and shake by 0.1, as `workers` tell them in turn; the
// first one's are given.  Returns who stands out.
// own: of the run's parameters, if it is asked for.
template <typename First>
std::uint64_t odd_of(int workers, const First& first_says,
                     double others_rise = 0,
                     const std::optional<double>& own = std::nullopt) {
  ToldLosses told;
  LossWatch watch;
  watch.expect(2.3);
  Philox random(1, 1);
  std::uint64_t version = 0;
  for (int round = 0; round < 300; ++round)
    for (int worker = 1; worker <= workers; ++worker) {
      const double x = round < 200 ? round : 200;
      double loss = 0.4 + 1.9 * std::exp(-0.03 * x) +
                    0.1 * (static_cast<double>(random.below(1000)) / 500 - 1);
      if (round > 200) loss += others_rise;
      if (worker == 1) loss = first_says(round, loss);
      told.add(static_cast<std::uint64_t>(worker), ++version, 32 * loss, 32);
      watch.add(version, 1, 32, 32 * loss, 0, {});
    }
  const auto odd =
      own ? told.contradicted(watch, {*own, 0.02}) : told.odd_one(watch);
  return odd ? odd->member : 0;
}

}  // namespace

TEST_CASE("losses of a slow worker are of parameters from long ago") {
  // While one answers, others have taken 500 steps, and losses fall by half.
  ToldLosses told;
  const auto loss = [](std::uint64_t version) {
    return std::exp2(-static_cast<double>(version) / 500);
  };
  std::uint64_t begun = 0;
  for (std::uint64_t version = 1; version <= 5000; ++version) {
    told.add(1 + version % 2, version, 32 * loss(version), 32);
    if (version % 500 == 0) {
      told.add(3, version, 32 * loss(begun), 32);
      begun = version;
    }
    if (told.are_in_doubt())
      CHECK_FALSE(told.denied({loss(version), 0.01 * loss(version)}));
  }
}

TEST_CASE("a worker whose losses are nothing like those of others stands out") {
  const auto honest = [](int, double loss) { return loss; };
  const auto high = [](int round, double loss) {
    return round > 100 ? 1e6 : loss;
  };
  const auto double_ = [](int round, double loss) {
    return round > 100 ? 2 * loss : loss;
  };
  const auto zero = [](int, double) { return 0.0; };
  for (const int workers : {3, 20, 200}) {
    INFO(workers);
    CHECK(odd_of(workers, honest) == 0);
    CHECK(odd_of(workers, high) == 1);
    CHECK(odd_of(workers, double_) == 1);
    CHECK(odd_of(workers, zero) == 1);
    // All losses rose, its own too, or even further.
    CHECK(odd_of(workers, honest, 2) == 0);
    CHECK(odd_of(workers, double_, 2) == 0);
  }
}

TEST_CASE("of two workers one stands out only with what cannot be") {
  const auto honest = [](int, double loss) { return loss; };
  const auto high = [](int, double) { return 1e6; };
  const auto zero = [](int, double) { return 0.0; };
  const auto double_ = [](int, double loss) { return 2 * loss; };
  CHECK(odd_of(1, high) == 0);
  CHECK(odd_of(2, honest) == 0);
  CHECK(odd_of(2, high) == 1);
  CHECK(odd_of(2, zero) == 0);
  CHECK(odd_of(2, double_) == 0);
}

TEST_CASE("of two workers the run's own loss tells who is wrong") {
  const auto honest = [](int, double loss) { return loss; };
  const auto rises = [](int round, double loss) {
    return round > 150 ? loss + 3 : loss;
  };
  const auto hopeless = [](int round, double loss) {
    return round > 150 ? 1e6 : loss;
  };
  CHECK(odd_of(2, rises) == 0);
  CHECK(odd_of(2, rises, 0, 0.4) == 1);
  CHECK(odd_of(2, hopeless, 0, 0.4) == 1);
  CHECK(odd_of(2, honest, 0, 0.4) == 0);
  // Training has gone wrong, and one says so.
  CHECK(odd_of(2, rises, 0, 3) == 0);
  // All say so, and it may be another loss that is measured.
  CHECK(odd_of(2, honest, 3, 0.4) == 0);
  CHECK(odd_of(1, rises, 0, 0.4) == 0);
  CHECK(odd_of(1, hopeless, 0, 0.4) == 1);
}

TEST_CASE("a liar among two is named, and nothing is undone") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging, Mode::kSync}) {
    INFO(static_cast<int>(mode));
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.batch = 32;
    s.epochs = 3;
    s.averaging.workers = 2;
    s.averaging.frequency = mode == Mode::kAveraging ? 4 : 1;
    Master master(s, Limits{}, folder, saved, 1, 32 * 400);
    master.context.state.watch.expect(2.3);
    const auto truth = [](std::uint64_t version) {
      return 0.4 + 1.9 * std::exp(-0.05 * static_cast<double>(version));
    };
    const std::uint64_t learnt = mode == Mode::kSharing ? 400 : 60;
    int times = 0;
    master.context.own_loss = [&]() -> std::optional<OwnLoss> {
      ++times;
      return OwnLoss{truth(master.context.state.version), 0.02};
    };
    master.join("honest").loss = truth;
    Worker& liar = master.join("liar");
    liar.loss = [&](std::uint64_t version) {
      return truth(version) + (version > learnt ? 3 : 0);
    };
    for (int i = 0; i < 20000 && !master.over(); ++i) master.turn();
    REQUIRE(master.coordinator->finished());
    const RunState& state = master.context.state;
    CHECK(times == 1);
    CHECK(state.setbacks == 0);
    CHECK(count_events(folder, "divergence") == 0);
    CHECK(count_events(folder, "false_losses") == 1);
    CHECK(liar.refused == 69);
    CHECK(std::ranges::any_of(master.said, [](const std::string& line) {
      return line.find("liar") != line.npos &&
             line.find("run's parameters on a sample") != line.npos;
    }));
    RunState again = *saved;
    CHECK_FALSE(again.watch.wrong());
  }
}

namespace {

// Whether the first of two workers is denied by the run's own loss, where the
// second one gives so many answers in the time of one.
bool is_denied(const std::function<double(double)>& first_says, int answers) {
  ToldLosses told;
  Philox random(2, 1);
  std::uint64_t version = 0;
  bool denied = false;
  const auto truth = [&] {
    return 0.1 + 2.2 * std::exp(-0.004 * static_cast<double>(version));
  };
  const auto shaken = [&](double loss) {
    return loss * (0.7 + 0.0006 * static_cast<double>(random.below(1000)));
  };
  double earlier = truth();  // what the first one's answer is of
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < answers; ++i)
      told.add(2, ++version, 32 * shaken(truth()), 32);
    told.add(1, ++version, 32 * first_says(shaken(earlier)), 32);
    earlier = truth();
    const OwnLoss own{truth(), 0.05 * truth(), 0.2 * truth()};
    if (!told.are_in_doubt()) continue;
    const auto odd = told.denied(own);
    denied = denied || odd;
    if (odd) CHECK(odd->member == 1);
  }
  return denied;
}

}  // namespace

TEST_CASE("the run's own loss denies what was false from the beginning") {
  for (const int answers : {1, 3, 20}) {
    INFO(answers);
    CHECK(is_denied([](double loss) { return loss + 1.5; }, answers));
    CHECK(is_denied([](double) { return 1e6; }, answers));
    CHECK_FALSE(is_denied([](double loss) { return loss; }, answers));
    CHECK_FALSE(is_denied([](double loss) { return 1.2 * loss; }, answers));
  }
  CHECK(is_denied([](double) { return 0.0; }, 1));
}

TEST_CASE("a worker that lies from its first answer on is named") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging, Mode::kSync})
    for (const int honest : {1, 3}) {
      INFO(static_cast<int>(mode) << ", " << honest);
      Folder folder;
      std::optional<RunState> saved;
      Settings s = settings(mode);
      s.batch = 32;
      s.epochs = 3;
      s.averaging.workers = honest + 1;
      s.averaging.frequency = mode == Mode::kAveraging ? 4 : 1;
      Master master(s, Limits{}, folder, saved, 1, 32 * 400);
      master.context.state.watch.expect(2.3);
      const auto truth = [](std::uint64_t version) {
        return 0.4 + 1.9 * std::exp(-0.05 * static_cast<double>(version));
      };
      master.context.own_loss = [&]() -> std::optional<OwnLoss> {
        return OwnLoss{truth(master.context.state.version), 0.02, 0.05};
      };
      Worker& liar = master.join("liar");
      liar.loss = [&](std::uint64_t version) { return truth(version) + 1.5; };
      for (int i = 0; i < honest; ++i)
        master.join("honest" + std::to_string(i)).loss = truth;
      for (int i = 0; i < 20000 && !master.over(); ++i) master.turn();
      REQUIRE(master.coordinator->finished());
      CHECK(master.context.state.setbacks == 0);
      CHECK(count_events(folder, "divergence") == 0);
      CHECK(count_events(folder, "false_losses") == 1);
      CHECK(liar.refused == 69);
      CHECK(master.context.state.history.back().loss < 1);
    }
}

TEST_CASE("false losses of one worker do not stop the run: it is named") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging, Mode::kSync})
    for (const double lie : {1e6, 2.0}) {
      INFO(static_cast<int>(mode) << ", " << lie);
      Folder folder;
      std::optional<RunState> saved;
      Settings s = settings(mode);
      s.batch = 32;
      s.epochs = 3;
      s.averaging.workers = 4;
      s.averaging.frequency = mode == Mode::kAveraging ? 4 : 1;
      Master master(s, Limits{}, folder, saved, 1, 32 * 400);
      master.context.state.watch.expect(2.3);
      const auto truth = [](std::uint64_t version) {
        return 0.4 + 1.9 * std::exp(-0.05 * static_cast<double>(version));
      };
      for (const char* name : {"a", "b", "c"}) master.join(name).loss = truth;
      Worker& liar = master.join("liar");
      liar.loss = [&](std::uint64_t version) {
        return version > 30 ? lie : truth(version);
      };
      for (int i = 0; i < 20000 && !master.over(); ++i) master.turn();
      REQUIRE(master.coordinator->finished());
      const RunState& state = master.context.state;
      CHECK(state.setbacks == 0);
      CHECK(state.step_factor == 1);
      CHECK(count_events(folder, "divergence") == 0);
      if (lie < 1e6 && count_events(folder, "false_losses") == 0) continue;
      CHECK(count_events(folder, "false_losses") == 1);
      CHECK(liar.refused == 69);
      CHECK(std::ranges::any_of(master.said, [](const std::string& line) {
        return line.find("liar") != line.npos &&
               line.find("losses") != line.npos;
      }));
      for (const EpochScore& score : state.history) CHECK(score.loss < 2.4);
      // The log does not bring them back.
      RunState again = *saved;
      CHECK_FALSE(again.watch.wrong());
    }
}

}  // namespace dl::cluster::told_losses_test
