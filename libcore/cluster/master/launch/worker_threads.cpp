#include "libcore/cluster/master/launch/worker_threads.h"

#include <algorithm>

#include "libcore/base/parallel.h"

namespace dl::cluster {
namespace {

// The least work of a thread in a mini-batch, forward, that is worth waking it:
// below it two threads took longer than one.
constexpr double kFlopsForThread = 500'000;

}  // namespace

int threads_of_worker(const MasterOptions& options, const RunConfig& plan) {
  if (options.threads > 0) return static_cast<int>(options.threads);
  const auto workers = std::max(1, static_cast<int>(options.local));
  const double useful = plan.flops_per_batch() / kFlopsForThread;
  const int cores = std::max(1, available_cores() / workers);
  return useful < cores ? std::max(1, static_cast<int>(useful)) : cores;
}

}  // namespace dl::cluster
