// Errors of a GPU, and the sentences that they become.

#ifdef DL_EMULATED

#include <catch2/catch.hpp>

#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/lab.h"

namespace dl::device::cuda_errors_test {

using namespace dl::device::cuda;
using Catch::Contains;
using tensor::Shape;

namespace {

std::string failure_of_opening(int gpu, const char* function, int status) {
  if (function != nullptr) fail_next(function, status);
  try {
    const CudaDevice device(emulated_api(), gpu, device::Precision::kFloat32,
                            kEmulatedThreads);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kUnavailable);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what keeps a GPU from being opened is said") {
  CHECK(failure_of_opening(0, nullptr, 0).empty());
  CHECK(failure_of_opening(7, nullptr, 0) ==
        "cuda:7: there is no such GPU (choosing the GPU)");
  CHECK_THAT(
      failure_of_opening(0, "cudaSetDevice", cudaErrorInsufficientDriver),
      Contains("the driver is older than this program's CUDA"));
  CHECK_THAT(failure_of_opening(0, "cudaSetDevice", cudaErrorNoDevice),
             Contains("no cuda device: there is no GPU; --device cpu"));
  CHECK_THAT(failure_of_opening(0, "cudaMalloc", cudaErrorMemoryAllocation),
             Contains("not enough memory for"));
  CHECK_THAT(
      failure_of_opening(0, "cublasLtCreate", CUBLAS_STATUS_ALLOC_FAILED),
      Contains("cuBLAS status 3"));
  CHECK(failure_of_opening(0, nullptr, 0).empty());
}

TEST_CASE("a GPU that is too old is told of when it is opened") {
  set_compute_capability(72);
  const std::string why = failure_of_opening(0, nullptr, 0);
  set_compute_capability(75);
  CHECK(failure_of_opening(0, nullptr, 0).empty());
  set_compute_capability(90);
  CHECK_THAT(why, Contains("cuda:0: the GPU is too old: its compute capability "
                           "is 7.2, 7.5 the least"));
}

TEST_CASE("GPUs before Ampere have float32 alone") {
  const auto precisions_of = [](int tenfold) {
    set_compute_capability(tenfold);
    const CudaDevice device(emulated_api(), 0, device::Precision::kFloat32,
                            kEmulatedThreads);
    set_compute_capability(90);
    CHECK(device.capabilities().training.has(device::Precision::kFloat32));
    return device.capabilities();
  };
  for (const auto p :
       {device::Precision::kTf32, device::Precision::kBfloat16}) {
    CHECK(precisions_of(80).training.has(p));
    CHECK(precisions_of(80).prediction.has(p));
    CHECK(!precisions_of(75).training.has(p));
    CHECK(!precisions_of(75).prediction.has(p));
  }
}

TEST_CASE("what goes wrong in use is said, and the device goes on") {
  CudaDevice device(emulated_api(), 0, device::Precision::kFloat32,
                    kEmulatedThreads);
  const auto x = device.allocate(Shape{4, 4}), y = device.allocate(Shape{4, 4});
  fail_next("cudaMalloc", cudaErrorMemoryAllocation);
  CHECK_THROWS_WITH(device.allocate(Shape{1000}),
                    Contains("cuda:0: not enough memory for 4000 bytes more"));
  fail_next("cudaLaunchKernel", cudaErrorLaunchFailure);
  CHECK_THROWS_WITH(device.fill(y->view(), 1), Contains("starting a kernel"));
  fail_next("cublasLtMatmul", CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK_THROWS_WITH(
      device.matmul(y->view(), x->view(), false, x->view(), false, 0),
      Contains("cuBLAS status"));
  fail_next("cudaStreamSynchronize", cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(device.finish(), Contains("cuda:0: "));
  device.fill(y->view(), 2);
  tensor::Tensor host;
  device.download(host, y->view());
  CHECK(host.as<float>()[15] == 2);
}

TEST_CASE("convolutions whose numbers 32 bits could not count are refused") {
  CudaDevice device(emulated_api(), 0, device::Precision::kFloat32,
                    kEmulatedThreads);
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1024;
  // The last block counts on, to the end of its tile.
  device::Conv3dSpec pixels{.depth = 1,
                            .height = 1,
                            .width = 1,
                            .channels = 1,
                            .filters = 1,
                            .stride = {2, 2, 2}};
  CHECK_NOTHROW(device.conv3d(pixels, kMost));
  CHECK_THROWS_WITH(device.conv3d(pixels, kMost + 1),
                    Contains("try a smaller --batch"));
  // Weights and biases are summed as one array.
  device::Conv2dSpec wide{.height = 7,
                          .width = 7,
                          .channels = 1,
                          .filters = kMost / 10,
                          .kernel = {3, 3},
                          .stride = {4, 4}};
  CHECK_NOTHROW(device.conv2d(wide, 1));
  ++wide.filters;
  CHECK_THROWS_WITH(device.conv2d(wide, 1), Contains("2^31 numbers"));
}

#endif

}  // namespace dl::device::cuda_errors_test
