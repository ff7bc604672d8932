// Each call of CUDA and its libraries that can fail does so once.
#ifdef DL_EMULATED

#include <algorithm>

#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/calls.h"
#include "tests/unit/device/emulated/graph.h"
#include "tests/unit/device/lab.h"

namespace dl::device::failing_calls_test {

using namespace dl::device::test;
using namespace dl::device::cuda;

namespace {

constexpr std::int64_t kBatch = 2;

Tensor image(int seed) {
  Tensor t(DType::kF32, Shape{kBatch, 4, 4, 4});
  std::ranges::copy(
      random_values(t.elements(), static_cast<std::uint64_t>(seed)),
      t.as<float>().begin());
  return t;
}

// Some steps, as the trainer makes them, through each of the libraries: what
// they find, and the weights behind them.
Values learn(Precision precision) {
  CudaDevice d(emulated_api(), 0, precision, kEmulatedThreads);
  const auto conv = d.conv2d({.height = 4,
                              .width = 4,
                              .channels = 4,
                              .filters = 4,
                              .kernel = {3, 3},
                              .pad_begin = {1, 1},
                              .pad_end = {1, 1}},
                             kBatch);
  const auto dense = d.dense();
  const auto x = d.allocate(Shape{kBatch, 4, 4, 4}),
             y = d.allocate(Shape{kBatch, 4, 4, 4}),
             w = d.allocate(Shape{4, 3, 3, 4}),
             dw = d.allocate(Shape{4, 3, 3, 4}), v = d.allocate(Shape{3, 64}),
             z = d.allocate(Shape{kBatch, 3}), dv = d.allocate(Shape{3, 64}),
             number = d.allocate(Shape{1}, DType::kF64);
  d.fill(w->view(), 0.25);
  d.fill(v->view(), 0.5);
  Values found;
  std::vector<Tensor> images;
  for (int i = 0; i < 5; ++i) images.push_back(image(i));
  for (std::size_t i = 0; i < 5; ++i) {
    d.begin_step(0);
    d.upload(x->view(), images[i]);
    conv->forward(y->view(), x->view(), w->view(), {});
    const View rows = y->view().reshaped(Shape{kBatch, 64});
    dense->forward(z->view(), rows, v->view(), {}, {});
    dense->backward_weights(dv->view(), rows, z->view(), {});
    conv->backward_weights(dw->view(), {}, x->view(), y->view());
    d.add(w->view(), -0.01, dw->view());
    d.add(v->view(), -0.01, dv->view());
    d.fill(number->view(), 0);
    d.add_sum(number->view(), 1, z->view());
    d.expect_reading(number->view());
    d.end_step();
    if (i + 1 < 5) {
      const Tensor* const next[] = {&images[i + 1]};
      d.expect(next);
    }
    d.read({&found.emplace_back(), 1}, number->view());
  }
  Tensor weights(DType::kF32, Shape{4, 3, 3, 4});
  d.download(weights, w->view());
  for (const float one : weights.as<float>()) found.push_back(one);
  return found;
}

}  // namespace

TEST_CASE("whichever call fails, no number is wrong and nothing is kept") {
  const auto precision = GENERATE(Precision::kFloat32, Precision::kTf32);
  const Values wanted = learn(precision);
  std::size_t failed = 0, refused = 0;
  for (bool met = true; met; ++failed) {
    fail_call(failed);
    bool right = true;
    const auto calls = calls_in([&] {
                         try {
                           right = learn(precision) == wanted;
                         } catch (const Error& error) {
                           ++refused;
                           CHECK(error.code() == dl::Code::kUnavailable);
                         }
                       }).calls;
    met = take_failed_call();
    INFO("call " << failed << " of " << calls.size());
    CHECK(right);
    CHECK(emulated_gpu_bytes() == 0);
    CHECK(graph_objects() == 0);
    CHECK(cublas_objects() == 0);
  }
  CHECK(failed > 100);
  CHECK(refused > failed / 4);
}

#endif  // DL_EMULATED

}  // namespace dl::device::failing_calls_test
