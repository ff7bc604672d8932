// Results of averaging whose worker tells another loss of them than they have.

#include "libcore/cluster/master/epoch/averaging/result_audit.h"

#include <catch2/catch.hpp>

#include "libcore/cluster/health/step_bound.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::result_audit_test {

using namespace simulation;

namespace {

// Parameters of which one is large have a loss of 50, and 0.25 is what workers
// tell of any.
void measure_by_size(Master& master) {
  master.context.loss_of =
      [](std::span<const float> parameters,
         std::span<const float>) -> std::optional<OwnLoss> {
    return OwnLoss{largest_magnitude(parameters) > 100 ? 50 : 0.25, 0.01};
  };
}

Settings of_rounds() {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = 3;
  s.epochs = 20;
  return s;
}

}  // namespace

TEST_CASE(
    "a replica that is not what its worker tells is left out, and named") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(of_rounds(), Limits{}, folder, saved, 1, kExamples);
  measure_by_size(master);
  Worker& bad = master.join("bad");
  master.join("b");
  master.join("c");
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
    bad.exaggerates = 500;
    master.turn();
  }
  REQUIRE(master.over());
  CHECK(bad.refused == 69);
  CHECK(master.context.report.rejected == ResultHandler::kMostRejections);
  CHECK(largest_magnitude(master.context.state.parameters) < 100);
  CHECK(std::ranges::any_of(master.said, [](const std::string& line) {
    return line.find("bad") != line.npos &&
           line.find("has a loss of 50") != line.npos;
  }));
  check_exactly_once(folder, 20);
}

TEST_CASE("nobody is to blame for replicas that all workers come to") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(of_rounds(), Limits{}, folder, saved, 1, kExamples);
  measure_by_size(master);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
    for (auto& [name, worker] : master.link.workers) worker.exaggerates = 500;
    master.turn();
  }
  REQUIRE(master.over());
  for (const auto& [name, worker] : master.link.workers)
    CHECK(worker.refused == -1);
  CHECK(master.context.report.rejected <= 3);
  check_exactly_once(folder, 20);
}

TEST_CASE("a worker that another resembles a little is still to blame") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(of_rounds(), Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"odd", "bad", "c"}) master.join(name);
  RunContext& context = master.context;
  context.loss_of = [](std::span<const float> parameters,
                       std::span<const float>) -> std::optional<OwnLoss> {
    const double size = largest_magnitude(parameters);
    return OwnLoss{size > 400 ? 50000 : size > 100 ? 1 : 0.25, 0.01};
  };
  const std::vector<Member*> workers = context.members.present();
  REQUIRE(workers.size() == 3);
  Result result;
  result.examples = 1;
  result.loss_sum = 0.25;
  const std::vector<float> a_little(kParameters, 150), much(kParameters, 800);
  const auto fault_of = [&](std::size_t worker, std::span<const float> delta) {
    return context.audit.fault_of(context, *workers[worker], result, delta);
  };
  CHECK(fault_of(0, a_little) != "");
  CHECK(fault_of(1, much) != "");
  CHECK(fault_of(0, a_little) == "");
  CHECK(fault_of(1, much) != "");
}

}  // namespace dl::cluster::result_audit_test
