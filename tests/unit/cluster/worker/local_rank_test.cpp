// Launchers say which process of a host this is.

#include "libcore/cluster/worker/local_rank.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "libcore/base/error.h"

namespace dl::cluster {
namespace {

// "VARIABLE RANK" in an environment of these alone; "": none.
std::string found(const std::map<std::string, std::string>& environment) {
  for (const char* variable :
       {"DL_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
        "PMI_LOCAL_RANK", "SLURM_STEP_ID", "SLURM_LOCALID", "LOCAL_RANK"})
    ::unsetenv(variable);
  for (const auto& [variable, value] : environment)
    ::setenv(variable.c_str(), value.c_str(), 1);
  const auto rank = local_rank();
  return rank ? rank->variable + " " + std::to_string(rank->rank) : "";
}

TEST_CASE("launchers say which process of a host this is") {
  CHECK(found({}).empty());
  CHECK(found({{"LOCAL_RANK", "3"}}) == "LOCAL_RANK 3");
  CHECK(found({{"LOCAL_RANK", ""}}).empty());
  CHECK(found({{"SLURM_LOCALID", "2"}, {"SLURM_STEP_ID", "0"}}) ==
        "SLURM_LOCALID 2");
  // The body of a batch script.
  CHECK(found({{"SLURM_LOCALID", "0"}}).empty());
  // mpirun within a task of Slurm's.
  CHECK(found({{"SLURM_LOCALID", "0"},
               {"SLURM_STEP_ID", "0"},
               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}) ==
        "OMPI_COMM_WORLD_LOCAL_RANK 1");
  CHECK_THROWS_WITH(found({{"LOCAL_RANK", "-1"}}),
                    "LOCAL_RANK: want a number of 0 or more, got '-1'");
  CHECK_THROWS_WITH(found({{"MPI_LOCALRANKID", "one"}}),
                    "MPI_LOCALRANKID: want a number of 0 or more, got 'one'");
  found({});
}

}  // namespace
}  // namespace dl::cluster
