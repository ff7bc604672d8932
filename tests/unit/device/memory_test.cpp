// Host to device and back, for every stored type; dropout masks; names.

#include <numeric>

#include "libcore/base/philox.h"
#include "libcore/device/cpu/philox.h"
#include "tests/unit/device/lab.h"

namespace dl::device::memory_test {

using namespace dl::device::test;

namespace {

constexpr DType kTypes[] = {DType::kU8,  DType::kI8,  DType::kI16, DType::kI32,
                            DType::kI64, DType::kF32, DType::kF64};

Tensor counting(DType type, const Shape& shape) {
  Tensor t(type, shape);
  visit_dtype(type, [&]<typename T>() {
    std::iota(t.as<T>().begin(), t.as<T>().end(), T(1));
  });
  return t;
}

}  // namespace

TEST_CASE("memory starts as zeros, aligned") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const auto buffer = lab.device().allocate(Shape{3, 5});
    CHECK(buffer->view().shape == Shape{3, 5});
    CHECK(buffer->view().dtype == lab.device().real());
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->view().data) % 64 == 0);
    CHECK(lab.get(buffer->view()) == Values(15, 0.0));
    CHECK(lab.device().name() ==
          (std::string_view(name) == "emulated" ? "cuda:0" : name));
  }
}

TEST_CASE("upload converts every type") {
  for (const char* name : {tested(), "reference"})
    for (const DType type : kTypes) {
      CAPTURE(name, static_cast<int>(type));
      Lab lab(name);
      const View dst = lab.blank(Shape{2, 3});
      lab.device().upload(dst, counting(type, Shape{2, 3}));
      CHECK(lab.get(dst) == Values{1, 2, 3, 4, 5, 6});
      CHECK_THROWS_AS(lab.device().upload(dst, counting(type, Shape{5})),
                      Error);
    }
}

TEST_CASE("upload shifts and scales by channel or by one number") {
  for (const char* name : {tested(), "reference"})
    for (const DType type : kTypes) {
      CAPTURE(name, static_cast<int>(type));
      Lab lab(name);
      const Tensor src = counting(type, Shape{2, 3});
      const View dst = lab.blank(Shape{2, 3});
      const View one = lab.put(Shape{1}, {1}), half = lab.put(Shape{1}, {0.5});
      const View shift = lab.put(Shape{3}, {1, 2, 3}),
                 scale = lab.put(Shape{3}, {1, 10, 100});
      lab.device().upload_scaled(dst, src, one, half);
      CHECK(lab.get(dst) == Values{0, 0.5, 1, 1.5, 2, 2.5});
      lab.device().upload_scaled(dst, src, shift, scale);
      CHECK(lab.get(dst) == Values{0, 0, 0, 3, 30, 300});
      lab.device().upload_scaled(dst, src, shift, half);
      CHECK(lab.get(dst) == Values{0, 0, 0, 1.5, 1.5, 1.5});
      CHECK_THROWS_AS(
          lab.device().upload_scaled(dst, src, lab.put(Shape{2}, {1, 2}), half),
          Error);
    }
}

TEST_CASE("uploads of the cpu agree with the reference at any size") {
  const DType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  // Rows shorter and longer than what is converted at once, and odd counts.
  for (const std::int64_t length : {1, 3, 17, 255, 511, 512, 513, 1500})
    for (const std::int64_t count : {0, 1, 2, 5, 400}) {
      if (length * count > 8000) continue;
      CAPTURE(static_cast<int>(type), length, count);
      Tensor src(type, Shape{count, length});
      visit_dtype(type, [&]<typename T>() {
        unsigned value = 7;
        for (T& x : src.as<T>())
          x = static_cast<T>((value = value * 75 + 74) % 127);
      });
      check_like_reference([&](Lab& lab) {
        const View dst = lab.blank(src.shape());
        lab.device().upload(dst, src);
        Values all = lab.get(dst);
        for (const bool shifts : {false, true})
          for (const bool scales : {false, true}) {
            lab.device().upload_scaled(
                dst, src, lab.random(Shape{shifts ? length : 1}, 1),
                lab.random(Shape{scales ? length : 1}, 2));
            for (const double x : lab.get(dst)) all.push_back(x);
          }
        return all;
      });
    }
}

TEST_CASE("large integers are shifted before they lose digits") {
  Lab lab(tested());
  Tensor src(DType::kI64, Shape{2});
  src.as<std::int64_t>()[0] = 1'700'000'001;
  src.as<std::int64_t>()[1] = 1'700'000'003;
  const View dst = lab.blank(Shape{2});
  lab.device().upload_scaled(dst, src, lab.put(Shape{1}, {1.7e9}),
                             lab.put(Shape{1}, {1}));
  CHECK(lab.get(dst) == Values{1, 3});
}

TEST_CASE("one-hot labels") {
  for (const char* name : {tested(), "reference"})
    for (const DType type : kTypes) {
      Lab lab(name);
      const View dst = lab.blank(Shape{2, 4});
      lab.device().upload_one_hot(dst, counting(type, Shape{2}));
      CHECK(lab.get(dst) == Values{0, 1, 0, 0, 0, 0, 1, 0});
      const View few = lab.blank(Shape{2, 2});
      CHECK_THROWS_AS(
          lab.device().upload_one_hot(few, counting(type, Shape{2})), Error);
    }
}

TEST_CASE("download takes the type that the tensor has") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View src = lab.put(Shape{2, 1}, {1.5, -2});
    for (const DType type : {DType::kF32, DType::kF64}) {
      Tensor dst(type, Shape{1});
      lab.device().download(dst, src);
      CHECK(dst.dtype() == type);
      CHECK(dst.shape() == Shape{2, 1});
      CHECK(dst.value(1) == -2);
    }
    Tensor integers(DType::kI32, Shape{2});
    CHECK_THROWS_AS(lab.device().download(integers, src), Error);
  }
}

TEST_CASE("dropout masks follow from the position alone") {
  const std::uint64_t key = 0x123456789ABCDEF, stream = 1ULL << 40;
  const std::uint64_t first = (1ULL << 32) - 7;  // crosses into the high word
  for (const char* name : {tested(), "reference"})
    for (const double keep : {0.5, 0.9, 0.1, 1.0}) {
      CAPTURE(name, keep);
      Lab lab(name);
      const View mask = lab.blank(Shape{5, 8});
      lab.device().dropout_mask(mask, keep, key, stream, first);
      Values expected;
      for (std::uint64_t i = 0; i < 40; ++i) {
        const double draw = dl::philox(key, first + i, stream)[0] * 0x1p-32;
        expected.push_back(draw < keep ? 1 / keep : 0);
      }
      check_close(lab.get(mask), expected, 1e-7);
      // A part on its own is the same part.
      const View part = lab.blank(Shape{9});
      lab.device().dropout_mask(part, keep, key, stream, first + 20);
      const Values whole = lab.get(mask);
      CHECK(lab.get(part) == Values(whole.begin() + 20, whole.begin() + 29));
    }
}

TEST_CASE("every way to draw dropout masks draws the same") {
  const std::uint64_t key = 0xFEDCBA987654321, stream = 5ULL << 33;
  const std::uint64_t first = (1ULL << 32) - 40;
  for (const std::uint64_t bound :
       {0ULL, 1ULL << 31, (1ULL << 32) - 1, 1ULL << 32})
    for (const auto& way : dl::device::draw_ways())
      for (const std::int64_t n : {0, 1, 15, 16, 31, 32, 33, 95, 129}) {
        CAPTURE(way.name, bound, n);
        std::vector<float> mask(static_cast<std::size_t>(n) + 1, -1.0F), want;
        way.draw(mask.data(), {3.0F, bound, key, stream, first}, n);
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i)
          want.push_back(dl::philox(key, first + i, stream)[0] < bound ? 3.0F
                                                                       : 0.0F);
        want.push_back(-1.0F);
        CHECK(mask == want);
      }
}

TEST_CASE("dropout keeps the asked share") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View mask = lab.blank(Shape{100000});
    lab.device().dropout_mask(mask, 0.8, 7, 3, 0);
    const double kept =
        number_of(lab.device(),
                  [&](View sum) { lab.device().add_sum(sum, 0.8, mask); }) /
        100000;
    CHECK(kept == Approx(0.8).margin(0.005));  // four deviations
  }
}

TEST_CASE("devices are opened in the precisions that they have") {
  using dl::device::open_device;
  using dl::device::Use;
  const auto failure_of = [](const char* name, Precision precision, Use use) {
    try {
      open_device(name, precision, use);
    } catch (const Error& e) {
      CHECK(e.code() == Code::kUsage);
      return std::string(e.what());
    }
    return std::string();
  };
  for (const Use use : {Use::kTraining, Use::kPrediction})
    for (const char* name : {"cpu", "reference"})
      CHECK(failure_of(name, Precision::kFloat32, use).empty());
  CHECK(failure_of("cpu", Precision::kBfloat16, Use::kPrediction).empty());
  CHECK(failure_of("cpu", Precision::kBfloat16, Use::kTraining) ==
        "--precision: device cpu trains in float32, not in bfloat16");
  CHECK(failure_of("cpu", Precision::kTf32, Use::kPrediction) ==
        "--precision: device cpu predicts in float32 or bfloat16, not in tf32");
  CHECK(failure_of("reference", Precision::kTf32, Use::kTraining) ==
        "--precision: device reference trains in float64, not in tf32");
  for (const char* name : {"float32", "tf32", "bfloat16"})
    CHECK(dl::device::name_of(dl::device::precision_of(name)) == name);
  for (const char* bad : {"", "half", "TF32", "float"})
    CHECK_THROWS_AS(dl::device::precision_of(bad), Error);
}

TEST_CASE("whether a device has a name that is known") {
  for (const char* name :
       {"auto", "cpu", "reference", "cuda", "cuda:7", "cuda:1,0", "cuda:all"})
    CHECK_NOTHROW(dl::device::check_device_name(name));
  for (const char* name : {"", "gpu", "CPU", "cuda:", "cuda:0,0", "cuda:-1",
                           "cuda:1,", "cuda:99999"}) {
    INFO(name);
    CHECK_THROWS_AS(dl::device::check_device_name(name), Error);
  }
}

TEST_CASE("devices are opened by name") {
  using dl::device::open_device;
  const auto code_of = [](const char* name) {
    try {
      open_device(name);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kNo;
  };
  CHECK(code_of("cpu") == Code::kNo);
  CHECK(code_of("auto") == Code::kNo);
  for (const char* bad :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999",
        "cuda:0,", "cuda:0,0", "cuda:0,1", "cuda:,1", "cudas", "CPU"}) {
    CAPTURE(bad);
    CHECK(code_of(bad) == Code::kUsage);
  }
  const auto lanes = dl::device::open_lanes("cpu", 3);
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[2]->name() == "cpu");
  const auto lines = dl::device::describe_devices();
  REQUIRE(lines.size() >= 2);
  CHECK(lines[lines.size() - 2].starts_with("cpu (oneDNN "));
  CHECK(lines[lines.size() - 2].ends_with(
      "; float32, predictions also with weights in bfloat16)"));
  CHECK(lines.back().starts_with("reference"));
}

}  // namespace dl::device::memory_test
