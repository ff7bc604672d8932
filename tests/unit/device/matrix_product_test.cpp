// The calls of the cuda device to cuBLASLt, which is emulated.
#ifdef DL_EMULATED

#include "libcore/device/cuda/matrix_product.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/lab.h"

namespace dl::device::matrix_product_test {

using namespace dl::device::test;
using namespace dl::device::cuda;

namespace {

MatrixProduct& products_of(Lab& lab) {
  return dynamic_cast<CudaDevice&>(lab.device()).products();
}

// The elements that p makes of c, one by one.
Values expected(const Product& p, Values c, const Values& a, const Values& b,
                const Values& bias) {
  const auto of = [](const Values& v, std::int64_t i) {
    return v[static_cast<std::size_t>(i)];
  };
  for (std::int64_t q = 0; q < p.count; ++q)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l)
          sum += of(a, q * p.step_a + (p.transpose_a ? l * p.row_a + i
                                                     : i * p.row_a + l)) *
                 of(b, q * p.step_b +
                           (p.transpose_b ? j * p.row_b + l : l * p.row_b + j));
        double& to =
            c[static_cast<std::size_t>(q * p.step_c + i * p.row_c + j)];
        to = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * to);
        if (!bias.empty()) to += of(bias, j);
      }
  return c;
}

// Held against expected(), on memory with room for rows and matrices with gaps.
// Numbers that bfloat16 has, so that it must give the same.
void check_product(Lab& lab, const Product& p, bool with_bias) {
  CAPTURE(p.m, p.n, p.k, p.transpose_a, p.transpose_b, p.count, p.alpha, p.beta,
          with_bias);
  const auto room = [&](std::int64_t seed, std::int64_t rows, std::int64_t row,
                        std::int64_t step) {
    Values values = random_values((p.count - 1) * step + rows * row + 1,
                                  static_cast<std::uint64_t>(seed));
    for (double& value : values) value = std::round(64 * value) / 64;
    return values;
  };
  const Values a = room(1, std::max(p.m, p.k), p.row_a, p.step_a),
               b = room(2, std::max(p.n, p.k), p.row_b, p.step_b),
               c = room(3, p.m, p.row_c, p.step_c),
               bias = with_bias ? random_values(p.n, 4) : Values{};
  const auto put = [&](const Values& v) {
    return lab.put(Shape{static_cast<std::int64_t>(v.size())}, v);
  };
  const View to = put(c);
  products_of(lab)(p, to.as<float>(), put(a).as<float>(), put(b).as<float>(),
                   with_bias ? put(bias).as<float>() : nullptr);
  check_close(lab.get(to), expected(p, c, a, b, bias), 2e-6);
}

std::int64_t count_calls(const std::vector<std::string>& calls,
                         const char* name) {
  return std::ranges::count(calls, name);
}

}  // namespace

TEST_CASE("cuda matrix products: batches, gaps, factors and biases") {
  Lab lab("emulated", GENERATE(Precision::kFloat32, Precision::kTf32,
                               Precision::kBfloat16));
  struct Extents {
    std::int64_t m, n, k;
  };
  for (const Extents e : {Extents{3, 5, 4},
                          {1, 6, 3},
                          {4, 1, 3},
                          {2, 3, 1},
                          {1, 1, 1},
                          {3, 4, 0}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const std::int64_t count : {1, 3})
          for (const float beta : {0.0F, -0.5F})
            for (const bool bias : {false, true}) {
              Product p{.m = e.m,
                        .n = e.n,
                        .k = e.k,
                        .transpose_a = ta,
                        .transpose_b = tb};
              p.row_a = (ta ? e.m : e.k) + 2;
              p.row_b = (tb ? e.k : e.n) + 1;
              p.row_c = e.n + 3;
              p.count = count;
              p.step_a = 40;
              p.step_b = count == 3 && beta == 0 ? 0 : 35;  // one for all
              p.step_c = 50;
              p.alpha = 0.25F;
              p.beta = beta;
              check_product(lab, p, bias);
            }
}

TEST_CASE("cuda matrix products are planned once each") {
  const std::size_t before = cublas_objects();
  {
    Lab lab("emulated");
    const View a = lab.random(Shape{5, 4}, 1), b = lab.random(Shape{4, 6}, 2),
               c = lab.blank(Shape{5, 6});
    take_calls();
    const auto multiply = [&](double beta) {
      lab.device().matmul(c, a, false, b, false, beta);
    };
    multiply(0);
    multiply(0);
    multiply(1);
    multiply(0);
    const auto calls = take_calls();
    CHECK(count_calls(calls, "cublasLtMatmulAlgoGetHeuristic") == 2);
    CHECK(count_calls(calls, "cublasLtMatmul") == 4);
    CHECK(count_calls(calls, "cudaMalloc") == 0);
    CHECK(cublas_objects() > before);
  }
  CHECK(cublas_objects() == before);
}

TEST_CASE("cuda matrix products without a bias inside, where it cannot be") {
  Lab lab("emulated");
  fail_next("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
  const Product p{.m = 3, .n = 4, .k = 5, .row_a = 5, .row_b = 4, .row_c = 4};
  take_calls();
  check_product(lab, p, true);
  CHECK(count_calls(take_calls(), "cublasLtMatmulAlgoGetHeuristic") == 2);
  check_product(lab, p, true);
  CHECK(count_calls(take_calls(), "cublasLtMatmulAlgoGetHeuristic") == 0);
}

TEST_CASE("floats are cast to the nearest bfloat16, row by row") {
  Lab lab("emulated");
  Stream& stream = dynamic_cast<CudaDevice&>(lab.device()).stream();
  const Values numbers = {1,
                          1 + 0x1p-8,  // halfway: to the even one
                          1 + 0x3p-8,  1 + 0x1p-8 + 0x1p-20,
                          -1 - 0x1p-9, 0x1.fffffep127,
                          -kInf,       kNan,
                          0x1p-133,  // its smallest
                          0x1p-140};
  const Values nearest = {1,    1,     1 + 0x4p-8, 1 + 0x2p-8, -1,
                          kInf, -kInf, kNan,       0x1p-133,   0};
  const auto floats = lab.put(Shape{10}, numbers);
  const auto room = lab.blank(Shape{32});
  auto* const to = reinterpret_cast<Bfloat16*>(room.as<float>());
  // Two matrices of two rows of two, each row three after the last.
  const Matrices m{2, 2, 2, 3, 5};
  CHECK(m.all() == 32);
  cast(stream, to, floats.as<float>(), m);
  stream.wait();
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t column = i % 8, row = i / 8 % 2, matrix = i / 16;
    const float got = std::bit_cast<float>(std::uint32_t{to[i].bits} << 16);
    if (column > 1) {
      CHECK(to[i].bits == 0);
      continue;
    }
    const double want = nearest[5 * matrix + 3 * row + column];
    CAPTURE(i, got, want);
    CHECK((std::isnan(want) ? std::isnan(got) : got == want));
  }
  CHECK(std::isnan(std::bit_cast<float>(
      upper_half(std::bit_cast<float>(0x7f800001U)) << 16)));
}

TEST_CASE("cuda matrix products of addresses that are hardly aligned") {
  Lab lab("emulated"), reference("reference");
  for (const std::int64_t at : {0, 1, 2, 4, 3}) {
    CAPTURE(at);
    const auto multiply = [at](Lab& on) {
      const View a = on.random(Shape{20}, 1).at(at, Shape{3, 2}),
                 b = on.random(Shape{20}, 2).at(4, Shape{2, 5}),
                 c = on.blank(Shape{20}).at(at, Shape{3, 5});
      on.device().matmul(c, a, false, b, false, 0);
      return on.get(c);
    };
    check_close(multiply(lab), multiply(reference), 2e-6);
  }
}

TEST_CASE("cuda matrix products that fail") {
  const std::size_t before = cublas_objects();
  {
    Lab lab("emulated");
    const View a = lab.random(Shape{5, 4}, 1), b = lab.random(Shape{4, 6}, 2),
               c = lab.blank(Shape{5, 6});
    const auto multiply = [&] {
      lab.device().matmul(c, a, false, b, false, 0);
    };
    for (const char* name :
         {"cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
          "cublasLtMatmulPreferenceCreate", "cublasLtMatmulAlgoGetHeuristic",
          "cublasLtMatmul"}) {
      CAPTURE(name);
      fail_next(name, CUBLAS_STATUS_INTERNAL_ERROR);
      CHECK_THROWS_AS(multiply(), Error);
    }
    CHECK_NOTHROW(multiply());
    fail_next("cublasLtCreate", CUBLAS_STATUS_NOT_INITIALIZED);
    CHECK_THROWS_AS(Lab("emulated"), Error);
  }
  CHECK(cublas_objects() == before);
}

#endif  // DL_EMULATED

}  // namespace dl::device::matrix_product_test
