// A worker that is much slower than the others.

#include "libcore/cluster/master/members/stragglers.h"

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::stragglers_test {

using namespace simulation;

namespace {

std::vector<std::string> warnings(const Master& master) {
  std::vector<std::string> result;
  for (const std::string& line : master.said)
    if (line.find("slower than the median") != std::string::npos)
      result.push_back(line);
  return result;
}

// Trains for so many seconds, while the last of the workers does something in
// each period-th turn only.
void train(Master& master, double seconds, int period) {
  master.link.workers["slow"].period = period;
  for (int turn = 0; turn < seconds * 10; ++turn) master.turn();
  REQUIRE_FALSE(master.over());
}

}  // namespace

TEST_CASE("a straggler is told of once, and again when it is much slower") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing})
    for (const int workers : {2, 3, 7}) {
      Folder folder;
      std::optional<RunState> saved;
      Settings s = settings(mode);
      s.epochs = 1000;
      s.averaging.workers = mode == Mode::kAveraging ? workers : 0;
      if (mode == Mode::kSharing && workers == 7) s.sharing.staleness = 0;
      Master master(s, Limits{}, folder, saved, 1, kExamples);
      for (int i = 1; i < workers; ++i) master.join("w" + std::to_string(i));
      master.join("slow");
      INFO("mode " << static_cast<int>(mode) << ", " << workers << " workers");
      train(master, 20, 1);
      CHECK(warnings(master).empty());
      train(master, 100, 10);
      const auto told = warnings(master);
      REQUIRE(told.size() >= 1);
      REQUIRE(told.size() <= 2);  // while it was becoming slower, too
      CHECK_THAT(told[0], Catch::StartsWith("slow (worker " +
                                            std::to_string(workers) + ") is "));
      train(master, 100, 10);
      CHECK(warnings(master).size() == told.size());
      train(master, 300, 100);
      CHECK(warnings(master).size() > told.size());
    }
}

TEST_CASE("what a worker waits for others is not its own slowness") {
  Member quick, slow;
  quick.number = 1;
  slow.number = 2;
  double now = 1;
  for (int round = 0; round < 10; ++round) {
    note_begun(quick, now);
    note_begun(slow, now);
    note_trained(quick, 4, now + 1);
    note_trained(slow, 4, now += 8);
  }
  CHECK(quick.batch_seconds == Approx(0.25));
  CHECK(slow.batch_seconds == Approx(2));
  const std::vector<Member*> both = {&quick, &slow};
  CHECK(Medians(both).of_others(slow) == Approx(0.25));
  CHECK(find_stragglers(both, now).empty());
  const auto found = find_stragglers(both, now + 6);
  REQUIRE(found.size() == 1);
  CHECK(found[0].member == &slow);
  CHECK(found[0].factor == Approx(8));
  CHECK(find_stragglers(both, now + 7).empty());
}

TEST_CASE("a worker that is so slow that it gets no more work is told of") {
  Member quick, slow;
  quick.number = 1;
  slow.number = 2;
  note_begun(quick, 1);
  for (int batch = 0; batch < 10; ++batch) note_trained(quick, 1, 2 + batch);
  note_begun(slow, 1);
  note_trained(slow, 1, 2);   // the first does not count
  note_trained(slow, 1, 10);  // and then none
  const std::vector<Member*> both = {&quick, &slow};
  CHECK(find_stragglers(both, 11).empty());
  CHECK(find_stragglers(both, 17).empty());
  CHECK(find_stragglers(both, 21).size() == 1);
}

}  // namespace dl::cluster::stragglers_test
