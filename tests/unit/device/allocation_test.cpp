// A step allocates nothing once its batch size was seen; and it starts no
// threads.

#include <filesystem>
#include <string_view>

#include "tests/unit/allocations.h"
#include "tests/unit/device/layer_step.h"
#include "tests/unit/device/step.h"
#ifdef DL_EMULATED
#include "tests/unit/device/emulated/emulated_api.h"
#endif

namespace dl::device::allocation_test {

using namespace dl::device::test;

namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// The emulated GPU keeps what it is asked for on the heap.
void leave_emulation_out() {
#ifdef DL_EMULATED
  dl::test::allocations::within_library = dl::device::cuda::in_emulated_call;
#endif
}

}  // namespace

TEST_CASE("the counter counts") {
  std::vector<int>* made = nullptr;
  const auto counted =
      dl::test::allocations_in([&] { made = new std::vector<int>(3); });
  CHECK(counted.ours == 2);
  delete made;
#if DL_COUNTS_MALLOC
  void* volatile memory = nullptr;
  CHECK(dl::test::allocations_in([&] { memory = std::malloc(5); }).ours == 1);
  std::free(memory);
#endif
}

TEST_CASE("the second step of a batch size allocates nothing") {
  // A GPU's libraries allocate as they like, and in threads of their own.
  if (std::string_view(tested()).starts_with("cuda")) return;
  leave_emulation_out();
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const auto allocated = [](auto&& step) {
      for (const std::int64_t n : {5, 2}) step.run(n);
      const auto counted = dl::test::allocations_in([&] {
        for (const std::int64_t n : {5, 2, 5}) step.run(n);
      });
      return counted.ours;
    };
    CHECK(allocated(Step(lab)) == 0);
    CHECK(allocated(LayerStep(lab)) == 0);
  }
}

#ifdef DL_EMULATED
TEST_CASE("a step that is a graph allocates nothing") {
  if (std::string_view(tested()).starts_with("cuda")) return;
  const auto allocated = [](auto&& lab, auto&& steps) {
    const auto step = [&](std::int64_t n) {
      lab.device().begin_step(static_cast<std::uint64_t>(n));
      steps.start(n);
      lab.device().end_step();
    };
    for (const std::int64_t n : {5, 2, 5, 2, 5, 2}) step(n);
    const auto counted = dl::test::allocations_in([&] {
      for (const std::int64_t n : {5, 2, 5}) step(n);
    });
    return counted.ours;
  };
  leave_emulation_out();
  Lab lab("emulated");
  CHECK(allocated(lab, Step(lab)) == 0);
  CHECK(allocated(lab, LayerStep(lab)) == 0);
}
#endif

TEST_CASE("a step starts no threads") {
  const std::ptrdiff_t before = threads_of_this_process();
  Lab lab("cpu");
  Step step(lab);
  step.run(5);
  CHECK(threads_of_this_process() == before);
}

}  // namespace dl::device::allocation_test
