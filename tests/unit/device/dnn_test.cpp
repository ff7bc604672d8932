// How the cuda device uses cuDNN, over its emulation.

#ifdef DL_EMULATED

#include <algorithm>
#include <string>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/runtime/dnn_graph.h"
#include "tests/unit/device/convolutions.h"
#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::dnn_test {

using namespace dl::device::test;
using namespace dl::device::cuda;
using dl::device::Conv2dSpec;

namespace {

const Conv2dSpec kSpec{.height = 5,
                       .width = 6,
                       .channels = 3,
                       .filters = 7,
                       .kernel = {3, 2},
                       .pad_begin = {1, 0},
                       .pad_end = {0, 1}};

Shape y_shape(std::int64_t n) {
  return {n, kSpec.out_height(), kSpec.out_width(), kSpec.filters};
}

// Forward with bias, after prepare().  Returns how far it is off.
template <typename F>
double check_forward(F prepare, Precision precision = Precision::kTf32,
                     const Conv2dSpec& spec = kSpec) {
  Lab lab("emulated", precision), reference("reference");
  const Shape shape{2, spec.out_height(), spec.out_width(), spec.filters};
  const Convolved a(lab, spec, 2, shape);
  const Convolved exact(reference, spec, 2, shape);
  const View y = lab.blank(a.dy.shape), want = reference.blank(a.dy.shape);
  reference.device().conv2d(spec, 2)->forward(want, exact.x, exact.w, exact.b);
  const auto conv = lab.device().conv2d(spec, 2);
  const double tolerance = precision == Precision::kFloat32 ? 2e-6
                           : precision == Precision::kTf32  ? 2e-3
                                                            : 1e-2;
  prepare();
  double off = 0;
  for (int i = 0; i < 2; ++i) {
    conv->forward(y, a.x, a.w, a.b);
    const Values got = lab.get(y), wanted = reference.get(want);
    check_close(got, wanted, tolerance);
    for (std::size_t k = 0; k < got.size(); ++k)
      off = std::max(off, std::abs(got[k] - wanted[k]));
  }
  return off;
}

std::int64_t count_of(const std::vector<std::string>& calls,
                      const std::string& name) {
  return std::ranges::count(calls, name);
}

}  // namespace

TEST_CASE("bias is added by cuDNN, or after it where it cannot") {
  take_calls();
  check_forward([] { take_calls(); });
  const std::int64_t kernels = count_of(take_calls(), "cudaLaunchKernel");
  check_forward([] {
    take_calls();
    fail_next("fused graph", CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
  });
  CHECK(count_of(take_calls(), "cudaLaunchKernel") == kernels + 2);
}

TEST_CASE("bias and relu are cuDNN's, or after it where it cannot") {
  struct Case {
    Precision precision;
    bool fused;
    std::int64_t kernels;
  };
  for (const auto [precision, fused, kernels] :
       {Case{Precision::kTf32, true, 0}, Case{Precision::kTf32, false, 1},
        // All four are cast, or all but the bias, which is added.
        Case{Precision::kBfloat16, true, 4},
        Case{Precision::kBfloat16, false, 4}}) {
    Lab lab("emulated", precision), reference("reference");
    const Convolved a(lab, kSpec, 2, y_shape(2));
    const Convolved exact(reference, kSpec, 2, y_shape(2));
    const View y = lab.blank(y_shape(2)), want = reference.blank(y_shape(2));
    const dl::device::ActivationSpec relu{dl::device::Activation::kRelu};
    const auto conv = lab.device().conv2d(kSpec, 2);
    if (!fused)
      fail_next("fused graph", CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
    REQUIRE(conv->forward_activated(y, a.x, a.w, a.b, relu));
    take_calls();
    REQUIRE(conv->forward_activated(y, a.x, a.w, a.b, relu));
    const auto calls = take_calls();
    CHECK(count_of(calls, "cudnnBackendExecute") == 1);
    CHECK(count_of(calls, "cudaLaunchKernel") == kernels);
    reference.device().conv2d(kSpec, 2)->forward(want, exact.x, exact.w,
                                                 exact.b);
    reference.device().activate(relu, want, want);
    check_close(lab.get(y), reference.get(want),
                precision == Precision::kTf32 ? 2e-3 : 1e-2);
  }
}

TEST_CASE("plans that cannot be are passed over") {
  check_forward([] { fail_next("heuristics", CUDNN_STATUS_NOT_SUPPORTED); });
  check_forward(
      [] { fail_next("execution plan", CUDNN_STATUS_NOT_SUPPORTED_SHAPE); });
}

TEST_CASE("with bfloat16, what has no engine is computed with TF32") {
  const auto nothing = [] {};
  for (const std::int64_t groups : {1, 3}) {
    Conv2dSpec spec = kSpec;
    spec.filters = 6;
    spec.groups = groups;  // with 3, each has one channel
    const auto off = [&](Precision precision) {
      return check_forward(nothing, precision, spec);
    };
    const double tf32 = off(Precision::kTf32);
    CHECK(tf32 > 20 * off(Precision::kFloat32));
    if (groups == 3)
      CHECK(off(Precision::kBfloat16) == tf32);
    else
      CHECK(off(Precision::kBfloat16) > 4 * tf32);
  }
}

TEST_CASE("a convolution is planned once for each batch size") {
  Lab lab("emulated", Precision::kTf32);
  const Convolved a(lab, kSpec, 3, y_shape(3));
  const auto conv = lab.device().conv2d(kSpec, 3);
  const auto calls_of = [&](std::int64_t n) {
    const View x = a.x.at(0, x_shape(kSpec, n)), y = a.dy.at(0, y_shape(n));
    take_calls();
    conv->forward(y, x, a.w, {});
    return take_calls();
  };
  for (const std::int64_t n : {3, 1})
    CHECK(count_of(calls_of(n), "cudnnBackendCreateDescriptor") > 1);
  for (const std::int64_t n : {3, 1, 3})
    CHECK(calls_of(n) == std::vector<std::string>{"cudnnBackendExecute"});
}

TEST_CASE("other tensors need no other plan, unless they lie askew") {
  Lab lab("emulated", Precision::kTf32), reference("reference");
  const Convolved a(lab, kSpec, 1, y_shape(1));
  const Convolved exact(reference, kSpec, 1, y_shape(1));
  const View want = reference.blank(y_shape(1));
  reference.device().conv2d(kSpec, 1)->forward(want, exact.x, exact.w, {});
  const auto conv = lab.device().conv2d(kSpec, 1);
  const View y = lab.blank(y_shape(1)), z = lab.blank(y_shape(1));
  conv->forward(y, a.x, a.w, {});
  take_calls();
  conv->forward(z, a.x, a.w, {});
  CHECK(count_of(take_calls(), "cudnnBackendCreateDescriptor") == 1);
  check_close(lab.get(z), reference.get(want), 2e-3);
  const View wide = lab.blank(Shape{a.x.elements() + 1});
  const View askew = wide.at(1, a.x.shape);
  lab.device().copy(askew, a.x);
  conv->forward(y, askew, a.w, {});
  check_close(lab.get(y), reference.get(want), 2e-3);
}

TEST_CASE("descriptors are given back, and so is cuDNN") {
  take_calls();
  {
    check_forward([] {});
  }
  const auto calls = take_calls();
  CHECK(count_of(calls, "cudnnBackendCreateDescriptor") ==
        count_of(calls, "cudnnBackendDestroyDescriptor"));
  CHECK(count_of(calls, "cudnnDestroy") == 1);
}

TEST_CASE("without cuDNN there is no device") {
  for (const char* call : {"cudnnCreate", "cudnnSetStream"}) {
    fail_next(call, CUDNN_STATUS_NOT_INITIALIZED);
    CHECK_THROWS_AS(Lab("emulated"), Error);
  }
  CHECK_NOTHROW(Lab("emulated"));
}

TEST_CASE("a graph that is wrong is refused") {
  Stream stream(emulated_api(), 0, kEmulatedThreads);
  Dnn dnn(stream, Precision::kTf32);
  const std::int64_t image[] = {2, 3, 5, 5}, kernel[] = {4, 3, 2, 2},
                     result[] = {2, 4, 4, 4};
  const DnnWindow window{{1, 1}, {1, 1}, {0, 0}, {0, 0}};
  SECTION("as it should be") {
    DnnGraph graph(dnn, 16);
    const auto x = graph.add_tensor(image), w = graph.add_tensor(kernel),
               y = graph.add_tensor(result);
    graph.convolve(DnnConvolution::kForward, window, x, w, y);
    auto plan = graph.plan();
    REQUIRE(plan);
    alignas(16) float memory[2 * 3 * 5 * 5] = {};
    void* const two[] = {memory, memory};
    CHECK_THROWS_AS(plan->run(two), Error);
    void* const with_null[] = {memory, memory, nullptr};
    CHECK_THROWS_AS(plan->run(with_null), Error);
  }
  SECTION("extents that do not fit") {
    DnnGraph graph(dnn, 16);
    const auto x = graph.add_tensor(image), w = graph.add_tensor(kernel),
               y = graph.add_tensor(image);
    CHECK_THROWS_AS(graph.convolve(DnnConvolution::kForward, window, x, w, y),
                    Error);
    CHECK_THROWS_AS(graph.add(y, x, w), Error);
  }
  SECTION("no result in memory") {
    DnnGraph graph(dnn, 16);
    const auto x = graph.add_between(image), w = graph.add_tensor(kernel),
               y = graph.add_tensor(result);
    graph.convolve(DnnConvolution::kForward, window, x, w, y);
    CHECK_THROWS_AS(graph.plan(), Error);
  }
  SECTION("nothing to do") { CHECK_THROWS_AS(DnnGraph(dnn, 16).plan(), Error); }
  SECTION("descriptors") {
    DnnDescriptor tensor(dnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    CHECK_THROWS_AS(
        tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1.0F), Error);
    CHECK_THROWS_AS(tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, image), Error);
    CHECK_THROWS_AS(
        tensor.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, *image),
        Error);
    CHECK(tensor.try_finalize() == CUDNN_STATUS_BAD_PARAM);
    DnnDescriptor graph(dnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    CHECK_THROWS_AS(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, tensor), Error);
  }
}

#endif  // DL_EMULATED

}  // namespace dl::device::dnn_test
