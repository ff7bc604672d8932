// The cores of a host are shared once.

#include "libcore/cluster/worker/cores.h"

#include <catch2/catch.hpp>

#include "libcore/cluster/worker/place.h"

namespace dl::cluster::cores_test {
namespace {

std::string shared(const Cores& cores, int ranks = 1,
                   const Environment& environment = {}) {
  LaunchedAs place;
  if (ranks > 1) place.local_size = {{ranks, "LOCAL_WORLD_SIZE"}};
  const Threads threads = share_cores(cores, place, environment);
  return std::to_string(threads.count) + " of " + threads.why;
}

TEST_CASE("ranks share a host's cores") {
  CHECK(shared({8, 8, {}}) == "8 of 8 cores");
  CHECK(shared({8, 8, {}}, 3) == "2 of 8 cores for 3 ranks (LOCAL_WORLD_SIZE)");
  CHECK(shared({2, 2, {}}, 4) == "1 of 2 cores for 4 ranks (LOCAL_WORLD_SIZE)");
}

TEST_CASE("who is bound to cores has them") {
  CHECK(shared({2, 8, {}}, 4) == "2 of bound to 2 cores");
  CHECK(shared({1, 8, {}}) == "1 of bound to 1 core");
}

TEST_CASE("a limit is for all of a control group") {
  CHECK(shared({8, 8, 2.5}) == "3 of the control group's limit: 3 cores");
  CHECK(shared({8, 8, 4.0}, 2) ==
        "2 of the control group's limit: 4 cores for 2 ranks "
        "(LOCAL_WORLD_SIZE)");
  CHECK(shared({4, 8, 4.0}, 2) == "2 of the control group's limit: 4 cores");
  CHECK(shared({8, 8, 0.2}) == "1 of the control group's limit: 1 core");
  CHECK(shared({8, 8, 16.0}) == "8 of 8 cores");
}

TEST_CASE("a launcher may give each task less") {
  CHECK(shared({8, 8, {}}, 2, {{"SLURM_CPUS_PER_TASK", "3"}}) ==
        "3 of SLURM_CPUS_PER_TASK");
  CHECK(shared({8, 8, {}}, 2, {{"SLURM_CPUS_PER_TASK", "6"}}) ==
        "4 of 8 cores for 2 ranks (LOCAL_WORLD_SIZE)");
  CHECK(shared({8, 8, {}}, 1, {{"OMP_NUM_THREADS", "4,2"}}) ==
        "4 of OMP_NUM_THREADS");
  CHECK(shared({8, 8, {}}, 1, {{"OMP_NUM_THREADS", "many"}}) == "8 of 8 cores");
}

TEST_CASE("without binding, Slurm says how much of the host is the job's") {
  LaunchedAs place;
  place.local_rank = {{0, "SLURM_LOCALID"}};
  place.local_size = {{2, "SLURM_STEP_TASKS_PER_NODE"}};
  const Threads threads =
      share_cores({16, 16, {}}, place, {{"SLURM_CPUS_ON_NODE", "4"}});
  CHECK(threads.count == 2);
  CHECK(threads.why ==
        "SLURM_CPUS_ON_NODE: 4 cores for 2 ranks (SLURM_STEP_TASKS_PER_NODE)");
}

TEST_CASE("a cache that takes what a network needs is told of") {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  CHECK(memory_doubt(256 * kMebibyte, 512 * kMebibyte, 1).empty());
  CHECK(memory_doubt(256 * kMebibyte, 1024 * kMebibyte, 4) ==
        "--cache 256Mi is more than half of the 256Mi that the control group "
        "allows; with the network it may be killed");
}

TEST_CASE("what the kernel says of this process") {
  const Cores cores = cores_of_process();
  CHECK(cores.bound >= 1);
  CHECK(cores.allowed >= cores.bound);
}

}  // namespace
}  // namespace dl::cluster::cores_test
