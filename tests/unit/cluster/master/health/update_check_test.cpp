// A value that is too large to come from training is refused before it is
// applied, committed or logged: in sharing an update, in averaging a
// difference.

#include "libcore/cluster/master/health/update_check.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/exchange/codec/threshold.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::update_check_test {

using namespace simulation;
using dl::exchange::ThresholdRule;

namespace {

const std::vector<float> kOnes(8, 1);

// Every element moves by `quantum`.
Update update_of(float quantum, double threshold) {
  std::vector<float> residual(8, quantum);
  Update update;
  update.threshold = threshold;
  update.quanta =
      dl::exchange::encode_threshold(residual, quantum, update.payload);
  return update;
}

std::string fault_of(UpdateCheck& check, const Update& update) {
  return check.fault_of(update, 1, kOnes);
}

void check_refused(UpdateCheck& check, const Update& update,
                   const std::string& why) {
  CHECK_THAT(fault_of(check, update), Catch::Contains(why));
}

// Runs while `bad` answers with what is so large whenever `when` says so.
void run_with(Master& master, Worker& bad, float size) {
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
    if (turn % 5 == 2 && turn < 30) bad.exaggerates = size;
    master.turn();
  }
}

}  // namespace

TEST_CASE("an update's threshold is like those of late") {
  UpdateCheck check(ThresholdRule::parse("adaptive:1e-3"));
  CHECK(fault_of(check, update_of(1e-3F, 1e-3)).empty());
  check.accepted(update_of(1e-3F, 1e-3));
  CHECK(fault_of(check, update_of(0.5F, 0.5)).empty());
  check_refused(check, update_of(1.5F, 1.5), "out of all proportion");
  check.accepted(update_of(0.5F, 0.5));
  CHECK(fault_of(check, update_of(1.5F, 1.5)).empty());
  // One peer with tiny ones does not shut out the others.
  for (int i = 0; i < 20000; ++i) check.accepted(update_of(1e-9F, 1e-9));
  CHECK(fault_of(check, update_of(1e-6F, 1e-6)).empty());
}

TEST_CASE("a rule of densities says nothing of the first threshold") {
  UpdateCheck check(ThresholdRule::parse("quantile:1e-2"));
  CHECK(fault_of(check, update_of(300, 300)).empty());
  // But the step is bounded, with what applying it multiplies.
  check_refused(check, update_of(4e6F, 4e6), "move a parameter by 4e+06");
  CHECK_THAT(check.fault_of(update_of(300, 300), 1e4, kOnes),
             Catch::Contains("move a parameter by 3e+06"));
  check.accepted(update_of(300, 300));
  check_refused(check, update_of(4e5F, 4e5), "out of all proportion");
  UpdateCheck later(ThresholdRule::parse("quantile:1e-2"));
  later.start_from(300);
  check_refused(later, update_of(4e5F, 4e5), "out of all proportion");
}

TEST_CASE("an update's quanta are what it says they are") {
  UpdateCheck check(ThresholdRule::parse("adaptive:1"));
  check_refused(check, update_of(2, 1), "on average");
  check_refused(check, update_of(2, NAN), "out of all proportion");
  Update more = update_of(1, 1);
  ++more.quanta;
  check_refused(check, more, "8 quanta and says 9");
  Update damaged = update_of(1, 1);
  damaged.payload.pop_back();
  check_refused(check, damaged, "damaged update");
  Update empty;
  empty.threshold = 1;
  CHECK(fault_of(check, empty).empty());
  std::vector<float> few(3, 1);
  Update other = empty;
  other.quanta = dl::exchange::encode_threshold(few, 1, other.payload);
  check_refused(check, other, "3 elements, not 8");
}

TEST_CASE("a step is looked at against the parameters when it seems large") {
  StepBound bound;
  CHECK(bound.fault_of(1e6, kOnes).empty());
  CHECK_THAT(bound.fault_of(1.1e6, kOnes), Catch::Contains("the largest"));
  // The bound that is kept along grows, and the next look corrects it.
  for (int i = 0; i < 1000; ++i) {
    CHECK(bound.fault_of(1, kOnes).empty());
    bound.added(1);
  }
  CHECK(bound.fault_of(1e9, kOnes).empty());
  bound.added(1e38);
  CHECK(bound.fault_of(1, kOnes).empty());
  CHECK_FALSE(bound.fault_of(1.1e6, kOnes).empty());
  const std::vector<float> huge(8, 3e38F);
  CHECK_FALSE(StepBound().fault_of(1, huge).empty());
  CHECK_FALSE(bound.fault_of(NAN, kOnes).empty());
}

TEST_CASE("one answer that is much too large is done again by others") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging})
    for (const float size : {3e37F, 1e20F, 2e6F}) {
      INFO(size);
      Settings s = settings(mode);
      if (mode == Mode::kSharing) s.sharing.staleness = 0;
      s.averaging.workers = 3;
      Folder folder;
      std::optional<RunState> saved;
      Master master(s, Limits{}, folder, saved, 1, kExamples);
      Worker& bad = master.join("bad");
      for (const char* name : {"b", "c"}) master.join(name);
      run_with(master, bad, size);
      REQUIRE(master.over());
      CHECK(master.context.report.rejected >= 3);
      check_exactly_once(folder, 2);
      CHECK(master.context.state.parameters == undisturbed(s, 3).parameters);
      // Nothing of it is in the log.
      std::optional<RunState> nothing;
      RunState state;
      state.parameters.assign(kParameters, 1);
      if (mode == Mode::kAveraging) {
        state.statistics.assign(kStatistics, 1);
        state.updater_state.assign(kParameters, 0);
      }
      CHECK_NOTHROW(replay(folder.path(), {kParameters, 0}, state, kLastUpdate,
                           [](dl::Level, const std::string&) {}));
    }
}

TEST_CASE("answers of all that are too large end a run that can go on") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging}) {
    Folder folder;
    std::optional<RunState> saved;
    {
      Limits limits;
      limits.on_divergence = dl::cluster::OnDivergence::kStop;
      Master master(settings(mode), limits, folder, saved, 1, kExamples);
      for (const char* name : {"a", "b", "c"}) master.join(name);
      for (int i = 0; i < 4; ++i) master.turn();
      const auto all_lie = [&] {
        for (int turn = 0; turn < 200; ++turn) {
          for (auto& [name, worker] : master.link.workers)
            worker.exaggerates = 1e37F;
          master.turn();
        }
      };
      try {
        all_lie();
        FAIL("it goes on for ever");
      } catch (const dl::Error& error) {
        CHECK(error.code() == dl::Code::kDiverged);
        CHECK_THAT(error.what(), Catch::Contains("a lower learning rate"));
      }
      CHECK(all_finite(master.context.state.parameters));
    }
    Master again(settings(mode), Limits{}, folder, saved, 2, kExamples);
    for (const char* name : {"a", "b", "c"}) again.join(name);
    while (!again.over()) again.turn();
    check_exactly_once(folder, 2);
  }
}

TEST_CASE("in a tree one difference that is much too large is found") {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = 12;
  s.averaging.frequency = 2;
  Limits limits;
  limits.topology = Topology::kTree;
  limits.fan_out = 2;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, limits, folder, saved, 1, kExamples);
  for (int i = 0; i < 12; ++i) master.join("w" + std::to_string(i));
  run_with(master, master.link.workers.at("w5"), 1e37F);
  REQUIRE(master.over());
  CHECK(master.context.report.rejected >= 1);
  check_exactly_once(folder, 2);
  CHECK(master.context.state.parameters == undisturbed(s, 12).parameters);
}

}  // namespace dl::cluster::update_check_test
