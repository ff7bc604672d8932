// Threshold coding: by hand, and beside the reference, whose places are to be
// the same, and what is left the same but for rounding; on floats to the bit.

#include <cstring>
#include <utility>

#include "libcore/base/error.h"
#include "tests/unit/device/lab.h"

namespace dl::device::threshold_test {

using namespace dl::device::test;

namespace {

struct Integers {
  Integers(Lab& lab, const Values& values)
      : buffer(lab.device().allocate(
            Shape{static_cast<std::int64_t>(values.size())}, DType::kI32)),
        view(buffer->view()) {
    lab.device().upload(view, tensor_of(view.shape, values));
  }
  std::unique_ptr<dl::tensor::Buffer> buffer;
  View view;
};

// As the host keeps them.
template <typename T>
std::vector<T> fetched(Lab& lab, View view, DType type) {
  Tensor t(type, Shape{});
  lab.device().download(t, view);
  return {t.as<T>().begin(), t.as<T>().end()};
}

using Places = std::vector<std::int32_t>;

// The places in r, behind `before` others.
Places encoded(Lab& lab, View r, float threshold, std::int32_t before = 0) {
  const auto n = static_cast<std::size_t>(r.elements() + before) + 1;
  const Integers places(lab, Values(n, -7)), count(lab, {double(before), -7});
  lab.device().threshold_encode(places.view, count.view, r, threshold);
  const auto bounds = fetched<std::int32_t>(lab, count.view, DType::kI32);
  auto all = fetched<std::int32_t>(lab, places.view, DType::kI32);
  REQUIRE(bounds[0] == before);
  REQUIRE(bounds[1] >= before);
  for (std::size_t i = 0; i < n; ++i)
    if (std::cmp_less(i, before) || std::cmp_greater_equal(i, bounds[1]))
      REQUIRE(all[i] == -7);
  return {all.begin() + before, all.begin() + bounds[1]};
}

// Some are the threshold, some next to it, some 0 or -0.
Values near(std::int64_t n, std::uint64_t seed, float threshold) {
  Values values = random_values(n, seed, -2, 2);
  for (std::size_t i = 0; i < values.size(); i += 7)
    values[i] = i % 2 == 0 ? threshold : -threshold;
  for (std::size_t i = 3; i < values.size(); i += 7)
    values[i] = std::nextafter(threshold, 0.0F);
  for (std::size_t i = 5; i < values.size(); i += 14) values[i] = -0.0;
  return values;
}

}  // namespace

TEST_CASE("what reaches a threshold is taken, and its place is told") {
  for (const char* name : {"reference", tested()}) {
    CAPTURE(name);
    Lab lab(name);
    const View r = lab.put(Shape{8}, {0.5, -1, 1, 0.75, kNan, -3, kInf, -0.5});
    CHECK(encoded(lab, r, 1) == Places{~1, 2, ~5, 6});
    const Values left = lab.get(r);
    CHECK(left[0] == 0.5);
    CHECK((left[1] == 0 && std::signbit(left[1])));
    CHECK((left[2] == 0 && !std::signbit(left[2])));
    CHECK(left[3] == 0.75);
    CHECK(std::isnan(left[4]));
    CHECK(left[5] == -2);
    CHECK(left[6] == kInf);
    CHECK(left[7] == -0.5);
    CHECK(encoded(lab, r, 1, 3) == Places{~5, 6});

    const View y = lab.put(Shape{4}, {1, 2, 3, 4});
    lab.device().threshold_apply(y, Integers(lab, {~3, 0, ~1}).view, 0.5F);
    CHECK(lab.get(y) == Values{1.5, 1.5, 3, 3.5});
  }
}

TEST_CASE("places are in order wherever blocks of threads end") {
  constexpr float kThreshold = 1.1F;
  for (const std::int64_t n :
       {0, 1, 3, 4, 31, 32, 33, 63, 64, 65, 257, 1000, 1024, 4099, 20000})
    for (const std::int64_t skew : {0, 3}) {
      CAPTURE(n, skew);
      const Values values =
          near(n + skew, static_cast<std::uint64_t>(n), kThreshold);
      Places want;
      std::vector<float> left;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto r = static_cast<float>(values[std::size_t(i + skew)]);
        const bool over = std::fabs(r) >= kThreshold;
        left.push_back(over ? std::copysign(std::fabs(r) - kThreshold, r) : r);
        const auto place = static_cast<std::int32_t>(i);
        if (over) want.push_back(r < 0 ? ~place : place);
      }
      Lab reference("reference"), lab(tested());
      const auto residual = [&](Lab& where) {
        return where.put(Shape{n + skew}, values).at(skew, Shape{n});
      };
      const View r = residual(lab), exact = residual(reference);
      REQUIRE(encoded(lab, r, kThreshold, 2) == want);
      REQUIRE(encoded(reference, exact, kThreshold, 2) == want);
      check_close(lab.get(r), reference.get(exact), 1e-6);
      if (lab.device().real() != DType::kF32) continue;
      const auto kept = fetched<float>(lab, r, DType::kF32);
      REQUIRE(std::memcmp(kept.data(), left.data(), 4 * left.size()) == 0);
    }
}

TEST_CASE("quanta are added where they were taken") {
  constexpr float kThreshold = 0.75F;  // to the bit: all is dyadic
  Lab lab(tested());
  const std::int64_t n = 3000;
  Values values = random_values(n, 5, -2, 2);
  for (double& v : values) v = std::round(v * 256) / 256;
  const View r = lab.put(Shape{n}, values);
  const Places places = encoded(lab, r, kThreshold);
  CHECK(places.size() > 1000);
  CHECK(lab.get(r) != values);
  const Integers there(lab, Values(places.begin(), places.end()));
  lab.device().threshold_apply(r, there.view, kThreshold);
  CHECK(lab.get(r) == values);
}

TEST_CASE("places that do not fit are refused") {
  Lab lab(tested());
  const View r = lab.put(Shape{4}, {1, 1, 1, 1});
  const Integers few(lab, {0, 0, 0}), enough(lab, {0, 0, 0, 0}),
      count(lab, {0, 0});
  auto& device = lab.device();
  CHECK_THROWS_AS(device.threshold_encode(few.view, count.view, r, 1),
                  dl::Error);
  CHECK_THROWS_AS(device.threshold_encode(enough.view, few.view, r, 1),
                  dl::Error);
  CHECK_THROWS_AS(device.threshold_encode(r, count.view, r, 1), dl::Error);
  CHECK_THROWS_AS(device.threshold_apply(count.view, few.view, 1), dl::Error);
}

}  // namespace dl::device::threshold_test
