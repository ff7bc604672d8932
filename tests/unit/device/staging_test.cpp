// Copies between the host and the cuda device: beside what is computed, and
// never over what is still on its way.
#ifdef DL_EMULATED

#include "libcore/device/cuda/runtime/staging.h"

#include <algorithm>
#include <array>

#include "tests/unit/device/emulated/calls.h"
#include "tests/unit/device/lab.h"

namespace dl::device::staging_test {

using namespace dl::device::test;
using namespace dl::device::cuda;

TEST_CASE("more uploads in a step than there is room for") {
  for (const int uploads : {10, 100}) {
    CAPTURE(uploads);
    Lab lab("emulated");
    Device& d = lab.device();
    const View x = lab.put(Shape{7}, Values(7)),
               sum = lab.put(Shape{7}, Values(7));
    double expected = 0;
    for (int i = 0; i < 6; ++i) {
      d.begin_step(0);
      for (int j = 0; j < uploads; ++j) {
        Tensor t(DType::kF32, x.shape);
        std::ranges::fill(t.as<float>(), static_cast<float>(100 * i + j));
        d.upload(x, t);
        d.add(sum, 1, x);
        expected += 100 * i + j;
      }
      d.end_step();
    }
    CHECK(lab.get(sum) == Values(7, expected));
  }
}

TEST_CASE("what is expected goes up as it was, and nothing else does") {
  // Small ones are read where they are, others go up beside what is computed.
  const std::int64_t n = GENERATE(7, 50'000);
  const auto each = [n](double value) {
    return Values(static_cast<std::size_t>(n), value);
  };
  Lab lab("emulated");
  Device& d = lab.device();
  const View x = lab.put(Shape{n}, each(0)), bytes = lab.blank(Shape{n});
  Tensor first(DType::kF32, x.shape), second(DType::kU8, x.shape);
  const std::array<const Tensor*, 2> both{&first, &second};
  const auto fill = [&](int value) {
    std::ranges::fill(first.as<float>(), static_cast<float>(value));
    std::ranges::fill(second.as<std::uint8_t>(),
                      static_cast<std::uint8_t>(value + 1));
  };
  const auto step = [&] {
    d.begin_step(0);
    d.upload(x, first);
    d.upload(bytes, second);
    d.end_step();
  };
  for (int i = 0; i < 6; ++i) {
    fill(10 * i);
    d.expect(both);
    fill(99);  // which nobody may do, to see what went up
    const Counts counts = calls_in(step);
    CHECK(counts.of("cudaStreamWaitEvent") == (n > 7 ? 2 : 0));
    if (i > 2) CHECK(is_one_launch(counts));
    CHECK(lab.get(x) == each(10 * i));
    CHECK(lab.get(bytes) == each(10 * i + 1));
    step();  // expected once
    CHECK(lab.get(x) == each(99));
  }
  fill(1);
  d.expect(both);
  fill(2);
  d.expect({});
  step();
  CHECK(lab.get(x) == each(2));
  d.expect(both);
  fill(3);
  d.upload(bytes, first);
  CHECK(lab.get(bytes) == each(2));
  const Tensor& other = first;
  d.expect(std::array<const Tensor*, 1>{&second});
  d.upload(x, other);
  CHECK(lab.get(x) == each(3));
}

TEST_CASE("what once went up does not keep memory of the GPU") {
  Lab lab("emulated");
  Device& d = lab.device();
  const auto filled = [](std::int64_t n, double value) {
    Tensor t(DType::kF32, Shape{n});
    std::ranges::fill(t.as<float>(), static_cast<float>(value));
    return t;
  };
  const Tensor large = filled(1 << 20, 0);
  const auto parameters = d.allocate(large.shape()),
             inputs = d.allocate(Shape{9000});
  const View x = inputs->view();
  for (int i = 0; i < 3; ++i) d.upload(parameters->view(), large);
  const std::size_t before = emulated_gpu_bytes();
  const Tensor first = filled(9000, 1), second = filled(9000, 2);
  for (int i = 0; i < 5; ++i) {
    d.begin_step(0);
    d.upload(x, first);
    d.upload(x, second);
    d.end_step();
    d.expect(std::array<const Tensor*, 2>{&first, &second});
  }
  CHECK(lab.get(x) == Values(9000, 2));
  CHECK(emulated_gpu_bytes() < before + large.bytes().size());
}

TEST_CASE("a step is not lost because there is no room for the next one") {
  Lab lab("emulated");
  Device& d = lab.device();
  const std::int64_t n = 50'000;
  const View x = lab.blank(Shape{n});
  Tensor t(DType::kF32, x.shape);
  for (const char* const name : {"cudaHostAlloc", "cudaMalloc"}) {
    CAPTURE(name);
    std::ranges::fill(t.as<float>(), 1.0F);
    fail_next(name, cudaErrorMemoryAllocation);
    d.expect(std::array<const Tensor*, 1>{&t});
    std::ranges::fill(t.as<float>(), 2.0F);
    CHECK(failure_of(name) == 0);
    d.begin_step(0);
    d.upload(x, t);
    d.end_step();
    CHECK(lab.get(x) == Values(static_cast<std::size_t>(n), 2));
  }
}

TEST_CASE("integers that are expected go up as they are") {
  Lab lab("emulated");
  Device& d = lab.device();
  const std::int64_t n = GENERATE(7, 50'000);
  const auto buffer = d.allocate(Shape{n}, DType::kI32);
  Tensor t(DType::kI32, Shape{n}), found(DType::kI32, Shape{n});
  const auto check_step = [&](std::int32_t wanted) {
    d.begin_step(0);
    d.upload(buffer->view(), t);
    d.end_step();
    d.download(found, buffer->view());
    CHECK(std::ranges::count(found.as<std::int32_t>(), wanted) == n);
  };
  for (int i = 0; i < 4; ++i) {
    std::ranges::fill(t.as<std::int32_t>(), i);
    d.expect(std::array<const Tensor*, 1>{&t});
    std::ranges::fill(t.as<std::int32_t>(), 99);
    check_step(i);
    check_step(99);
  }
}

TEST_CASE("labels of many classes are looked at on the GPU") {
  Lab lab("emulated");
  Device& d = lab.device();
  const std::int64_t classes = GENERATE(10, 5000);
  const std::int64_t n = 64;
  const View x = lab.blank(Shape{n, classes});
  Tensor labels(DType::kI32, Shape{n});
  std::ranges::fill(labels.as<std::int32_t>(), 7);
  const Counts counts = calls_in([&] { d.upload_one_hot(x, labels); });
  CHECK(counts.of("cudaMemcpyAsync") == (classes > 10 ? 1 : 0));
  const Values found = lab.get(x);
  CHECK(std::ranges::count(found, 1.0) == n);
  CHECK(found.at(7) == 1);
}

TEST_CASE("numbers that are expected are there after the step") {
  Lab lab("emulated");
  Device& d = lab.device();
  const auto buffer = d.allocate(Shape{3}, DType::kF64);
  const View numbers = buffer->view();
  const auto read = [&] {
    Values found(3);
    d.read(found, numbers);
    return found;
  };
  const auto step = [&](double value, bool ends) {
    d.begin_step(0);
    d.fill(numbers, value);
    d.expect_reading(numbers);
    if (ends) d.end_step();
  };
  for (int i = 0; i < 5; ++i) {
    step(i, true);
    Values found;
    const Counts counts = calls_in([&] { found = read(); });
    CHECK(found == Values(3, i));
    CHECK(counts.of("cudaMemcpyAsync") == 0);
    CHECK(counts.of("cudaStreamSynchronize") == 1);
    d.fill(numbers, i + 10);
    CHECK(read() == Values(3, i + 10));  // expected once
  }
  step(5, false);  // something was thrown
  step(6, true);
  CHECK(read() == Values(3, 6));
  step(7, false);
  d.begin_step(0);
  d.fill(numbers, 8);
  d.end_step();
  CHECK(read() == Values(3, 8));
  step(9, true);
  double first = 0;
  d.read({&first, 1}, numbers.at(1, Shape{1}));
  CHECK(first == 9);
  CHECK(read() == Values(3, 9));
}

TEST_CASE("staging goes when all that it held has been sent") {
  Stream stream(emulated_api(), 0, kEmulatedThreads);
  Staging after(stream);
  std::byte* const there = stream.allocate(100);
  for (int i = 0; i < 20; ++i) {
    const std::vector<std::byte> sent(100, static_cast<std::byte>(i));
    {
      Staging before(stream);
      before.fill(sent);
      before.send(there);
    }
    CHECK(std::ranges::equal(after.fetch(there, 100), sent));
  }
  stream.free(there);
}

#endif  // DL_EMULATED

}  // namespace dl::device::staging_test
