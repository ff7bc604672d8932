// Counts what is taken from the heap, on all threads.  One file of a test
// program includes it: it replaces operator new and, where nothing else does,
// malloc.

#ifndef DL_TESTS_UNIT_ALLOCATIONS_H_
#define DL_TESTS_UNIT_ALLOCATIONS_H_

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DL_COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}
#endif

namespace dl::test {

// Allocations; those of libraries have a count of their own: oneDNN makes a map
// of arguments for each primitive it runs, OpenBLAS room for small products.
struct Allocations {
  int ours = 0;
  int libraries = 0;
};

namespace allocations {

inline std::atomic<bool> counting{false};
inline std::atomic<int> ours{0}, libraries{0};
// Hook for a linked library: whether this thread is within it.
inline std::atomic<bool (*)()> within_library{nullptr};

inline void note(void* caller) {
  thread_local bool inside = false;  // dladdr may allocate
  if (!counting || inside) return;
  inside = true;
  Dl_info info{};
  bool (*const within)() = within_library;
  const bool theirs =
      (within != nullptr && within()) ||
      (dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
       (std::strstr(info.dli_fname, "libdnnl") != nullptr ||
        std::strstr(info.dli_fname, "libopenblas") != nullptr ||
        std::strstr(info.dli_fname, "libgomp") != nullptr));
  ++(theirs ? libraries : ours);
  inside = false;
}

inline void* take(std::size_t bytes, std::size_t alignment, void* caller) {
  note(caller);
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
#if DL_COUNTS_MALLOC
  void* memory = __libc_memalign(alignment, rounded);
#else
  void* memory = std::aligned_alloc(alignment, rounded);
#endif
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace allocations

// Counts the allocations of f().
template <typename F>
Allocations allocations_in(F f) {
  allocations::ours = allocations::libraries = 0;
  allocations::counting = true;
  f();
  allocations::counting = false;
  return {allocations::ours, allocations::libraries};
}

}  // namespace dl::test

#define DL_CALLER __builtin_return_address(0)

#if DL_COUNTS_MALLOC
extern "C" {
void* malloc(std::size_t bytes) {
  dl::test::allocations::note(DL_CALLER);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  dl::test::allocations::note(DL_CALLER);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  dl::test::allocations::note(DL_CALLER);
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  dl::test::allocations::note(DL_CALLER);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  dl::test::allocations::note(DL_CALLER);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

// Not inlined: g++ 12 would take new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return dl::test::allocations::take(bytes, 16, DL_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return dl::test::allocations::take(bytes, 16, DL_CALLER);
}
[[gnu::noinline]] void* operator new(std::size_t bytes,
                                     std::align_val_t alignment) {
  return dl::test::allocations::take(bytes, static_cast<std::size_t>(alignment),
                                     DL_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes,
                                       std::align_val_t alignment) {
  return dl::test::allocations::take(bytes, static_cast<std::size_t>(alignment),
                                     DL_CALLER);
}
[[gnu::noinline]] void* operator new(std::size_t bytes,
                                     const std::nothrow_t&) noexcept {
  return dl::test::allocations::take(bytes, 16, DL_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes,
                                       const std::nothrow_t&) noexcept {
  return dl::test::allocations::take(bytes, 16, DL_CALLER);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t,
                                       std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t,
                                         std::align_val_t) noexcept {
  std::free(p);
}

#undef DL_CALLER

#endif  // DL_TESTS_UNIT_ALLOCATIONS_H_
