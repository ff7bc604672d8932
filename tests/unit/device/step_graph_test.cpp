// Steps as graphs of the cuda device: the same numbers as without, in one
// launch.  The emulated GPU does what is captured when its graph is launched.
#ifdef DL_EMULATED

#include "libcore/device/cuda/runtime/step_graph.h"

#include <algorithm>
#include <functional>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/calls.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/graph.h"
#include "tests/unit/device/lab.h"
#include "tests/unit/device/layer_step.h"
#include "tests/unit/device/step.h"

namespace dl::device::step_graph_test {

using namespace dl::device::test;
using namespace dl::device::cuda;

namespace {

const std::vector<Precision> kPrecisions = {
    Precision::kFloat32, Precision::kTf32, Precision::kBfloat16};

constexpr std::int64_t kBatch = 5, kInputs = 6, kUnits = 3;

Tensor floats(const Shape& shape, std::uint64_t seed) {
  Tensor t(DType::kF32, shape);
  std::ranges::copy(random_values(shape.elements(), seed),
                    t.as<float>().begin());
  return t;
}

Tensor integers(DType dtype, const Shape& shape, int most, std::uint64_t seed) {
  const Values values = random_values(shape.elements(), seed, 0, most);
  Tensor t(dtype, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kU8)
      t.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
    else
      t.as<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
  }
  return t;
}

// A layer that learns something: uploads of three kinds, products of matrices,
// kernels with and without shared memory, numbers that change with each step.
class Training {
 public:
  using Middle = std::function<void(Device&)>;

  explicit Training(bool graphs)
      : graphs_(graphs), dense_(lab_.device().dense()) {}

  Device& device() { return lab_.device(); }

  void step(std::int64_t n = kBatch, const Middle& middle = {}) {
    if (graphs_) device().begin_step(static_cast<std::uint64_t>(n));
    calls(n, middle);
    if (graphs_) device().end_step();
  }
  // As step(), but something is thrown.
  void broken_step(std::int64_t n = kBatch) {
    if (graphs_) device().begin_step(static_cast<std::uint64_t>(n));
    CHECK_THROWS_AS(calls(n,
                          [](auto&) {
                            throw Error{dl::Code::kData, "broken"};
                          }),
                    Error);
  }

  Values results() {
    Values all;
    for (const View& view : {w, b, y, dw, db, x, pixels, classes, kept})
      for (const double value : lab_.get(view)) all.push_back(value);
    return all;
  }

 private:
  void calls(std::int64_t n, const Middle& middle) {
    Device& d = device();
    const auto seed = static_cast<std::uint64_t>(++count_);
    const View x_n = x.at(0, Shape{n, kInputs}), y_n = y.at(0, {n, kUnits}),
               p_n = pixels.at(0, x_n.shape), t_n = classes.at(0, y_n.shape);
    d.upload(x_n, floats(x_n.shape, seed));
    d.upload_scaled(p_n, integers(DType::kU8, x_n.shape, 256, seed), shift,
                    scaling);
    d.upload_one_hot(t_n, integers(DType::kI32, Shape{n}, kUnits, seed));
    d.add(x_n, 0.01 * count_, p_n);
    dense_->forward(y_n, x_n, w, b, {});
    if (middle) middle(d);
    d.add(y_n, -1, t_n);
    d.scale(y_n, 1.0 / static_cast<double>(n));
    dense_->backward_weights(dw, x_n, y_n, {});
    d.sum_rows(db, y_n);
    d.add(w, -0.1 / count_, dw);
    d.add(b, -0.1 / count_, db);
    d.copy(kept.at(count_ % 2 * w.elements(), w.shape), w);
  }

  Lab lab_{"emulated"};
  bool graphs_;
  std::unique_ptr<dl::device::Dense> dense_;
  int count_ = 0;

 public:
  const View w = lab_.random(Shape{kUnits, kInputs}, 1),
             b = lab_.random(Shape{kUnits}, 2),
             x = lab_.put(Shape{kBatch, kInputs}, Values(kBatch*kInputs)),
             y = lab_.put(Shape{kBatch, kUnits}, Values(kBatch*kUnits)),
             dw = lab_.put(w.shape, Values(kUnits*kInputs)),
             db = lab_.put(b.shape, Values(kUnits)),
             pixels = lab_.put(x.shape, Values(kBatch*kInputs)),
             classes = lab_.put(y.shape, Values(kBatch*kUnits)),
             kept = lab_.put(Shape{2, kUnits, kInputs},
                             Values(2 * kUnits * kInputs)),
             shift = lab_.put(Shape{1}, {128}),
             scaling = lab_.put(Shape{1}, {1 / 64.0});
};

// The same steps with graphs and without.
struct Pair {
  Training with{true}, without{false};

  void step(std::int64_t n = kBatch, const Training::Middle& middle = {}) {
    with.step(n, middle);
    without.step(n, middle);
  }
  void check() { CHECK(with.results() == without.results()); }
};

// The same steps through most primitives, of two sizes.
template <class Steps>
void check_steps(Precision precision) {
  Lab with_lab("emulated", precision), without_lab("emulated", precision);
  Steps with(with_lab), without(without_lab);
  const auto step = [&](std::int64_t n) {
    with_lab.device().begin_step(static_cast<std::uint64_t>(n));
    with.start(n);
    with_lab.device().end_step();
  };
  for (const std::int64_t n : {5, 2, 5, 5, 2, 2, 5}) {
    step(n);
    without.start(n);
  }
  CHECK(with.results() == without.results());
  for (const std::int64_t n : {5, 2}) {
    const Counts counts = calls_in([&] { step(n); });
    CHECK(is_one_launch(counts));
    without.start(n);
    CHECK(with.results() == without.results());
  }
}

}  // namespace

TEST_CASE("a step through most primitives is one launch") {
  check_steps<Step>(GENERATE(from_range(kPrecisions)));
}

TEST_CASE("a step through layers is one launch") {
  check_steps<LayerStep>(GENERATE(from_range(kPrecisions)));
}

TEST_CASE("steps as graphs give the same numbers") {
  Pair pair;
  for (int i = 0; i < 8; ++i) {
    pair.step();
    pair.check();
  }
}

TEST_CASE("steps as graphs give the same numbers where nobody waits") {
  Pair pair;
  for (int i = 0; i < 8; ++i) pair.step();
  pair.check();
}

TEST_CASE("from the third on, a step is one launch") {
  Training training(true);
  const Counts first = calls_in([&] { training.step(); });
  CHECK(first.of("cudaGraphLaunch") == 0);
  CHECK(first.of("cudaLaunchKernel") > 0);
  const Counts second = calls_in([&] { training.step(); });
  CHECK(second.of("cudaStreamBeginCapture") == 1);
  CHECK(second.of("cudaGraphLaunch") == 1);
  CHECK(second.of("cudaStreamSynchronize") == 0);
  for (int i = 0; i < 5; ++i)
    CHECK(is_one_launch(calls_in([&] { training.step(); })));
  training.results();  // between steps it costs nothing
  const Counts next = calls_in([&] { training.step(); });
  CHECK(is_one_launch(next));
  // Three sums have a factor of the step, three uploads come from elsewhere.
  // Bytes between an argument's members may differ, too.
  CHECK(next.of("cudaGraphExecKernelNodeSetParams") >= 6);
  CHECK(next.of("cudaGraphExecMemcpyNodeSetParams1D") == 1);
}

TEST_CASE("a smaller batch has a graph of its own") {
  Pair pair;
  for (int i = 0; i < 4; ++i)
    for (const std::int64_t n : {kBatch, kBatch, std::int64_t{2}}) pair.step(n);
  pair.check();
  for (const std::int64_t n : {std::int64_t{2}, kBatch})
    CHECK(is_one_launch(calls_in([&] { pair.with.step(n); })));
}

TEST_CASE("a step that differs is computed as it is, and learnt anew") {
  const auto scale_more = [](Training& t) {
    return [&t](Device& d) { d.scale(t.y, 0.5); };
  };
  const auto another_product = [](Training& t) {
    return [&t](Device& d) { d.matmul(t.dw, t.y, true, t.pixels, false, 0); };
  };
  Pair pair;
  const auto step_with = [&](auto middle) {
    pair.with.step(kBatch, middle(pair.with));
    pair.without.step(kBatch, middle(pair.without));
  };
  for (int i = 0; i < 4; ++i) pair.step();
  step_with(scale_more);
  pair.check();
  step_with(scale_more);  // captured
  step_with(scale_more);
  pair.check();
  CHECK(is_one_launch(
      calls_in([&] { pair.with.step(kBatch, scale_more(pair.with)); })));
  pair.without.step(kBatch, scale_more(pair.without));
  pair.check();
  step_with(another_product);
  pair.check();
  step_with(another_product);
  step_with(another_product);
  CHECK(is_one_launch(
      calls_in([&] { pair.with.step(kBatch, another_product(pair.with)); })));
}

TEST_CASE("a step may end early, be empty, or go on longer") {
  Lab lab("emulated");
  Device& d = lab.device();
  const View y = lab.put(Shape{9}, Values(9));
  double expected = 0;
  for (const int adds : {3, 3, 3, 2, 2, 2, 0, 3, 4, 4, 4, 4}) {
    d.begin_step(1);
    for (int i = 0; i < adds; ++i) d.add(y, 1, lab.put(Shape{9}, Values(9, 1)));
    d.end_step();
    expected += adds;
    CHECK(lab.get(y) == Values(9, expected));
  }
}

TEST_CASE("what is read in a step is right, and costs the graph") {
  Pair pair;
  Values seen[2];
  const auto reads = [](Training& t, Values& to) {
    return [&t, &to](Device& d) {
      Tensor y(DType::kF64, Shape{});
      d.download(y, t.y);
      to.assign(y.as<double>().begin(), y.as<double>().end());
    };
  };
  for (int i = 0; i < 3; ++i) pair.step();
  pair.with.step(kBatch, reads(pair.with, seen[0]));
  pair.without.step(kBatch, reads(pair.without, seen[1]));
  CHECK(seen[0] == seen[1]);
  pair.check();
  for (int i = 0; i < 2; ++i) pair.step();
  pair.check();
  CHECK(is_one_launch(calls_in([&] { pair.with.step(); })));
  pair.without.step();

  // With each: after some, it is not tried any more.
  for (int i = 0; i < StepGraphs::kMostFailures; ++i) {
    pair.with.step(kBatch, reads(pair.with, seen[0]));
    pair.without.step(kBatch, reads(pair.without, seen[1]));
    CHECK(seen[0] == seen[1]);
  }
  for (int i = 0; i < 4; ++i) {
    const Counts counts = calls_in([&] { pair.with.step(); });
    CHECK(counts.of("cudaStreamBeginCapture") == 0);
    CHECK(counts.of("cudaGraphLaunch") == 0);
    pair.without.step();
  }
  pair.check();
  CHECK(graph_objects() == 0);
}

TEST_CASE("memory that comes and goes in a step") {
  Pair pair;
  const auto borrows = [](Training& t) {
    return [&t](Device& d) {
      const auto more = d.allocate(t.y.shape);
      d.copy(more->view(), t.y);
      d.add(t.y, 0.5, more->view());
    };
  };
  for (int i = 0; i < 6; ++i) {
    pair.with.step(kBatch, borrows(pair.with));
    pair.without.step(kBatch, borrows(pair.without));
    pair.check();
  }
}

TEST_CASE("other memory is another argument") {
  Lab lab("emulated");
  Device& d = lab.device();
  const View ones = lab.put(Shape{9}, Values(9, 1)),
             twos = lab.put(Shape{9}, Values(9, 2)),
             sum = lab.put(Shape{9}, Values(9));
  Counts last;
  for (int i = 0; i < 6; ++i)
    last = calls_in([&] {
      d.begin_step(0);
      d.add(sum, 1, i % 2 == 0 ? ones : twos);
      d.end_step();
    });
  CHECK(is_one_launch(last));
  CHECK(lab.get(sum) == Values(9, 9));
}

TEST_CASE("a graph that CUDA refuses is done without") {
  for (const char* name : {"cudaStreamBeginCapture", "cudaStreamEndCapture",
                           "cudaGraphInstantiateWithFlags", "cudaGraphLaunch",
                           "cudaGraphExecKernelNodeSetParams",
                           "cudaGraphExecMemcpyNodeSetParams1D"}) {
    CAPTURE(name);
    {
      Pair pair;
      pair.step();
      fail_next(name, cudaErrorMemoryAllocation);
      for (int i = 0; i < 4; ++i) {
        pair.step();
        pair.check();
      }
      CHECK(failure_of(name) == 0);  // it was met
      CHECK(is_one_launch(calls_in([&] { pair.with.step(); })));
    }
    CHECK(graph_objects() == 0);
  }
}

TEST_CASE("a call that cannot be captured") {
  for (const char* name :
       {"cudaLaunchKernel", "cudaMemcpyAsync", "cublasLtMatmul"}) {
    CAPTURE(name);
    Pair pair;
    pair.step();
    fail_next(name, cudaErrorStreamCaptureUnsupported);
    pair.with.step();
    CHECK(failure_of(name) == 0);
    pair.without.step();
    pair.check();
    for (int i = 0; i < 2; ++i) pair.step();
    pair.check();
    CHECK(is_one_launch(calls_in([&] { pair.with.step(); })));
  }
}

TEST_CASE("a step whose launch fails is lost, the next is not") {
  // Counts before the first step, and before a postponed one.
  for (const int before : {0, 1, 3}) {
    CAPTURE(before);
    Pair pair;
    for (int i = 0; i < before; ++i) pair.step();
    pair.check();
    if (before > 0) fail_next("cudaGraphLaunch", cudaErrorLaunchFailure);
    if (before == 1)
      fail_next("cudaStreamBeginCapture", cudaErrorLaunchFailure);
    if (before == 1) failure_of("cudaGraphLaunch");
    fail_next("cudaLaunchKernel", cudaErrorLaunchFailure);
    CHECK_THROWS_AS(pair.with.step(), Error);
    pair.without.step();
    const auto reset = [](Training& t) {
      t.device().fill(t.w, 0.25);
      t.device().fill(t.b, 0.5);
      t.device().fill(t.kept, 0);
    };
    reset(pair.with);
    reset(pair.without);
    for (int i = 0; i < 4; ++i) {
      pair.step();
      pair.check();
    }
    CHECK(is_one_launch(calls_in([&] { pair.with.step(); })));
  }
}

TEST_CASE("what was asked before something is thrown takes effect") {
  for (const int before : {0, 1, 2, 4}) {
    for (const bool looks : {true, false}) {
      CAPTURE(before, looks);
      Pair pair;
      for (int i = 0; i < before; ++i) pair.step();
      pair.with.broken_step();
      pair.without.broken_step();
      if (looks) pair.check();
      for (int i = 0; i < 4; ++i) pair.step();
      pair.check();
      CHECK(is_one_launch(calls_in([&] { pair.with.step(); })));
    }
  }
}

TEST_CASE("what goes up grows from step to step") {
  Pair pair;
  for (std::int64_t round = 0; round < 3; ++round)
    for (const std::int64_t n : {1, 5, 3, 4, 2}) pair.step(n);
  pair.check();
  for (const std::int64_t n : {1, 5, 3, 4, 2})
    CHECK(is_one_launch(calls_in([&] { pair.with.step(n); })));
}

TEST_CASE("keys that are not used any more are forgotten") {
  {
    Lab lab("emulated");
    Device& d = lab.device();
    const View y = lab.put(Shape{9}, Values(9));
    const std::uint64_t keys = 3 * StepGraphs::kMostKeys;
    for (std::uint64_t key = 0; key < keys; ++key)
      for (int i = 0; i < 3; ++i) {
        d.begin_step(key);
        d.add(y, 1, y);
        d.fill(y, static_cast<double>(key));
        d.end_step();
      }
    CHECK(lab.get(y) == Values(9, static_cast<double>(keys - 1)));
    CHECK(graph_objects() == 2 * StepGraphs::kMostKeys);
    CHECK(dynamic_cast<CudaDevice&>(d).stream().graphs().keys() ==
          StepGraphs::kMostKeys);
  }
  CHECK(graph_objects() == 0);
}

TEST_CASE("products that are captured are gone with the device") {
  const std::size_t before = cublas_objects();
  {
    Training training(true);
    for (int i = 0; i < 3; ++i) training.step();
    CHECK(cublas_objects() > before);
  }
  CHECK(cublas_objects() == before);
}

TEST_CASE("a signature is of all values and their order") {
  const float a[2] = {};
  const auto all = {signature_of(),           signature_of(1, 2),
                    signature_of(2, 1),       signature_of(1, 3),
                    signature_of(&a[0], 1),   signature_of(&a[1], 1),
                    signature_of(&a[0], 1.F), signature_of(1)};
  for (const auto& one : all) CHECK(std::ranges::count(all, one) == 1);
  CHECK(signature_of(&a[0], 1, 2.5) == signature_of(&a[0], 1, 2.5));
}

TEST_CASE("the emulated capture spoils as CUDA's does") {
  const Api& api = emulated_api();
  cudaStream_t stream = nullptr;
  api.cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  api.cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  void* there = nullptr;
  REQUIRE(api.cudaMalloc(&there, 64) == cudaSuccess);
  float here[16] = {};
  const std::function<cudaError_t()> illegal[] = {
      [&] { return api.cudaStreamSynchronize(stream); },
      [&] { return api.cudaEventSynchronize(event); },
      [&] { return api.cudaEventRecord(event, stream); },
      [&] { return api.cudaFree(there); },
      [&] {
        void* more = nullptr;
        return api.cudaMalloc(&more, 64);
      },
      [&] {
        void* more = nullptr;
        return api.cudaHostAlloc(&more, 64, cudaHostAllocDefault);
      },
      [&] {
        return api.cudaMemcpyAsync(there, here, sizeof here,
                                   cudaMemcpyHostToDevice, stream);
      },
  };
  for (const auto& call : illegal) {
    REQUIRE(api.cudaStreamBeginCapture(
                stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(call() != cudaSuccess);
    CHECK(api.cudaMemsetAsync(there, 0, 64, stream) != cudaSuccess);
    cudaGraph_t graph = nullptr;
    CHECK(api.cudaStreamEndCapture(stream, &graph) != cudaSuccess);
    CHECK(graph == nullptr);
    CHECK(!captures(stream));
  }
  CHECK(api.cudaFree(there) == cudaSuccess);
  CHECK(api.cudaEventDestroy(event) == cudaSuccess);
}

#endif  // DL_EMULATED

}  // namespace dl::device::step_graph_test
