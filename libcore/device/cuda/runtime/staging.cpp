// Pinned buffers between host memory and the GPU.

#include "libcore/device/cuda/runtime/staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"

namespace dl::device::cuda {
namespace {

// Steps that upload more do without a graph.
constexpr std::size_t kMostSlots = 64;
// Largest size that a GPU reads faster in place than after a copy.
constexpr std::size_t kReadOverBus = std::size_t{16} << 10;
// Largest size that is read ahead: a few numbers.
constexpr std::size_t kMostBack = 512;

// std::ranges::copy() goes byte by byte.
void copy_to(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

Staging::~Staging() {
  const Api& api = stream_.api();
  up_.push_back(down_);
  up_.push_back(back_);
  for (const Slot& slot : up_) {
    if (slot.sent != nullptr) {
      api.cudaEventSynchronize(slot.sent);
      api.cudaEventDestroy(slot.sent);
    }
    if (slot.memory != nullptr) api.cudaFreeHost(slot.memory);
    stream_.free(slot.there);
  }
  if (copies_ != nullptr) api.cudaStreamDestroy(copies_);
}

// The smallest with enough room that nothing recent is in, or else the largest
// of those; where there is none, a new one.
std::size_t Staging::slot_for(std::size_t bytes) {
  std::size_t best = up_.size();
  for (std::size_t i = 0; i < up_.size(); ++i) {
    const Slot& slot = up_[i];
    if (slot.turn + 2 > stream_.turn() || !slot.ahead.empty()) continue;
    const std::size_t size = best < up_.size() ? up_[best].size : 0;
    if (best == up_.size() ||
        (size < bytes ? slot.size > size
                      : bytes <= slot.size && slot.size < size))
      best = i;
  }
  if (best < up_.size()) return best;
  if (up_.size() < kMostSlots) {
    up_.push_back({});
    return best;
  }
  return static_cast<std::size_t>(
      std::ranges::min_element(up_, {}, &Slot::turn) - up_.begin());
}

void Staging::make_room(Slot& slot, std::size_t bytes) {
  const Api& api = stream_.api();
  stream_.use_gpu();
  if (slot.sent == nullptr)
    check(api, stream_.gpu(),
          api.cudaEventCreateWithFlags(&slot.sent, cudaEventDisableTiming),
          "making an event");
  bytes = std::max<std::size_t>(bytes, 1);
  if (bytes <= slot.size) return;
  if (slot.memory != nullptr) api.cudaFreeHost(slot.memory);
  slot.memory = nullptr;
  slot.size = 0;
  void* memory = nullptr;
  check(api, stream_.gpu(),
        api.cudaHostAlloc(&memory, bytes, cudaHostAllocDefault),
        "pinning memory of the host");
  slot.memory = static_cast<std::byte*>(memory);
  slot.size = bytes;
}

// For what is in it: more may have been, when parameters went up.
void Staging::make_room_there(Slot& slot) {
  if (slot.bytes <= slot.size_there) return;
  stream_.free(std::exchange(slot.there, nullptr));
  slot.size_there = 0;
  slot.there = stream_.allocate(slot.bytes);
  slot.size_there = slot.bytes;
}

std::span<std::byte> Staging::room(std::size_t bytes) {
  filled_ = slot_for(bytes);
  Slot& slot = up_[filled_];
  if (slot.waits) stream_.wait_for(slot.sent);
  slot.waits = slot.goes = false;
  slot.ahead = {};
  make_room(slot, bytes);
  slot.bytes = bytes;
  return {slot.memory, bytes};
}

void Staging::fill(std::span<const std::byte> bytes) {
  const auto ahead = std::ranges::find_if(up_, [&](const Slot& slot) {
    return !slot.ahead.empty() && slot.ahead.data() == bytes.data() &&
           slot.ahead.size() == bytes.size();
  });
  if (ahead == up_.end()) {
    copy_to(room(bytes.size()), bytes);
    return;
  }
  ahead->ahead = {};
  filled_ = static_cast<std::size_t>(ahead - up_.begin());
}

void Staging::fill_ahead(std::span<const std::byte> bytes) {
  copy_to(room(bytes.size()), bytes);
  Slot& slot = up_[filled_];
  slot.ahead = bytes;
  if (slot.bytes > kReadOverBus) start(slot);
}

// Nothing looks at what was there: room() has waited.
void Staging::start(Slot& slot) {
  const Api& api = stream_.api();
  make_room_there(slot);
  if (copies_ == nullptr) copies_ = stream_.make_another();
  check(api, stream_.gpu(),
        api.cudaMemcpyAsync(slot.there, slot.memory, slot.bytes,
                            cudaMemcpyHostToDevice, copies_),
        "copying to the GPU");
  check(api, stream_.gpu(), api.cudaEventRecord(slot.sent, copies_),
        "recording an event");
  slot.waits = slot.goes = true;
}

void Staging::forget() {
  for (Slot& slot : up_) slot.ahead = {};
}

const std::byte* Staging::bring(std::int64_t times) {
  Slot& slot = up_.at(filled_);
  if (!slot.goes) {
    if (slot.bytes * static_cast<std::size_t>(times) <= kReadOverBus)
      return slot.memory;
    start(slot);
  }
  stream_.after(slot.sent);
  return slot.there;
}

void Staging::used() {
  Slot& slot = up_.at(filled_);
  stream_.record(slot.sent);
  slot.waits = true;
  slot.turn = stream_.turn();
  stream_.next_turn();
}

void Staging::send(void* to) {
  const Slot& slot = up_.at(filled_);
  if (slot.goes) stream_.after(slot.sent);  // which used() forgets
  stream_.copy(to, slot.memory, slot.bytes, cudaMemcpyHostToDevice);
  used();
}

std::span<const std::byte> Staging::fetch(const void* from, std::size_t bytes) {
  make_room(down_, bytes);
  stream_.copy(down_.memory, from, bytes, cudaMemcpyDeviceToHost);
  stream_.wait();
  return {down_.memory, bytes};
}

// One size of room: nothing is on its way when it is made.
std::byte* Staging::room_back(const void* from, std::size_t bytes) {
  require(bytes <= kMostBack, "more is to be sent back than there is room for");
  make_room(back_, kMostBack);
  back_.bytes = bytes;
  back_.turn = stream_.turn();
  back_from_ = from;
  return back_.memory;
}

std::span<const std::byte> Staging::sent_back(const void* from,
                                              std::size_t bytes) {
  if (from != back_from_ || bytes > back_.bytes || back_.turn != stream_.turn())
    return {};
  back_from_ = nullptr;
  stream_.wait();
  return {back_.memory, bytes};
}

}  // namespace dl::device::cuda
