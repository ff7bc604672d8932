// A step allocates nothing once its batch size was seen; and it starts no
// threads.

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <new>

#include "tests/unit/device/step.h"

namespace {

// Counted on this thread while `counting`: calls of operator new from our own
// code, and the largest from oneDNN, which makes a small map of arguments at
// each call.
thread_local bool counting = false;
thread_local int own_calls = 0;
thread_local std::size_t library_bytes = 0;

void note(std::size_t bytes, void* caller) {
  if (!counting) return;
  counting = false;  // dladdr may allocate
  Dl_info info{};
  const bool known = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  if (known && std::string_view(info.dli_fname).find("libdnnl") !=
                   std::string_view::npos) {
    library_bytes += bytes;
  } else {
    ++own_calls;
  }
  counting = true;
}

void* take(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inlined: g++ 12 would take malloc and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  note(bytes, __builtin_return_address(0));
  return take(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  note(bytes, __builtin_return_address(0));
  return take(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes,
                                     const std::nothrow_t&) noexcept {
  note(bytes, __builtin_return_address(0));
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}

using namespace dl::device::test;

namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("the counter counts") {
  counting = true;
  own_calls = 0;
  std::vector<int>* made = new std::vector<int>(3);
  counting = false;
  CHECK(own_calls == 2);
  delete made;
}

TEST_CASE("the second step of a batch size allocates nothing") {
  for (const char* name : {"cpu", "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    Step step(lab);
    for (const std::int64_t n : {5, 2}) step.run(n);
    own_calls = 0;
    library_bytes = 0;
    counting = true;
    for (const std::int64_t n : {5, 2, 5}) step.run(n);
    counting = false;
    CHECK(own_calls == 0);
    CHECK(library_bytes < 64 * 1024);  // in 3 steps: no scratch memory
  }
}

TEST_CASE("a step starts no threads") {
  const std::ptrdiff_t before = threads_of_this_process();
  Lab lab("cpu");
  Step step(lab);
  step.run(5);
  CHECK(threads_of_this_process() == before);
}
