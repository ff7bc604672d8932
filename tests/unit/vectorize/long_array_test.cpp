#include "libcore/vectorize/series/long_array.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace dl::vectorize::long_array_test {

TEST_CASE("a long array keeps its values as it grows, and gives them on") {
  constexpr std::int64_t kValues = 500'000;  // on the heap, then in pages
  LongArray<std::int64_t> array;
  CHECK(array.empty());
  for (std::int64_t i = 0; i < kValues; ++i) array.push_back(i);
  const std::vector<std::int64_t> more = {-1, -2, -3};
  array.append(more);
  REQUIRE(array.size() == kValues + 3);
  bool same = true;
  for (std::int64_t i = 0; i < kValues; ++i)
    same = same && array[static_cast<std::size_t>(i)] == i;
  CHECK(same);
  CHECK(array.back() == -3);
  LongArray<std::int64_t> other = std::move(array);
  other.shorten(2);
  CHECK(std::vector<std::int64_t>(other.begin(), other.end()) ==
        std::vector<std::int64_t>{0, 1});
  LongArray<std::int64_t> third;
  third.push_back(7);
  third = std::move(other);
  CHECK(third.size() == 2);
  third.append({});
  third.reserve(1'000'000);
  CHECK(third.front() == 0);
}

}  // namespace dl::vectorize::long_array_test
