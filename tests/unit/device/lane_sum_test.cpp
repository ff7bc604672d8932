// Sums over GPUs that have memories of their own.

#include "libcore/device/api/lane_sum.h"

#include <functional>
#include <thread>

#include "tests/unit/device/lab.h"
#ifdef DL_EMULATED
#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/emulated_api.h"
#endif

namespace dl::device::lane_sum_test {

using namespace dl::device::test;

namespace {

std::unique_ptr<tensor::Buffer> put(Device& device, const Values& values,
                                    DType dtype) {
  auto buffer =
      device.allocate({static_cast<std::int64_t>(values.size())}, dtype);
  if (dtype == DType::kF64) {
    for (std::size_t i = 0; i < values.size(); ++i)
      device.fill(buffer->view().at(static_cast<std::int64_t>(i), {1}),
                  values[i]);
  } else {
    device.upload(buffer->view(), tensor_of(buffer->view().shape, values));
  }
  return buffer;
}

Values take(Device& device, View view) {
  Tensor values(view.dtype == DType::kF64 ? DType::kF64 : DType::kF32,
                view.shape);
  device.download(values, view);
  Values result(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = view.dtype == DType::kF64 ? values.as<double>()[i]
                                          : values.as<float>()[i];
  return result;
}

}  // namespace

TEST_CASE("a device alone is the sum of itself") {
  const auto device = open_tested(tested(), Precision::kFloat32);
  Device* const all[] = {device.get()};
  const auto sum = device->lane_sum(all);
  if (!sum) return;  // its memory is the host's
  for (const DType dtype : {device->real(), DType::kF64}) {
    const auto x = put(*device, {1.5, -2, 3e10}, dtype);
    const Values before = take(*device, x->view());
    sum->broadcast(0, x->view());
    sum->all_reduce(0, x->view());
    sum->reduce(0, x->view());
    CHECK(take(*device, x->view()) == before);
  }
}

#ifdef DL_EMULATED

namespace {

using dl::device::cuda::CudaDevice;

// Three emulated GPUs.
struct Gpus {
  Gpus() {
    ::setenv("DL_EMULATED_GPUS", "3", 1);
    std::vector<Device*> all;
    for (int gpu = 0; gpu < 3; ++gpu) {
      devices.push_back(std::make_unique<CudaDevice>(
          device::cuda::emulated_api(), gpu, Precision::kFloat32,
          device::cuda::kEmulatedThreads));
      all.push_back(devices.back().get());
    }
    sum = devices[0]->lane_sum(all);
  }
  ~Gpus() { ::unsetenv("DL_EMULATED_GPUS"); }

  // On a thread for each; what was thrown there.
  std::vector<std::string> run(const std::function<void(int, Device&)>& task) {
    std::vector<std::string> errors(3);
    std::vector<std::thread> threads;
    for (int lane = 0; lane < 3; ++lane)
      threads.emplace_back([&, lane] {
        const auto l = static_cast<std::size_t>(lane);
        try {
          task(lane, *devices[l]);
        } catch (const Error& error) {
          errors[l] = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<device::LaneSum> sum;
};

const std::vector<std::string> kNoErrors(3);

}  // namespace

TEST_CASE("GPUs sum in their order, over and over") {
  Gpus gpus;
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  std::vector<Values> everywhere(3), first(3), copied(3);
  for (int round = 0; round < 3; ++round) {
    const auto errors = gpus.run([&](int lane, Device& device) {
      const auto l = static_cast<std::size_t>(lane);
      // Big and small: another order would round differently.
      const Values mine{lane == 1 ? -1e20 : 1e20 * (lane == 0), 1.0 + lane};
      const auto x = put(device, mine, dtype), y = put(device, mine, dtype),
                 z = put(device, mine, dtype);
      gpus.sum->all_reduce(lane, x->view());
      gpus.sum->reduce(lane, y->view());
      gpus.sum->broadcast(lane, z->view());
      everywhere[l] = take(device, x->view());
      first[l] = take(device, y->view());
      copied[l] = take(device, z->view());
    });
    CHECK(errors == kNoErrors);
    for (std::size_t lane = 0; lane < 3; ++lane) {
      CHECK(everywhere[lane] == Values{0, 6});
      CHECK(copied[lane][1] == 1);
      CHECK(first[lane][1] == (lane == 0 ? 6 : 1 + static_cast<double>(lane)));
    }
  }
}

TEST_CASE("a GPU that fails lets the others go") {
  Gpus gpus;
  const auto errors = gpus.run([&](int lane, Device& device) {
    const auto x = device.allocate({4});
    if (lane == 2) return gpus.sum->give_up();
    gpus.sum->all_reduce(lane, x->view());
  });
  CHECK_FALSE(errors[0].empty());
  CHECK_FALSE(errors[1].empty());
  CHECK(errors[2].empty());
  const auto after = gpus.run([&](int lane, Device& device) {
    const auto x = device.allocate({4});
    gpus.sum->reduce(lane, x->view());
  });
  CHECK(after[1] == "cuda:1: another GPU of this worker has failed");
}

TEST_CASE("what goes wrong between GPUs is said") {
  {
    Gpus gpus;
    device::cuda::fail_next("ncclReduce", ncclSystemError);
    const auto errors = gpus.run([&](int lane, Device& device) {
      const auto x = device.allocate({4});
      if (lane == 0) gpus.sum->reduce(lane, x->view());
    });
    CHECK(errors[0] == "cuda:0: NCCL: an emulated failure (summing over GPUs)");
  }
  device::cuda::fail_next("ncclCommInitAll", ncclSystemError);
  CHECK_THROWS_WITH(Gpus{},
                    "cuda:0: NCCL: an emulated failure (joining the GPUs)");
  ::unsetenv("DL_EMULATED_GPUS");
}

TEST_CASE("threads use the GPU of the device that they are in") {
  Gpus gpus;
  // From one thread, in turn: memory, copies and kernels of each.
  for (int round = 0; round < 2; ++round)
    for (const auto& device : gpus.devices) {
      const auto x = put(*device, {1, 2, 3}, DType::kF32);
      const auto y = device->allocate({3});
      device->copy(y->view(), x->view());
      device->scale(y->view(), 2);
      CHECK(take(*device, y->view()) == Values{2, 4, 6});
    }
  // And what is another's is seen to be.
  const auto there = gpus.devices[1]->allocate({3});
  CHECK_THROWS_WITH(gpus.devices[0]->copy(there->view(), there->view()),
                    Catch::Contains("cuda:0: "));
}

#endif

}  // namespace dl::device::lane_sum_test
