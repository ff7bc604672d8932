// The variables of launchers say which of their processes this is.

#include "libcore/cluster/worker/launcher.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

#include "libcore/base/error.h"

namespace dl::cluster::launcher_test {
namespace {

// tests/golden/launchers/NAME: lines of VARIABLE=VALUE.
Environment golden(const std::string& name) {
  std::ifstream file(DL_SOURCE_DIR "/tests/golden/launchers/" + name);
  INFO(name);
  REQUIRE(file);
  Environment result;
  for (std::string line; std::getline(file, line);)
    if (const auto equals = line.find('='); !line.starts_with("#"))
      result[line.substr(0, equals)] = line.substr(equals + 1);
  return result;
}

std::string found(const Environment& environment) {
  const LaunchedAs place = launched_as(environment);
  std::string text = place.rank ? place.text() : "none";
  if (place.local_rank)
    text += ", local " + std::to_string(place.local_rank->value);
  if (place.local_size)
    text += " of " + std::to_string(place.local_size->value);
  return place.doubt.empty() ? text : text + "; " + place.doubt;
}

TEST_CASE("each launcher says it in its own way") {
  CHECK(found(golden("openmpi")) ==
        "rank 1 of 2 (OMPI_COMM_WORLD_RANK), local 1 of 2");
  CHECK(found(golden("openmpi-in-slurm")) ==
        "rank 1 of 2 (OMPI_COMM_WORLD_RANK), local 1 of 2");
  CHECK(found(golden("mpich")) == "rank 1 of 2 (PMI_RANK), local 1 of 2");
  CHECK(found(golden("slurm-step")) ==
        "rank 5 of 7 (SLURM_PROCID), local 1 of 2");
  CHECK(found(golden("slurm-pmi2")) == "rank 1 of 2 (PMI_RANK), local 1 of 2");
  CHECK(found(golden("slurm-batch")) == "none");
  CHECK(found(golden("slurm-array")) == "rank 2 of 4 (SLURM_ARRAY_TASK_ID)");
  CHECK(found(golden("torchrun")) == "rank 1 of 2 (RANK), local 1 of 2");
  CHECK(found(golden("horovod")) == "rank 2 of 4 (HOROVOD_RANK), local 0 of 2");
  CHECK(found(golden("kubernetes")) == "rank 3 (JOB_COMPLETION_INDEX)");
  CHECK(found(golden("kubernetes-torchrun")) ==
        "rank 3 of 4 (RANK), local 1 of 2");
  CHECK(found(golden("lsf-blaunch")) == "rank 2 of 4 (LSF_PM_TASKID)");
  CHECK(found(golden("lsf-jsrun")) ==
        "rank 3 of 4 (JSM_NAMESPACE_RANK), local 1 of 2");
  CHECK(found(golden("lsf-array")) == "rank 1 (LSB_JOBINDEX)");
  CHECK(found(golden("pbs-pbsdsh")) == "rank 3 of 4 (PBS_VNODENUM)");
  CHECK(found(golden("pbs-batch")) == "none");
  CHECK(found(golden("pbs-array")) == "rank 2 (PBS_ARRAY_INDEX)");
  CHECK(found(golden("sge-array")) == "rank 1 of 3 (SGE_TASK_ID)");
  CHECK(found(golden("sge-single")) == "none");
  CHECK(found(golden("parallel")) == "rank 3 (PARALLEL_SEQ), local 1");
  CHECK(found({}) == "none");
}

TEST_CASE("whose launcher does not tell the size may do it") {
  Environment environment = golden("kubernetes");
  environment["DL_WORLD_SIZE"] = "8";
  CHECK(found(environment) == "rank 3 of 8 (JOB_COMPLETION_INDEX)");
  CHECK(found({{"PMIX_RANK", "1"},
               {"SLURM_STEP_ID", "0"},
               {"SLURM_PROCID", "1"},
               {"SLURM_STEP_NUM_TASKS", "4"}}) == "rank 1 of 4 (PMIX_RANK)");
}

TEST_CASE("what we are told outright is not doubted, other sources may be") {
  CHECK(found(golden("parallel-in-slurm")) ==
        "rank 0 of 1 (SLURM_PROCID), local 0 of 1; PARALLEL_SEQ says 2; "
        "DL_RANK says it outright");
  Environment environment = golden("slurm-step");
  environment["RANK"] = "5";
  environment["WORLD_SIZE"] = "7";
  CHECK(launched_as(environment).doubt.empty());
  environment["RANK"] = "2";
  CHECK(launched_as(environment).doubt ==
        "RANK says 2; DL_RANK says it outright");
  environment["DL_RANK"] = "9";
  environment["DL_WORLD_SIZE"] = "10";
  CHECK(found(environment) == "rank 9 of 10 (DL_RANK), local 1 of 2");
}

TEST_CASE("a rank beyond the number of processes is doubted") {
  CHECK(launched_as({{"DL_RANK", "5"}, {"DL_WORLD_SIZE", "2"}}).doubt ==
        "DL_WORLD_SIZE says 2, and ranks count from 0");
  Environment environment = golden("slurm-step");
  environment["SLURM_PROCID"] = "7";
  CHECK(launched_as(environment).doubt ==
        "SLURM_STEP_NUM_TASKS says 7, and ranks count from 0");
}

TEST_CASE("a local rank goes without a rank") {
  CHECK(found({{"DL_LOCAL_RANK", "3"}}) == "none, local 3");
  // Set for many reasons.
  CHECK(found({{"LOCAL_RANK", "3"}, {"RANK", "1"}}) == "none");
  CHECK(found({{"DL_LOCAL_RANK", ""}}) == "none");
}

TEST_CASE("numbers of the tasks on each node") {
  Environment environment = golden("slurm-step");
  environment["SLURM_NODEID"] = "3";
  environment["SLURM_LOCALID"] = "0";
  CHECK(found(environment) == "rank 5 of 7 (SLURM_PROCID), local 0 of 1");
  environment["SLURM_NODEID"] = "4";  // of another part of the job
  CHECK(found(environment) == "rank 5 of 7 (SLURM_PROCID), local 0");
}

TEST_CASE("the table of dl(7) has every variable") {
  const auto text_of = [](const std::string& path) {
    std::ifstream file(DL_SOURCE_DIR "/" + path);
    REQUIRE(file);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string page = text_of("man/dl.7.scd");
  const auto begin = page.find("# LAUNCHERS");
  const std::string table =
      page.substr(begin, page.find("# ENVIRONMENT") - begin);
  const std::string code = text_of("libcore/cluster/worker/launcher.cpp");
  const std::regex variable("\"([A-Z]+[A-Z_]+)\"");
  int count = 0;
  for (std::sregex_iterator at(code.begin(), code.end(), variable), end;
       at != end; ++at, ++count) {
    const std::regex word("\\b" + (*at)[1].str() + "\\b");
    INFO((*at)[1].str());
    CHECK(std::regex_search(table, word));
  }
  CHECK(count > 40);
}

TEST_CASE("what is no number is an error") {
  CHECK_THROWS_WITH(found({{"DL_RANK", "-1"}}),
                    "DL_RANK: want a number of 0 or more, got '-1'");
  CHECK_THROWS_WITH(found({{"DL_RANK", "4294967296"}}),
                    "DL_RANK: 4294967296 is no number of a process");
  CHECK_THROWS_WITH(found({{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}}),
                    "PMI_RANK: want a number of 0 or more, got 'one'");
  Environment environment = golden("slurm-step");
  environment["SLURM_STEP_TASKS_PER_NODE"] = "2(x";
  CHECK_THROWS_AS(found(environment), Error);
  environment["SLURM_STEP_TASKS_PER_NODE"] = "(";
  CHECK_THROWS_AS(found(environment), Error);
}

}  // namespace
}  // namespace dl::cluster::launcher_test
