// Reading of control group limits from /proc and /sys.

#include "libcore/base/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace dl {

namespace {

namespace fs = std::filesystem;

// Where a hierarchy is mounted, and the place of this process in it.
struct CgroupPath {
  fs::path mount;
  fs::path group;  // relative
};

// Path of a controller's group, from lines such as "0::/user.slice" and
// "4:cpu,cpuacct:/job7"; controller: "" for version 2.
std::optional<CgroupPath> place_of(const std::string& root,
                                   const std::string& controller) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    std::istringstream names(line.substr(first + 1, second - first - 1));
    bool found = controller.empty() && second == first + 1;
    for (std::string name; std::getline(names, name, ',');)
      found = found || (!controller.empty() && name == controller);
    if (!found) continue;
    return CgroupPath{fs::path(root + "/sys/fs/cgroup") / controller,
                      fs::path(line.substr(second + 1)).relative_path()};
  }
  return std::nullopt;
}

using Read = std::function<std::optional<double>(const fs::path& folder)>;

// A container may not see the groups that it is told to be in, but the mount.
std::optional<double> least(const std::string& root,
                            const std::string& controller, const Read& read) {
  const auto place = place_of(root, controller);
  if (!place) return std::nullopt;
  std::optional<double> result;
  for (fs::path group = place->group;; group = group.parent_path()) {
    if (const auto limit = read(place->mount / group))
      result = std::min(result.value_or(*limit), *limit);
    if (group.empty() || group == group.parent_path()) return result;
  }
}

std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;  // "max", or not there
}

std::optional<double> cores_in(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");  // "150000 100000", "max 100000"
  double quota = 0, period = 0;
  if (file >> quota >> period && period > 0) return quota / period;
  return std::nullopt;
}

std::optional<double> cores_in_v1(const fs::path& folder) {
  const auto quota = number_in(folder / "cpu.cfs_quota_us");  // -1: none
  const auto period = number_in(folder / "cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0) return *quota / *period;
  return std::nullopt;
}

std::optional<double> bytes_in_v1(const fs::path& folder) {
  constexpr double kNone = 1e18;  // no limit is a very high one
  const auto bytes = number_in(folder / "memory.limit_in_bytes");
  return bytes && *bytes < kNone ? bytes : std::nullopt;
}

std::optional<double> smaller(std::optional<double> a,
                              std::optional<double> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

std::optional<double> cgroup_cores(const std::string& root) {
  return smaller(least(root, "", cores_in), least(root, "cpu", cores_in_v1));
}

std::optional<std::uint64_t> cgroup_memory(const std::string& root) {
  const auto bytes = smaller(least(root, "",
                                   [](const fs::path& group) {
                                     return number_in(group / "memory.max");
                                   }),
                             least(root, "memory", bytes_in_v1));
  if (!bytes) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace dl
