// Moving numbers about: by hand, the cpu device against the reference over
// random strides, and gradients as the adjoint.

#include "tests/unit/device/lab.h"

namespace dl::device::strided_test {

using namespace dl::device::test;
using dl::device::Strided;

namespace {

// A random description over y and x of these many elements.
struct Case {
  Strided s;
  std::int64_t y_elements = 0, x_elements = 0;
};

// One side: distinct places for the extents of `on`, in a random order with
// gaps, some of them reversed; others have stride 0.
std::int64_t lay_out(dl::Philox& random, const Strided& s, std::int64_t* stride,
                     std::int64_t& offset, const bool* on) {
  int order[Strided::kMaxRank];
  for (int k = 0; k < s.rank; ++k) order[k] = k;
  dl::shuffle(std::span<int>(order, static_cast<std::size_t>(s.rank)), random);
  std::int64_t step = 1 + static_cast<std::int64_t>(random.below(3) == 0);
  offset = static_cast<std::int64_t>(random.below(3));
  std::int64_t end = offset + 1;
  for (int i = 0; i < s.rank; ++i) {
    const int k = order[i];
    stride[k] = on[k] ? step : 0;
    if (!on[k]) continue;
    end += (s.extent[k] - 1) * step;
    if (random.below(4) == 0) {
      offset += (s.extent[k] - 1) * step;
      stride[k] = -step;
    }
    step = step * s.extent[k] + static_cast<std::int64_t>(random.below(3) == 0);
  }
  return end + static_cast<std::int64_t>(random.below(3));
}

Case random_case(std::uint64_t seed, bool sums) {
  dl::Philox random(seed, 7);
  Case c;
  c.s.rank = static_cast<int>(random.below(sums ? 6 : 7));
  bool on_y[Strided::kMaxRank], on_x[Strided::kMaxRank];
  std::int64_t left = 20000;
  for (int k = 0; k < c.s.rank; ++k) {
    const std::int64_t sizes[] = {1, 2, 3, 5, 17, 40};
    c.s.extent[k] = std::min(sizes[random.below(6)], left);
    left /= c.s.extent[k];
    on_y[k] = !sums || random.below(2) == 0;
    on_x[k] = random.below(4) != 0;
  }
  c.y_elements = lay_out(random, c.s, c.s.y_stride, c.s.y_offset, on_y);
  c.x_elements = lay_out(random, c.s, c.s.x_stride, c.s.x_offset, on_x);
  return c;
}

Values run(Lab& lab, const Case& c, bool add) {
  // Elements that are not written must stay.
  const View y = lab.random(Shape{c.y_elements}, 1);
  const View x = lab.random(Shape{c.x_elements}, 2);
  lab.device().copy_strided(c.s, y, x, add);
  return lab.get(y);
}

double dot(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("strided copies, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
    const auto copied = [&](const Strided& s, std::int64_t n) {
      const View y = lab.blank(Shape{n});
      lab.device().copy_strided(s, y, x, false);
      return lab.get(y);
    };
    // Transposed, reversed, repeated, and the second of two columns.
    CHECK(copied(Strided().over(3, 2, 1).over(2, 1, 3), 6) ==
          Values{1, 4, 2, 5, 3, 6});
    Strided reversed = Strided().over(6, 1, -1);
    reversed.x_offset = 5;
    CHECK(copied(reversed, 6) == Values{6, 5, 4, 3, 2, 1});
    CHECK(copied(Strided().over(3, 2, 1).over(2, 1, 0), 6) ==
          Values{1, 1, 2, 2, 3, 3});
    Strided column = Strided().over(2, 1, 3);
    column.x_offset = 1;
    CHECK(copied(column, 2) == Values{2, 5});
    // Nothing, and a single element.
    const View y = lab.put(Shape{2}, {7, 8});
    lab.device().copy_strided(Strided().over(0, 1, 1), y, x, false);
    CHECK(lab.get(y) == Values{7, 8});
    lab.device().copy_strided({}, y, x, true);
    CHECK(lab.get(y) == Values{8, 8});
    // Sums are added to what is there.
    lab.device().copy_strided(Strided().over(2, 1, 3).over(3, 0, 1), y, x,
                              true);
    CHECK(lab.get(y) == Values{14, 23});
  }
}

TEST_CASE("strided copies of the cpu are those of the reference") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, false);
    Lab cpu(tested()), reference("reference");
    CHECK(run(cpu, c, false) == run(reference, c, false));
    check_like_reference([&](Lab& lab) { return run(lab, c, true); }, 1e-7);
  }
}

TEST_CASE("strided sums of the cpu agree with the reference") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, true);
    check_like_reference([&](Lab& lab) { return run(lab, c, true); }, 2e-7);
  }
}

TEST_CASE("planes that are turned are those of the reference") {
  // [n, h, w] to [n, w, h], of tiles that are full or not, with gaps.
  for (const std::int64_t h : {7, 8, 32, 33, 70})
    for (const std::int64_t w : {8, 31, 64, 65})
      for (const bool add : {false, true}) {
        CAPTURE(h, w, add);
        check_like_reference(
            [&](Lab& lab) {
              const std::int64_t gap = h % 2;
              const View x = lab.random(Shape{3, h, w + gap}, 1),
                         y = lab.random(Shape{3, w, h + gap}, 2);
              lab.device().copy_strided(
                  Strided()
                      .over(3, w * (h + gap), h * (w + gap))
                      .over(w, h + gap, 1)
                      .over(h, 1, w + gap),
                  y, x, add);
              return lab.get(y);
            },
            1e-7);
      }
}

TEST_CASE("strided sums of few and of many agree with the reference") {
  struct Extents {
    std::int64_t results, terms;
  };
  for (const auto& [results, terms] :
       {Extents{1, 5000}, Extents{3, 700}, Extents{40, 300}, Extents{300, 50},
        Extents{2000, 33}, Extents{500, 4}})
    for (const bool side_by_side : {false, true}) {
      CAPTURE(results, terms, side_by_side);
      check_like_reference(
          [&](Lab& lab) {
            const View x = lab.random(Shape{results * terms * 2}, 1),
                       y = lab.random(Shape{results * 2}, 2);
            // Terms of two extents, which cannot be merged.
            const std::int64_t step = side_by_side ? results : 1;
            lab.device().copy_strided(
                Strided()
                    .over(2, 0, results * terms)
                    .over(results, 2, side_by_side ? 1 : terms)
                    .over(terms, 0, step),
                y, x, true);
            return lab.get(y);
          },
          2e-7);
    }
}

TEST_CASE("a strided sum does not depend on what is beside it") {
  // The first example of a batch: [n, s, c] summed over s.
  const auto first_of = [](std::int64_t n) {
    Lab lab(tested());
    const View x = lab.random(Shape{9, 50, 3}, 4),
               y = lab.put(Shape{n, 3},
                           Values(static_cast<std::size_t>(n * 3), 0));
    lab.device().copy_strided(
        Strided().over(n, 3, 150).over(50, 0, 3).over(3, 1, 1), y, x, true);
    return lab.get(y.at(0, Shape{3}));
  };
  CHECK(first_of(1) == first_of(9));
}

TEST_CASE("the exchanged strided sum is the gradient of the copy") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, false);
    Lab lab("reference");
    const View x = lab.random(Shape{c.x_elements}, 1);
    const View dy = lab.random(Shape{c.y_elements}, 2);
    const View y = lab.put(dy.shape, Values(lab.get(dy).size(), 0));
    const View dx = lab.put(x.shape, Values(lab.get(x).size(), 0));
    lab.device().copy_strided(c.s, y, x, false);
    lab.device().copy_strided(c.s.exchanged(), dx, dy, true);
    CHECK(dot(lab.get(y), lab.get(dy)) ==
          Approx(dot(lab.get(x), lab.get(dx))).margin(1e-9));
  }
}

TEST_CASE("strides out of a view are refused") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View y = lab.random(Shape{10}, 1), x = lab.random(Shape{5}, 2);
    const auto copy = [&](const Strided& s, bool add) {
      lab.device().copy_strided(s, y, x, add);
    };
    CHECK_NOTHROW(copy(Strided().over(5, 2, 1), false));
    CHECK_THROWS_AS(copy(Strided().over(6, 1, 1), false), Error);
    CHECK_THROWS_AS(copy(Strided().over(5, 3, 1), false), Error);
    CHECK_THROWS_AS(copy(Strided().over(2, -1, 1), false), Error);
    CHECK_THROWS_AS(copy(Strided().over(2, 1, -1), false), Error);
    CHECK_THROWS_AS(copy(Strided().over(2, 0, 1), false), Error);
    CHECK_NOTHROW(copy(Strided().over(2, 0, 1), true));
    Strided many;
    for (int k = 0; k < Strided::kMaxRank; ++k) many.over(1, 1, 1);
    CHECK_THROWS_AS(many.over(1, 1, 1), Error);
  }
}

}  // namespace dl::device::strided_test
