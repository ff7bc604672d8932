#include "libcore/cluster/worker/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "libcore/base/error.h"

namespace dl::cluster {
namespace {

// Names of a launcher's variables; nullptr: it does not say.
struct Names {
  const char* rank;
  const char* size = nullptr;
  const char* local_rank = nullptr;
  const char* local_size = nullptr;
  // First rank, step, and in place of a size the last: a number, or the
  // variable that has it.
  const char* first = "0";
  const char* step = "1";
  const char* last = nullptr;
  // Without it, or with less, this is none of the launcher's processes.
  const char* needs = nullptr;
  int least = 0;
  // It may have started the launcher that was found before it.
  bool outer = false;
};

// The first that says something wins.
//
// MPI comes before Slurm, to which mpirun is one task.  The body of a batch
// script of Slurm's or PBS' is none of its tasks, but has some of their
// variables.  RANK is set for many reasons, so it comes late.
constexpr Names kLaunchers[] = {
    // Our own wrappers
    {.rank = "DL_RANK",
     .size = "DL_WORLD_SIZE",
     .local_rank = "DL_LOCAL_RANK",
     .local_size = "DL_LOCAL_SIZE"},
    // Open MPI
    {.rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE"},
    // MPICH, Intel MPI, srun --mpi=pmi2
    {.rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .local_size = "MPI_LOCALNRANKS",
     .needs = "PMI_SIZE"},
    // PALS
    {.rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "PMI_LOCAL_RANK",
     .local_size = "PMI_LOCAL_SIZE",
     .needs = "PMI_SIZE"},
    // LSF's jsrun
    {.rank = "JSM_NAMESPACE_RANK",
     .size = "JSM_NAMESPACE_SIZE",
     .local_rank = "JSM_NAMESPACE_LOCAL_RANK",
     .local_size = "JSM_NAMESPACE_LOCAL_SIZE"},
    // PMIx
    {.rank = "PMIX_RANK"},
    // Slurm's srun
    {.rank = "SLURM_PROCID",
     .size = "SLURM_STEP_NUM_TASKS",
     .local_rank = "SLURM_LOCALID",
     .local_size = "SLURM_STEP_TASKS_PER_NODE",
     .needs = "SLURM_STEP_ID",
     .outer = true},
    // torchrun, TorchDistributor, Ray, Kubeflow
    {.rank = "RANK",
     .size = "WORLD_SIZE",
     .local_rank = "LOCAL_RANK",
     .local_size = "LOCAL_WORLD_SIZE",
     .needs = "WORLD_SIZE"},
    // Horovod
    {.rank = "HOROVOD_RANK",
     .size = "HOROVOD_SIZE",
     .local_rank = "HOROVOD_LOCAL_RANK",
     .local_size = "HOROVOD_LOCAL_SIZE"},
    // LSF's blaunch
    {.rank = "LSF_PM_TASKID",
     .size = "LSB_DJOB_NUMPROC",
     .first = "1",
     .outer = true},
    // PBS' pbsdsh
    {.rank = "PBS_VNODENUM",
     .size = "PBS_NP",
     .needs = "PBS_TASKNUM",
     .least = 2,
     .outer = true},
    // An indexed Job of Kubernetes
    {.rank = "JOB_COMPLETION_INDEX", .outer = true},
    // Job arrays of Slurm, SGE, PBS, LSF
    {.rank = "SLURM_ARRAY_TASK_ID",
     .size = "SLURM_ARRAY_TASK_COUNT",
     .first = "SLURM_ARRAY_TASK_MIN",
     .step = "SLURM_ARRAY_TASK_STEP",
     .outer = true},
    {.rank = "SGE_TASK_ID",
     .first = "SGE_TASK_FIRST",
     .step = "SGE_TASK_STEPSIZE",
     .last = "SGE_TASK_LAST",
     .outer = true},
    {.rank = "PBS_ARRAY_INDEX", .outer = true},
    {.rank = "LSB_JOBINDEX", .first = "1", .outer = true},
    // GNU parallel
    {.rank = "PARALLEL_SEQ", .local_rank = "PARALLEL_JOBSLOT", .first = "1"},
};

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  // "": not set.  SGE's word for that is "undefined".
  std::string text(const char* variable) const {
    if (variable == nullptr) return "";
    const auto found = environment_.find(variable);
    return found == environment_.end() || found->second == "undefined"
               ? ""
               : found->second;
  }

  static LaunchedAs::Number number(std::int64_t value, const char* variable) {
    if (value >= INT32_MAX)
      throw Error{Code::kUsage, std::string(variable) + ": " +
                                    std::to_string(value) +
                                    " is no number of a process"};
    return {static_cast<int>(value), variable};
  }

  static std::int64_t parse(std::string_view text,
                            const std::string& variable) {
    std::int64_t value = -1;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      throw Error{Code::kUsage, variable +
                                    ": want a number of 0 or more, got '" +
                                    std::string(text) + "'"};
    return value;
  }

  // Value of a number, or of a variable; `otherwise` where that is not set.
  std::int64_t value(const char* of, std::int64_t otherwise) const {
    if (*of >= '0' && *of <= '9') return parse(of, of);
    const std::string found = text(of);
    return found.empty() ? otherwise : parse(found, of);
  }

  bool starts(const Names& names) const {
    if (names.needs == nullptr) return true;
    return !text(names.needs).empty() && value(names.needs, 0) >= names.least;
  }

  // Counted from 0; nothing: it is not set, or below the first.
  std::optional<LaunchedAs::Number> rank(const Names& names,
                                         const char* variable) const {
    if (text(variable).empty() || !starts(names)) return std::nullopt;
    const std::int64_t first = value(names.first, 0);
    const std::int64_t at = value(variable, 0) - first;
    if (at < 0) return std::nullopt;
    const std::int64_t step = std::max<std::int64_t>(1, value(names.step, 1));
    return number(at / step, variable);
  }

  std::optional<LaunchedAs::Number> size(const Names& names) const {
    if (names.last != nullptr && !text(names.last).empty()) {
      const std::int64_t step = std::max<std::int64_t>(1, value(names.step, 1));
      const std::int64_t steps =
          (value(names.last, 0) - value(names.first, 0)) / step;
      return number(steps + 1, names.last);
    }
    return count(names.size);
  }

  std::optional<LaunchedAs::Number> count(const char* variable) const {
    if (text(variable).empty()) return std::nullopt;
    return number(value(variable, 0), variable);
  }

  // Slurm tells of all nodes: "4(x2),3" are 4, 4 and 3.
  std::optional<LaunchedAs::Number> local_size(const Names& names) const {
    const std::string all = text(names.local_size);
    if (all.empty()) return std::nullopt;
    std::int64_t node =
        all.find_first_of("(,") == all.npos ? 0 : value("SLURM_NODEID", 0);
    for (std::string_view rest = all; !rest.empty();) {
      const std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      const auto times = item.find("(x");
      const std::int64_t count = parse(item.substr(0, times), names.local_size);
      node -= times == item.npos
                  ? 1
                  : parse(item.substr(times + 2, item.size() - times - 3),
                          names.local_size);
      if (node < 0) return number(count, names.local_size);
    }
    return std::nullopt;
  }

 private:
  const Environment& environment_;
};

void find_rank(const Reader& reader, LaunchedAs& result) {
  for (const Names& names : kLaunchers) {
    const auto rank = reader.rank(names, names.rank);
    if (!rank) continue;
    if (!result.rank) {
      result.rank = rank;
      result.size = reader.size(names);
      // Some do not tell it; it is for the user to do.
      if (!result.size) result.size = reader.count(kLaunchers[0].size);
      if (result.size && rank->value >= result.size->value)
        result.doubt = result.size->variable + " says " +
                       std::to_string(result.size->value) +
                       ", and ranks count from 0";
      if (&names == &kLaunchers[0]) return;
    } else if (rank->value == result.rank->value) {
      if (!result.size) result.size = reader.size(names);
    } else if (!names.outer && result.doubt.empty()) {
      result.doubt = rank->variable + " says " + std::to_string(rank->value) +
                     "; DL_RANK says it outright";
    }
  }
}

void find_local_rank(const Reader& reader, LaunchedAs& result) {
  for (const Names& names : kLaunchers) {
    result.local_rank = reader.rank(names, names.local_rank);
    if (!result.local_rank) continue;
    result.local_size = reader.local_size(names);
    if (result.local_size &&
        result.local_size->value <= result.local_rank->value)
      result.local_size.reset();
    return;
  }
}

}  // namespace

Environment environment_of_process() {
  Environment result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != text.npos)
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

LaunchedAs launched_as(const Environment& environment) {
  const Reader reader(environment);
  LaunchedAs result;
  find_rank(reader, result);
  find_local_rank(reader, result);
  return result;
}

std::string LaunchedAs::text() const {
  if (!rank) return "";
  return "rank " + std::to_string(rank->value) +
         (size ? " of " + std::to_string(size->value) : "") + " (" +
         rank->variable + ")";
}

}  // namespace dl::cluster
