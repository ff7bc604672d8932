// Whole runs of the simulation: undisturbed, and while everything dies now and
// then.

#ifndef DL_TESTS_UNIT_CLUSTER_MASTER_WHOLE_RUN_H_
#define DL_TESTS_UNIT_CLUSTER_MASTER_WHOLE_RUN_H_

#include "tests/unit/cluster/master/simulation.h"

namespace simulation {

inline constexpr std::int64_t kExamples =
    203;  // 51 mini-batches of 4, one short

Settings settings(Mode mode);
void check_exactly_once(const Folder& folder, std::int64_t epochs);
// Compares the state of a killed master with the first state of its successor.
void check_goes_on(const RunState& before, const RunState& now);
// Runs undisturbed; returns what it came to.
RunState undisturbed(const Settings& settings, int workers,
                     const Limits& limits = {});
// Runs while workers die, fall silent, go deaf and come, and the master is
// killed now and then.  In a tree, what parents send comes late, and some
// workers are out of others' reach.
RunState disturbed(const Settings& s, std::uint64_t seed, Limits limits = {},
                   int workers = 0);

}  // namespace simulation

#endif  // DL_TESTS_UNIT_CLUSTER_MASTER_WHOLE_RUN_H_
