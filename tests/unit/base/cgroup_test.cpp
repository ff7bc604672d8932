// Limits of control groups, from trees of files such as the kernel shows.

#include "libcore/base/cgroup.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/unit/scratch.h"

namespace dl::cgroup_test {

namespace {

namespace fs = std::filesystem;

// The root of a file system with these files.
class Root : public Scratch {
 public:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(*this / file).parent_path());
    Scratch::write(file, text);
  }
};

TEST_CASE("version 2: the least limit of a group and those above it") {
  Root root;
  CHECK_FALSE(dl::cgroup_cores(root.path()));
  root.write("proc/self/cgroup", "0::/jobs/job7\n");
  root.write("sys/fs/cgroup/jobs/job7/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/jobs/job7/memory.max", "1048576\n");
  CHECK_FALSE(dl::cgroup_cores(root.path()));
  CHECK(dl::cgroup_memory(root.path()) == 1048576);
  root.write("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/jobs/memory.max", "max\n");
  CHECK(dl::cgroup_cores(root.path()) == 1.5);
  CHECK(dl::cgroup_memory(root.path()) == 1048576);
}

TEST_CASE("a container that sees only its own group") {
  Root root;
  root.write("proc/self/cgroup", "0::/kubepods/pod7/c1\n");
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(dl::cgroup_cores(root.path()) == 2);
}

TEST_CASE("version 1 has a hierarchy for each controller") {
  Root root;
  root.write("proc/self/cgroup",
             "9:memory:/job7\n4:cpu,cpuacct:/job7\n3:cpuset:/\n0::/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(dl::cgroup_cores(root.path()));
  root.write("sys/fs/cgroup/cpu/job7/cpu.cfs_quota_us", "300000\n");
  root.write("sys/fs/cgroup/cpu/job7/cpu.cfs_period_us", "100000\n");
  CHECK(dl::cgroup_cores(root.path()) == 3);
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes",
             "9223372036854771712\n");
  CHECK_FALSE(dl::cgroup_memory(root.path()));
  root.write("sys/fs/cgroup/memory/job7/memory.limit_in_bytes", "2097152\n");
  CHECK(dl::cgroup_memory(root.path()) == 2097152);
}

}  // namespace

}  // namespace dl::cgroup_test
