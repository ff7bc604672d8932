// Sources and sinks in memory.

#include "libcore/io/memory.h"

#include <algorithm>
#include <cstring>

namespace dl::io {
namespace {

class MemorySource : public Source {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name)
      : Source(std::move(name)), bytes_(bytes.begin(), bytes.end()) {}

  std::size_t read(std::span<std::byte> buf) override {
    const std::size_t n = std::min(buf.size(), bytes_.size() - at_);
    if (n > 0) std::memcpy(buf.data(), bytes_.data() + at_, n);
    at_ += n;
    return n;
  }
  void close() override {}

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

class MemorySink : public Sink {
 public:
  MemorySink(std::vector<std::byte>& target, std::string name)
      : Sink(std::move(name)), target_(target) {}
  void write(std::span<const std::byte> bytes) override {
    target_.insert(target_.end(), bytes.begin(), bytes.end());
  }
  void close() override {}

 private:
  std::vector<std::byte>& target_;
};

}  // namespace

std::unique_ptr<Source> memory_source(std::span<const std::byte> bytes,
                                      std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::unique_ptr<Sink> memory_sink(std::vector<std::byte>& target,
                                  std::string name) {
  return std::make_unique<MemorySink>(target, std::move(name));
}

}  // namespace dl::io
