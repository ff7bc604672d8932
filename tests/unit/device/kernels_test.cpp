// The inner loops of every vector width that this processor can run.

#include "libcore/device/cpu/kernels/kernels.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace {

using dl::device::GemmTile;
using dl::device::Kernels;

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> found = {&dl::device::kPortableKernels};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back(&dl::device::kAvx2Kernels);
  if (__builtin_cpu_supports("avx512f"))
    found.push_back(&dl::device::kAvx512Kernels);
#endif
  return found;
}

// Small whole numbers, so that sums are exact in any order.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 28) - 8;
  }
  return values;
}

void check_tile(const Kernels& k, int rows, int vectors, bool add, bool bias,
                bool relu) {
  CAPTURE(k.name, rows, vectors, add, bias, relu);
  constexpr std::size_t depth = 7;
  const auto height = static_cast<std::size_t>(rows);
  const auto width = static_cast<std::size_t>(vectors * k.lanes);
  const auto a = numbers(depth * height, 1), b = numbers(depth * width, 2),
             offsets = numbers(width, 3);
  const std::size_t c_row = width + 3;
  auto c = numbers(height * c_row, 4);
  auto expected = c;
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      float& sum = expected[i * c_row + j];
      sum = add ? sum : bias ? offsets[j] : 0;
      for (std::size_t d = 0; d < depth; ++d)
        sum += a[d * height + i] * b[d * width + j];
      if (relu && sum < 0) sum = 0;
    }
  k.gemm_tile(rows, vectors,
              {.a = a.data(),
               .b = b.data(),
               .depth = depth,
               .c = c.data(),
               .c_row = static_cast<std::int64_t>(c_row),
               .add = add,
               .bias = bias ? offsets.data() : nullptr,
               .relu = relu});
  CHECK(c == expected);
}

}  // namespace

TEST_CASE("tiles of a matrix product, of every size") {
  for (const Kernels* k : all_kernels())
    for (int rows = 1; rows <= k->max_rows; ++rows)
      for (const int vectors : {1, 2}) {
        check_tile(*k, rows, vectors, false, false, false);
        check_tile(*k, rows, vectors, true, false, true);
        check_tile(*k, rows, vectors, false, true, true);
      }
}

TEST_CASE("rows turned into columns") {
  for (const Kernels* k : all_kernels())
    for (int rows = 1; rows <= k->lanes; ++rows)
      for (const std::int64_t columns : {1, 5, 16, 37}) {
        CAPTURE(k->name, rows, columns);
        const std::int64_t from_row = columns + 1, to_column = rows + 2;
        const auto from = numbers(static_cast<std::size_t>(rows * from_row), 1);
        std::vector<float> to(
            static_cast<std::size_t>(columns * to_column + k->lanes));
        k->transpose(to.data(), to_column, from.data(), from_row, rows,
                     columns);
        for (std::int64_t c = 0; c < columns; ++c)
          for (int r = 0; r < rows; ++r)
            REQUIRE(to[static_cast<std::size_t>(c * to_column + r)] ==
                    from[static_cast<std::size_t>(r * from_row + c)]);
      }
}
