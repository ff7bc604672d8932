// The inner loops of every vector width that this processor can run.

#include "libcore/device/cpu/kernels/kernels.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace dl::device::kernels_test {

namespace {

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> found;
  for (const Kernels* kernels :
       {&dl::device::kPortableKernels, &dl::device::kAvx2Kernels,
        &dl::device::kAvx512Kernels})
    if (can_run(*kernels)) found.push_back(kernels);
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

// Panels [depth, up to 2 vectors] in pairs of bfloat16, panel by panel.
std::vector<std::uint32_t> pairs_of(const Kernels& k, int vectors,
                                    std::size_t depth,
                                    const std::vector<float>& panels) {
  const int each = std::min(vectors, 2);
  const auto words = depth * static_cast<std::size_t>(k.lanes);
  const auto count = static_cast<std::size_t>(vectors / each);
  std::vector<std::uint32_t> pairs(words * count);
  for (std::size_t p = 0; p < count; ++p)
    k.to_pairs(pairs.data() + p * words,
               panels.data() + p * words * static_cast<std::size_t>(each), each,
               static_cast<std::int64_t>(depth));
  return pairs;
}

void check_tile(const Kernels& k, int rows, int vectors, bool halved, bool add,
                bool bias, bool relu) {
  CAPTURE(k.name, rows, vectors, halved, add, bias, relu);
  constexpr std::size_t depth = 7;
  const auto height = static_cast<std::size_t>(rows);
  const auto width = static_cast<std::size_t>(vectors * k.lanes);
  const auto a = numbers(depth * height, 1), b = numbers(depth * width, 2),
             offsets = numbers(width, 3);
  const auto panel = std::min(width, static_cast<std::size_t>(2 * k.lanes));
  const auto pairs = pairs_of(k, vectors, depth, b);
  const std::size_t c_row = width + 3;
  auto c = numbers(height * c_row, 4);
  auto expected = c;
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      float& sum = expected[i * c_row + j];
      sum = add ? sum : bias ? offsets[j] : 0;
      for (std::size_t d = 0; d < depth; ++d)
        sum += a[d * height + i] *
               b[j / panel * panel * depth + d * panel + j % panel];
      if (relu && sum < 0) sum = 0;
    }
  k.gemm_tile(rows, vectors,
              {.a = a.data(),
               .b = halved ? nullptr : b.data(),
               .pairs = halved ? pairs.data() : nullptr,
               .depth = depth,
               .c = c.data(),
               .c_row = static_cast<std::int64_t>(c_row),
               .add = add,
               .bias = bias ? offsets.data() : nullptr,
               .relu = relu});
  CHECK(c == expected);
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

// Where the `count` parts of `values` begin, `step` floats apart.
template <typename T>
std::vector<T*> parts(T* values, std::int64_t count, std::int64_t step) {
  std::vector<T*> at;
  for (std::int64_t i = 0; i < count; ++i) at.push_back(values + i * step);
  return at;
}

}  // namespace

TEST_CASE("tiles of a matrix product, of every size") {
  for (const Kernels* k : all_kernels())
    for (int rows = 1; rows <= k->max_rows; ++rows)
      for (const int vectors : {1, 2, dl::device::most_vectors(rows)})
        for (const bool halved : {false, true}) {
          check_tile(*k, rows, vectors, halved, false, false, false);
          check_tile(*k, rows, vectors, halved, true, false, true);
          check_tile(*k, rows, vectors, halved, false, true, true);
        }
}

TEST_CASE("bfloat16 is the nearest, and of two the even one") {
  const float inf = std::numeric_limits<float>::infinity();
  // Units of the last place of 1 are 2^-7.
  const std::vector<std::pair<float, float>> rounded = {
      {1.0f, 1.0f},
      {-0.0f, -0.0f},
      {0x1.01p0f, 0x1.00p0f},  // halfway
      {0x1.03p0f, 0x1.04p0f},
      {-0x1.03p0f, -0x1.04p0f},
      {0x1.010002p0f, 0x1.02p0f},
      {0x1.00fffep0f, 0x1.00p0f},
      {0x1.ff8p0f, 0x1p1f},
      {0x1p-133f, 0x1p-133f},  // subnormal
      {0x1.8p-134f, 0x1p-133f},
      {inf, inf},
      {-inf, -inf}};
  const auto first_of = [](std::uint32_t pair) {
    return std::bit_cast<float>(pair << 16);
  };
  const auto second_of = [](std::uint32_t pair) {
    return std::bit_cast<float>(pair & 0xffff0000u);
  };
  for (const Kernels* k : all_kernels()) {
    const auto lanes = static_cast<std::size_t>(k->lanes);
    for (const auto& [from, want] : rounded) {
      CAPTURE(k->name, from, want);
      std::vector<float> panel(2 * lanes, from);
      std::fill_n(panel.begin(), lanes, 3.0f);
      for (const std::uint32_t pair : pairs_of(*k, 2, 1, panel)) {
        REQUIRE(first_of(pair) == 3);
        REQUIRE(std::bit_cast<std::uint32_t>(second_of(pair)) ==
                std::bit_cast<std::uint32_t>(want));
      }
      panel.assign(lanes, from);
      for (const std::uint32_t pair : pairs_of(*k, 1, 1, panel))
        REQUIRE(pair == std::bit_cast<std::uint32_t>(want) >> 16);
    }
    for (const std::uint32_t bits : {0x7f800001u, 0xffffffffu}) {
      const std::vector<float> panel(lanes, std::bit_cast<float>(bits));
      for (const std::uint32_t pair : pairs_of(*k, 1, 1, panel))
        REQUIRE(std::isnan(first_of(pair)));
    }
  }
}

TEST_CASE("sums that compete four by four") {
  constexpr std::int64_t rows = 3, span = 5, right = 2, down = 1;
  for (const Kernels* k : all_kernels())
    for (int filters = 1; filters <= k->pool_filters + 3; ++filters) {
      CAPTURE(k->name, filters);
      const std::int64_t lanes = k->lanes, row = (span + right) * lanes;
      const auto window =
          numbers(static_cast<std::size_t>((rows + down) * row), 1);
      const auto w =
          numbers(static_cast<std::size_t>(rows * span * filters), 2);
      const auto bias = numbers(static_cast<std::size_t>(filters), 3);
      std::vector<float> best(static_cast<std::size_t>(filters * lanes));
      std::vector<std::uint8_t> winner(best.size());
      k->pool_tile(filters, {.window = window.data(),
                             .window_row = row,
                             .right = right * lanes,
                             .down = down * row,
                             .kernel_rows = rows,
                             .kernel_span = span,
                             .w = w.data(),
                             .w_row = filters,
                             .bias = bias.data(),
                             .best = best.data(),
                             .winner = winner.data()});
      for (std::int64_t f = 0; f < filters; ++f)
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          float sums[4];
          for (std::int64_t q = 0; q < 4; ++q) {
            sums[q] = bias[static_cast<std::size_t>(f)];
            for (std::int64_t t = 0; t < rows * span; ++t)
              sums[q] += w[static_cast<std::size_t>(t * filters + f)] *
                         window[static_cast<std::size_t>(
                             (t / span + (q & 2) / 2 * down) * row +
                             (t % span + (q & 1) * right) * lanes + lane)];
          }
          const auto at = static_cast<std::size_t>(f * lanes + lane);
          const auto* most = std::max_element(sums, sums + 4);
          REQUIRE(best[at] == *most);
          REQUIRE(winner[at] == most - sums);
        }
    }
}

TEST_CASE("what pooling needs of an image, lane by lane") {
  for (const Kernels* k : all_kernels())
    for (const std::int64_t span : {1, 3, 6, 16, 21}) {
      CAPTURE(k->name, span);
      constexpr std::int64_t rows = 2, from_row = 30;
      const auto image = numbers(4 * from_row + 64, 1);
      std::vector<const float*> from;
      for (int i = 0; i < k->lanes; ++i) from.push_back(image.data() + i);
      std::vector<float> to(static_cast<std::size_t>(rows * span * k->lanes));
      k->pack_window(to.data(), from.data(), from_row, rows, span);
      for (std::int64_t i = 0; i < rows * span * k->lanes; ++i)
        REQUIRE(to[static_cast<std::size_t>(i)] ==
                from[static_cast<std::size_t>(i % k->lanes)]
                    [i / k->lanes / span * from_row + i / k->lanes % span]);
    }
}

TEST_CASE("winners with a gradient, and sums over them") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    constexpr std::int64_t vectors = 3, step = 40;
    const auto lanes = static_cast<std::size_t>(k->lanes);
    auto dy = numbers(vectors * step, 1);
    std::vector<std::uint8_t> winner(dy.size());
    std::vector<std::int32_t> window(vectors * lanes);
    for (std::size_t i = 0; i < dy.size(); ++i)
      winner[i] = static_cast<std::uint8_t>(i * 7 % 4);
    for (std::size_t i = 0; i < window.size(); ++i)
      window[i] = static_cast<std::int32_t>(3 * i);
    dy[2] = 0;
    std::vector<std::int32_t> place(window.size() + lanes);
    std::vector<float> factor(place.size());
    const std::int64_t count =
        k->find_winners({place.data(), factor.data()}, dy.data(), winner.data(),
                        window.data(), vectors, step, 5, 11);
    std::int64_t expected = 0;
    for (std::size_t v = 0; v < vectors; ++v)
      for (std::size_t i = 0; i < lanes; ++i) {
        const std::size_t at = v * step + i;
        if (dy[at] == 0) continue;
        const auto found = static_cast<std::size_t>(expected++);
        REQUIRE(place[found] == window[v * lanes + i] +
                                    (winner[at] % 2 != 0 ? 5 : 0) +
                                    (winner[at] > 1 ? 11 : 0));
        REQUIRE(factor[found] == dy[at]);
      }
    REQUIRE(count == expected);

    for (const std::int64_t wide : {1, 2, 7, 33}) {
      CAPTURE(wide);
      constexpr std::int64_t rows = 7;
      const std::int64_t in_row = 3, out_row = wide * k->lanes + 1;
      const auto in = numbers(
          static_cast<std::size_t>(300 + rows * in_row + wide * k->lanes), 2);
      auto out = numbers(static_cast<std::size_t>(rows * out_row), 3);
      auto sums = out;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t v = 0; v < wide * k->lanes; ++v)
          for (std::int64_t i = 0; i < count; ++i) {
            const auto t = static_cast<std::size_t>(i);
            sums[static_cast<std::size_t>(r * out_row + v)] +=
                factor[t] *
                in[static_cast<std::size_t>(place[t] + r * in_row + v)];
          }
      k->add_weighted(out.data(), out_row, in.data(), in_row, rows, wide,
                      {place.data(), factor.data()}, count);
      REQUIRE(out == sums);
    }
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

TEST_CASE("tiles of AVX2 and AVX-512 have the same bits") {
  using dl::device::kAvx2Kernels;
  using dl::device::kAvx512Kernels;
  if (!can_run(kAvx2Kernels) || !can_run(kAvx512Kernels)) return;
  constexpr int kRows = 3, kWidth = 16;
  constexpr std::size_t kDepth = 100;
  std::vector<float> a = numbers(kDepth * kRows, 1);
  const std::vector<float> b = numbers(kDepth * kWidth, 2);
  // Sums that are rounded at every step.
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] /= 3 + static_cast<float>(i % 7);
  std::vector<float> narrow(kRows * kWidth), wide = narrow;
  const auto tile = [&](std::vector<float>& c) {
    return GemmTile{.a = a.data(),
                    .b = b.data(),
                    .depth = kDepth,
                    .c = c.data(),
                    .c_row = kWidth,
                    .add = false,
                    .bias = nullptr,
                    .relu = false};
  };
  kAvx2Kernels.gemm_tile(kRows, 2, tile(narrow));
  kAvx512Kernels.gemm_tile(kRows, 1, tile(wide));
  CHECK(std::memcmp(narrow.data(), wide.data(),
                    sizeof(float) * kRows * kWidth) == 0);
}

// The sides of Winograd's tiles.
struct WinogradSides {
  WinogradSides(const Kernels& k, int all_taps)
      : kernels(&k.winograd[all_taps - 2]),
        taps(static_cast<std::size_t>(all_taps)),
        points(static_cast<std::size_t>(kernels->points)),
        outputs(points + 1 - taps) {}
  const dl::device::WinogradKernels* kernels;
  std::size_t taps, points, outputs;
};

TEST_CASE("a tile's outputs by Winograd's transforms are its correlation") {
  const int all_taps = GENERATE(2, 3, 4);
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name, all_taps);
    const auto [kernels, taps, points, outputs] = WinogradSides(*k, all_taps);
    const std::int64_t n = 2 * k->lanes;  // channels, each for itself
    const auto floats = static_cast<std::size_t>(n);
    const auto x = numbers(points * points * floats, 1),
               w = numbers(taps * taps * floats, 2), bias = numbers(floats, 3);
    std::vector<float> v(x.size()), u(v.size()), y(outputs * outputs * floats);
    kernels->input(v.data(), n, parts(x.data(), points * points, n).data(), n);
    kernels->weights(u.data(), n, w.data(), n, n);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= u[i];
    kernels->output(parts(y.data(), outputs * outputs, n).data(), v.data(), n,
                    bias.data(), n);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t c = i % floats, row = i / floats / outputs,
                        column = i / floats % outputs;
      float sum = bias[c];
      for (std::size_t a = 0; a < taps; ++a)
        for (std::size_t b = 0; b < taps; ++b)
          sum += w[(a * taps + b) * floats + c] *
                 x[((row + a) * points + column + b) * floats + c];
      REQUIRE(y[i] == Approx(sum).margin(1e-3));
    }
  }
}

TEST_CASE("Winograd's gradients are the transposes of the transforms") {
  const int all_taps = GENERATE(2, 3, 4);
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name, all_taps);
    const auto [kernels, taps, points, outputs] = WinogradSides(*k, all_taps);
    const std::int64_t n = k->lanes;
    const auto floats = static_cast<std::size_t>(n);
    const std::size_t made = outputs * outputs;
    const auto w = numbers(taps * taps * floats, 1),
               du = numbers(points * points * floats, 2),
               dy = numbers(made * floats, 3), m = numbers(du.size(), 4);
    std::vector<float> u(du.size()), dw(w.size()), y(dy.size()), z(m.size());
    kernels->weights(u.data(), n, w.data(), n, n);
    kernels->weights_gradient(dw.data(), n, du.data(), n, n);
    CHECK(product(u, du) == Approx(product(w, dw)).epsilon(1e-5));
    kernels->output(parts(y.data(), made, n).data(), m.data(), n, nullptr, n);
    kernels->output_gradient(z.data(), n, parts(dy.data(), made, n).data(), n);
    CHECK(product(y, dy) == Approx(product(m, z)).epsilon(1e-5));
  }
}

}  // namespace dl::device::kernels_test
