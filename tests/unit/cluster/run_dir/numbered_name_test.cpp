// Tests of libcore/cluster/run_dir/numbered_name.h.

#include "libcore/cluster/run_dir/numbered_name.h"

#include <catch2/catch.hpp>

namespace dl::cluster::numbered_name_test {

TEST_CASE("the number of a file's name comes back") {
  const NumberedName name{"checkpoint-", ".safetensors", 6};
  CHECK(name.of(41) == "checkpoint-000041.safetensors");
  CHECK(name.of(12345678) == "checkpoint-12345678.safetensors");
  for (const std::int64_t number : {0, 41, 999'999, 12'345'678})
    CHECK(name.parse(name.of(number)) == number);
}

TEST_CASE("a name of another kind has no number") {
  const NumberedName name{"updates-", ".log", 12};
  for (const char* other :
       {"", "updates-.log", "updates-1.logs", "update-1.log", "updates--1.log",
        "updates-+1.log", "updates-1a.log", "updates-1.log.tmp",
        "updates-1234567890123456789.log"})
    CHECK_FALSE(name.parse(other));
}

}  // namespace dl::cluster::numbered_name_test
