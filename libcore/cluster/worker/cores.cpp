#include "libcore/cluster/worker/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <thread>

#include "libcore/base/cgroup.h"

namespace dl::cluster {
namespace {

int count_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// A thread may not leave its cpuset: who asks for every core gets that.
int count_allowed() {
  int count = 0;
  std::thread([&count] {
    cpu_set_t set;
    std::memset(&set, 0xff, sizeof set);
    sched_setaffinity(0, sizeof set, &set);
    count = count_affinity();
  }).join();
  return count;
}

// 0: not set, or no number; users have set it for others than us.
int number_in(const Environment& environment, const char* variable) {
  const auto found = environment.find(variable);
  if (found == environment.end()) return 0;
  int value = 0;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string cores_text(int count) {
  return std::to_string(count) + (count == 1 ? " core" : " cores");
}

}  // namespace

Cores cores_of_process() {
  const int bound = count_affinity();
  return {bound, std::max(bound, count_allowed()), cgroup_cores()};
}

Threads share_cores(const Cores& cores, const LaunchedAs& place,
                    const Environment& environment) {
  const bool divided = cores.bound < cores.allowed;
  const int ranks = place.local_size ? std::max(1, place.local_size->value) : 1;
  Threads result{cores.bound, cores_text(cores.bound)};
  if (divided) result.why = "bound to " + result.why;
  const auto at_most = [&result](int count, const std::string& why) {
    if (count <= 0 || count >= result.count) return;
    result = {count, why};
  };
  // Cores that all ranks of the host share; of bound ones, for each.
  const auto together = [&](int count, const std::string& why) {
    at_most(divided ? std::max(1, count / ranks) : count,
            why + ": " + cores_text(count));
  };
  if (place.local_rank && place.local_rank->variable == "SLURM_LOCALID")
    together(number_in(environment, "SLURM_CPUS_ON_NODE"),
             "SLURM_CPUS_ON_NODE");
  if (cores.limit)
    together(std::max(1, static_cast<int>(std::ceil(*cores.limit))),
             "the control group's limit");
  if (!divided && ranks > 1) {
    result.count = std::max(1, result.count / ranks);
    result.why += " for " + std::to_string(ranks) + " ranks (" +
                  place.local_size->variable + ")";
  }
  for (const char* variable : {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"})
    at_most(number_in(environment, variable), variable);
  return result;
}

}  // namespace dl::cluster
