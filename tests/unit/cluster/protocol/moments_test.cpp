// Tests of libcore/cluster/protocol/moments.h.

#include "libcore/cluster/protocol/moments.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace dl::cluster::moments_test {
namespace {

TEST_CASE("sums and extremes are those of each number, of any size") {
  for (const double scale : {1.0, 1e-25, 1e30})
    for (const int size : {1, 7, 8, 1023, 1024, 5000}) {
      std::vector<float> values;
      double sum = 0, squares = 0;
      for (int i = 0; i < size; ++i) {
        const double x = scale * std::sin(1.0 + 3.0 * i);
        values.push_back(static_cast<float>(x));
        sum += x;
        squares += x * x;
      }
      Moments moments;
      moments.add(std::span(values).first(1));
      moments.add(std::span(values).subspan(1));
      INFO(scale << " " << size);
      CHECK(moments.count() == values.size());
      CHECK(moments.sum() == Approx(sum).margin(1e-4 * scale));
      CHECK(moments.squares() == Approx(squares).epsilon(1e-5));
      CHECK(moments.low() == *std::ranges::min_element(values));
      CHECK(moments.high() == *std::ranges::max_element(values));
    }
  CHECK(Moments().count() == 0);
}

}  // namespace
}  // namespace dl::cluster::moments_test
