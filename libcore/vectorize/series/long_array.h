// An array that grows without a copy: a long one lies in pages of its own,
// which the kernel moves, so that it takes its own size at any time.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_LONG_ARRAY_H_
#define DL_LIBCORE_VECTORIZE_SERIES_LONG_ARRAY_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace dl::vectorize {

template <typename T>
class LongArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LongArray() = default;
  LongArray(LongArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  LongArray& operator=(LongArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~LongArray() { free(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }

  // Throws std::bad_alloc.
  void reserve(std::size_t size) {
    if (size > capacity_) grow(size);
  }
  void push_back(T value) {
    make_room(1);
    data_[size_++] = value;
  }
  // values: none of its own.
  void append(std::span<const T> values) {
    make_room(values.size());
    std::ranges::copy(values, end());
    size_ += values.size();
  }
  void shorten(std::size_t size) { size_ = std::min(size, size_); }

 private:
  static constexpr std::size_t kLong = std::size_t{1} << 20;  // bytes
  static bool is_long(std::size_t size) { return size * sizeof(T) >= kLong; }

  void make_room(std::size_t more) {
    constexpr std::size_t kLeast = 16;
    if (size_ + more > capacity_)
      grow(std::max({size_ + more, capacity_ * 2, kLeast}));
  }

  void grow(std::size_t capacity) {
    const std::size_t bytes = capacity * sizeof(T);
    void* moved = nullptr;
    if (!is_long(capacity)) {
      moved = std::realloc(data_, bytes);
      if (moved == nullptr) throw std::bad_alloc();
    } else if (is_long(capacity_)) {
      moved = ::mremap(data_, capacity_ * sizeof(T), bytes, MREMAP_MAYMOVE);
      if (moved == MAP_FAILED) throw std::bad_alloc();
    } else {
      moved = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (moved == MAP_FAILED) throw std::bad_alloc();
      if (size_ > 0) std::memcpy(moved, data_, size_ * sizeof(T));
      std::free(data_);
    }
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  void free() {
    if (is_long(capacity_))
      ::munmap(data_, capacity_ * sizeof(T));
    else
      std::free(data_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_LONG_ARRAY_H_
