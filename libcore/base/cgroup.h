// The limits of the control groups that this process is in, version 1 or 2.

#ifndef DL_LIBCORE_BASE_CGROUP_H_
#define DL_LIBCORE_BASE_CGROUP_H_

#include <cstdint>
#include <optional>
#include <string>

namespace dl {

// The least that its group and those above it allow; nothing: no limit, or none
// that can be seen from here.  root: of the file system, for tests.
std::optional<double> cgroup_cores(const std::string& root = "");
std::optional<std::uint64_t> cgroup_memory(const std::string& root = "");

}  // namespace dl

#endif  // DL_LIBCORE_BASE_CGROUP_H_
