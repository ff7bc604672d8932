// Products of small whole numbers, which are exact in any order.

#include "libcore/linalg/products.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <thread>
#include <vector>

#include "libcore/linalg/openblas.h"

namespace dl::linalg::products_test {

namespace {

template <typename T>
std::vector<T> numbers(std::int64_t count, std::uint32_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<T>(seed >> 28) - 8;
  }
  return values;
}

float at(const std::vector<float>& all, std::int64_t row, std::int64_t i,
         std::int64_t j, bool transposed) {
  return all[static_cast<std::size_t>(transposed ? j * row + i : i * row + j)];
}

void check(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb,
           bool add) {
  CAPTURE(m, n, k, ta, tb, add);
  // Rows lie further apart than they are long.
  const std::int64_t a_row = (ta ? m : k) + 2, b_row = (tb ? k : n) + 1,
                     c_row = n + 3;
  const auto a = numbers<float>((ta ? k : m) * a_row, 1),
             b = numbers<float>((tb ? n : k) * b_row, 2);
  auto c = numbers<float>(m * c_row, 3);
  auto expected = c;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float& sum = expected[static_cast<std::size_t>(i * c_row + j)];
      if (!add) sum = 0;
      for (std::int64_t d = 0; d < k; ++d)
        sum += at(a, a_row, i, d, ta) * at(b, b_row, d, j, tb);
    }
  multiply(c.data(), c_row, m, n, k, Factor{a.data(), a_row, ta},
           Factor{b.data(), b_row, tb}, add);
  CHECK(c == expected);
}

}  // namespace

TEST_CASE("products of matrices and their transposes") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const bool add : {false, true}) {
        check(1, 1, 1, ta, tb, add);
        check(3, 5, 7, ta, tb, add);
        check(33, 17, 65, ta, tb, add);
        check(1, 40, 9, ta, tb, add);
        check(2, 3, 0, ta, tb, add);  // a sum of nothing
      }
}

TEST_CASE("sums of squares fill the lower triangle alone") {
  for (const std::int64_t rows : {0, 1, 40}) {
    constexpr std::int64_t n = 9;
    const auto x = numbers<double>(rows * n, 4);
    auto s = numbers<double>(n * n, 5);
    auto expected = s;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        for (std::int64_t r = 0; r < rows; ++r)
          expected[static_cast<std::size_t>(i * n + j)] +=
              x[static_cast<std::size_t>(r * n + i)] *
              x[static_cast<std::size_t>(r * n + j)];
    add_squares(s.data(), n, x.data(), rows);
    CHECK(s == expected);
  }
}

TEST_CASE("many threads multiply side by side") {
  constexpr std::int64_t n = 96;
  const auto a = numbers<float>(n * n, 6), b = numbers<float>(n * n, 7);
  const auto product = [&] {
    std::vector<float> c(n * n);
    multiply(c.data(), n, n, n, n, {a.data(), n}, {b.data(), n, true}, false);
    return c;
  };
  const auto expected = product();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (product() != expected) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("the library says what it is") {
  CHECK(dl::linalg::library().starts_with("OpenBLAS 0."));
  CHECK(dl::linalg::library().find(' ', 9) == std::string::npos);
  CHECK_FALSE(dl::linalg::processor().empty());
}

}  // namespace dl::linalg::products_test
