#include "libcore/cluster/worker/local_rank.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "libcore/base/error.h"

namespace dl::cluster {
namespace {

// MPI's before Slurm's: to Slurm, mpirun is one task.
constexpr const char* kVariables[] = {
    "DL_LOCAL_RANK",   "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
    "SLURM_LOCALID",   "LOCAL_RANK"};

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::optional<LocalRank> local_rank() {
  for (const std::string variable : kVariables) {
    if (!is_set(variable.c_str())) continue;
    if (variable == "SLURM_LOCALID" && !is_set("SLURM_STEP_ID")) continue;
    const std::string_view text = std::getenv(variable.c_str());
    int rank = -1;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc() || end != text.data() + text.size() || rank < 0)
      throw Error{Code::kUsage, variable +
                                    ": want a number of 0 or more, got '" +
                                    std::string(text) + "'"};
    return LocalRank{rank, variable};
  }
  return std::nullopt;
}

}  // namespace dl::cluster
