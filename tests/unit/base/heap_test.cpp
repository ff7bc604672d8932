// Memory that a process gives back.

#include "libcore/base/heap.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

namespace dl::heap_test {

namespace {

// Bytes of this process in memory, and of no file.
std::size_t resident() {
  std::size_t all = 0, here = 0, of_files = 0;
  std::ifstream("/proc/self/statm") >> all >> here >> of_files;
  return (here - of_files) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("a large block gives its pages back, and can be written again") {
  constexpr std::size_t kCount = std::size_t{70} << 20;
  std::vector<float> block(kCount, 1.0F);
  const std::size_t before = resident();
  give_back_pages(std::as_writable_bytes(std::span(block)));
  CHECK(resident() + (kCount * sizeof(float)) / 2 < before);
  std::ranges::fill(block, 2.0F);
  CHECK(std::ranges::count(block, 2.0F) == std::ssize(block));
}

TEST_CASE("a small block keeps its contents") {
  std::vector<float> block(1000, 3.0F);
  give_back_pages(std::as_writable_bytes(std::span(block)));
  CHECK(std::ranges::count(block, 3.0F) == 1000);
}

}  // namespace dl::heap_test
