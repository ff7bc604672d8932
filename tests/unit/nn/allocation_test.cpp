// A training step takes no memory from the heap.
//
// oneDNN itself does, a map of arguments for each primitive it runs: what comes
// from its library is not counted.

#include <dlfcn.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/unit/nn/support.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

bool is_onednn(void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* take(std::size_t size, std::size_t alignment, void* caller) {
  if (counting && !is_onednn(caller)) ++allocations;
  const std::size_t rounded = (size / alignment + 1) * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Of the whole test program, and of the libraries it loads.
void* operator new(std::size_t size) {
  return take(size, 16, __builtin_return_address(0));
}
void* operator new[](std::size_t size) {
  return take(size, 16, __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment),
              __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment),
              __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace dl::nn {
namespace {

int allocations_in(const std::string& device, int lanes) {
  NetworkConfig config = testing::sequence("[8, 8, 2]", R"(
      {"type": "conv2d", "filters": 4, "kernel": [3, 3], "padding": "same"},
      {"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
      {"type": "max_pool2d"}, {"type": "dropout", "rate": 0.3},
      {"type": "conv2d", "filters": 4, "kernel": [2, 2], "activation": "gelu"},
      {"type": "average_pool2d"}, {"type": "flatten"},
      {"type": "dense", "units": 6, "activation": "tanh"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})",
                                           R"(,
      "updater": {"type": "adam"}, "regularization": {"l1": 0.1, "l2": 0.1},
      "gradient_normalization": "clip_l2_per_layer")");
  Network network = testing::compile(config, 9, device, lanes);
  testing::Examples data = testing::random_examples(config, 9);
  for (int i = 0; i < 2; ++i) testing::train(network, data.batch(), i);
  tensor::Tensor outputs;
  network.predict(data.features, outputs);
  allocations = 0;
  counting = true;
  for (int i = 2; i < 5; ++i) {
    testing::train(network, data.batch(), i);
    network.compute_gradient(data.batch(), {});
    network.compute_update({});
    network.regularization_score();
  }
  network.predict(data.features, outputs);
  counting = false;
  return allocations;
}

TEST_CASE("the count sees an allocation") {
  allocations = 0;
  counting = true;
  std::vector<int> some(static_cast<std::size_t>(allocations) + 3);
  counting = false;
  CHECK(some.size() == 3);
  CHECK(allocations == 1);
}

TEST_CASE("a step allocates nothing") {
  const std::string device = GENERATE(as<std::string>{}, "reference", "cpu");
  const int lanes = GENERATE(1, 2, 3);
  INFO(device << ", " << lanes << " lanes");
  CHECK(allocations_in(device, lanes) == 0);
}

}  // namespace
}  // namespace dl::nn
