// Numbers on the device: sums that are added to them, and what spoils them.

#include "tests/unit/device/lab.h"

namespace dl::device::numbers_test {

using namespace dl::device::test;
using dl::device::StepChoice;

namespace {

// Below, at and above the widths of vectors and of interleaved sums.
const std::vector<std::int64_t> kLengths = {0,  1,  7,  8,   15,   16,
                                            17, 31, 64, 100, 1000, 4099};

double sum(Lab& lab, View x) {
  return number_of(lab.device(),
                   [&](View n) { lab.device().add_sum(n, 1, x); });
}
double sum_absolute(Lab& lab, View x) {
  return number_of(lab.device(),
                   [&](View n) { lab.device().add_absolute(n, 1, x); });
}
double sum_squares(Lab& lab, View x) {
  return number_of(lab.device(),
                   [&](View n) { lab.device().add_squares(n, 1, x); });
}

}  // namespace

TEST_CASE("sums are added to a number") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.put(Shape{3}, {10, 20, -30});
    CHECK(sum(lab, x) == 0);
    CHECK(sum_absolute(lab, x) == 60);
    CHECK(sum_squares(lab, x) == 1400);
    const auto room = d.allocate(Shape{2}, DType::kF64);
    const View second = room->view().at(1, Shape{1});
    d.fill(room->view(), 5);
    d.add_sum(second, 2, x.at(0, Shape{2}));
    d.add_absolute(second, -0.5, x);
    d.add_squares(second, 0.25, x);
    double read[2];
    d.read(read, room->view());
    CHECK(read[0] == 5);
    CHECK(read[1] == 5 + 60 - 30 + 350);
  }
}

TEST_CASE("sums of the cpu agree with the reference") {
  for (const std::int64_t n : kLengths) {
    CAPTURE(n);
    check_like_reference([&](Lab& lab) {
      const View x = lab.random(Shape{n}, 3, -5, 5);
      return Values{sum(lab, x), sum_absolute(lab, x), sum_squares(lab, x)};
    });
  }
}

TEST_CASE("sums of very many agree with the reference") {
  check_like_reference([&](Lab& lab) {
    const View x = lab.random(Shape{300001}, 3, -5, 5);
    return Values{sum(lab, x), sum_absolute(lab, x), sum_squares(lab, x)};
  });
}

TEST_CASE("check_finite finds a single bad value anywhere") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    for (const std::int64_t n : kLengths) {
      const View x = lab.random(Shape{n}, 1);
      CHECK(all_finite(lab.device(), x));
      for (const double bad : {kNan, kInf, -kInf})
        for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
          if (n == 0) continue;
          CAPTURE(name, n, bad, at);
          const View one = x.at(at, Shape{1});
          const Values before = lab.get(one);
          lab.device().fill(one, bad);
          CHECK_FALSE(all_finite(lab.device(), x));
          lab.device().fill(one, before[0]);
        }
    }
    // The largest and smallest numbers are finite.
    const View edge = lab.put(Shape{3}, {3.4e38, -3.4e38, 1e-45});
    CHECK(all_finite(lab.device(), edge));
  }
}

TEST_CASE("sums keep NaN") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    for (std::int64_t at = 0; at < 40; ++at) {
      const View x = lab.random(Shape{40}, 1);
      lab.device().fill(x.at(at, Shape{1}), kNan);
      CHECK(std::isnan(sum(lab, x)));
      CHECK(std::isnan(sum_absolute(lab, x)));
      CHECK(std::isnan(sum_squares(lab, x)));
    }
  }
}

TEST_CASE("numbers are summed, and held against a bound") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const auto numbers = d.allocate(Shape{300}, DType::kF64);
    const View all = numbers->view();
    double expected = 0.5;
    for (std::int64_t i = 0; i < 300; ++i) {
      d.fill(all.at(i, Shape{1}), 1.0 / static_cast<double>(1 + i));
      expected += 1.0 / static_cast<double>(1 + i);
    }
    const View first = all.at(0, Shape{1});  // 1
    const double sum = number_of(d, [&](View n) {
      d.fill(n, 0.5);
      d.add_numbers(n, all);
      d.check_at_most(n, first, 1);
    });
    CHECK(std::abs(sum - expected) < 1e-12);
    CHECK(std::isnan(
        number_of(d, [&](View n) { d.check_at_most(n, first, 0.999); })));
    d.fill(all.at(7, Shape{1}), kNan);
    CHECK(std::isnan(number_of(d, [&](View n) { d.add_numbers(n, all); })));
    CHECK(std::isnan(number_of(
        d, [&](View n) { d.check_at_most(n, all.at(7, Shape{1}), kInf); })));
  }
}

TEST_CASE("a norm's factor: clipped above, or always") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const auto numbers = d.allocate(Shape{2}, DType::kF64);
    const auto factor = [&](double squares, double most, bool always) {
      d.fill(numbers->view(), squares / 2);
      return number_of(
          d, [&](View n) { d.norm_factor(n, numbers->view(), most, always); });
    };
    CHECK(factor(16, 2, false) == 0.5);
    CHECK(factor(4, 2, false) == 1);
    CHECK(factor(0.25, 1, true) == 2);
    CHECK(factor(0, 1, true) == 1);
    CHECK(factor(1e-12, 1, true) == 1);
  }
}

TEST_CASE("what is not a number is refused") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.random(Shape{4}, 1);
    const auto two = d.allocate(Shape{2}, DType::kF64);
    CHECK_THROWS_AS(d.add_sum({}, 1, x), Error);
    CHECK_THROWS_AS(d.add_squares(two->view(), 1, x), Error);
    double one = 0;
    CHECK_THROWS_AS(d.read({&one, 1}, two->view()), Error);
  }
  Lab lab(tested());
  const View reals = lab.blank(Shape{1});
  CHECK_THROWS_AS(lab.device().add_sum(reals, 1, reals), Error);
}

TEST_CASE("rows are brought within their norms") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View y =
        lab.put(Shape{5, 2}, {3, 4, 0.3, 0.4, 0.6, 0.8, 0, 0, kNan, 1});
    lab.device().bound_norms(y, 1, 2, 0.5);
    const Values now = lab.get(y);
    // From 5 and from 0.5 half of the way to 2 and to 1.
    const Values want{2.1, 2.8, 0.45, 0.6, 0.6, 0.8, 0, 0};
    check_close({now.begin(), now.begin() + 8}, want, 1e-6);
    CHECK(std::isnan(now[8]));
    CHECK(now[9] == 1);
  }
  for (const Shape& shape : {Shape{33, 17}, Shape{7, 2, 150}, Shape{0, 4}}) {
    const double middle = std::sqrt(static_cast<double>(shape.back()) / 3);
    check_like_reference([&](Lab& lab) {
      const View y = lab.random(shape, 1);
      lab.device().bound_norms(y, 0.95 * middle, 1.05 * middle, 1);
      return lab.get(y);
    });
  }
}

TEST_CASE("steps are chosen by what counts") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View mask =
        lab.put(Shape{3, 4}, {1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0.5});
    const auto chosen = [&](StepChoice choice, std::int64_t n) {
      const auto index = d.allocate(Shape{n}, DType::kI32);
      d.choose_steps(index->view(), mask, choice);
      return lab.get(index->view());
    };
    CHECK(chosen(StepChoice::kLast, 3) == Values{2, 4, 11});
    CHECK(chosen(StepChoice::kReversed, 12) ==
          Values{2, 1, 0, 3, 4, 5, 6, 7, 8, 11, 10, 9});
    CHECK(chosen(StepChoice::kHeld, 12) ==
          Values{0, 1, 2, 2, 4, 5, 6, 7, 8, 9, 9, 11});
    CHECK_THROWS_AS(chosen(StepChoice::kLast, 12), Error);
  }
}

TEST_CASE("steps of any number are chosen as on the reference") {
  for (const std::int64_t steps : {1, 7, 8, 9, 20, 100}) {
    CAPTURE(steps);
    check_like_reference(
        [&](Lab& lab) {
          const Shape shape{6, steps};
          Values counts = random_values(shape.elements(), 8, -1, 1);
          for (double& count : counts) count = std::max(count, 0.0);
          const View mask = lab.put(shape, counts);
          Values all;
          for (const auto choice :
               {StepChoice::kLast, StepChoice::kReversed, StepChoice::kHeld}) {
            const auto index = lab.device().allocate(
                choice == StepChoice::kLast ? Shape{6} : shape, DType::kI32);
            lab.device().choose_steps(index->view(), mask, choice);
            for (const double row : lab.get(index->view())) all.push_back(row);
          }
          return all;
        },
        0);
  }
}

}  // namespace dl::device::numbers_test
