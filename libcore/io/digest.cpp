// XXH3-64 of bytes and streams.

#include "libcore/io/digest.h"

#include <xxhash.h>

#include <new>

namespace dl::io {

std::uint64_t digest(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct Digest::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() {
    if (!xxh) throw std::bad_alloc{};
    XXH3_64bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size());
}

void Digest::add_text(const std::string& text) {
  add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

std::uint64_t Digest::value() const { return XXH3_64bits_digest(state_->xxh); }

}  // namespace dl::io
