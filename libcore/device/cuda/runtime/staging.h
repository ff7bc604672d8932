// Pinned memory of the host between tensors and the GPU, so that copies go on
// beside computation.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_STAGING_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_STAGING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

// Used by the stream's thread.
class Staging {
 public:
  explicit Staging(Stream& stream) : stream_(stream) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Room for what goes up next; waits until what it held before is up.
  std::span<std::byte> room(std::size_t bytes);
  // room(), with these in it: which costs nothing where they are there ahead.
  void fill(std::span<const std::byte> bytes);
  // The same for what is filled later: it is on its way from now on.
  void fill_ahead(std::span<const std::byte> bytes);
  void forget();  // what is there ahead
  // Where the stream's next calls find that room's bytes, until used(); times:
  // how often they look at each.
  const std::byte* bring(std::int64_t times = 1);
  void used();
  // Straight from that room, after the calls before.
  void send(void* to);
  // Copies from the GPU, and waits for it; good until the next call of this.
  std::span<const std::byte> fetch(const void* from, std::size_t bytes);
  // Room that the stream's next call fills with what is there; what it has
  // written, after a wait, unless more was done since than to end a step.
  std::byte* room_back(const void* from, std::size_t bytes);
  std::span<const std::byte> sent_back(const void* from, std::size_t bytes);

 private:
  struct Slot {
    std::byte *memory = nullptr, *there = nullptr;  // the host's, the GPU's
    std::size_t size = 0, size_there = 0;
    std::size_t bytes = 0;             // of what is in it
    cudaEvent_t sent = nullptr;        // nothing before it looks at it
    bool waits = false, goes = false;  // for that; to the GPU ahead
    std::uint64_t turn = 0;            // of its last use
    std::span<const std::byte> ahead;  // what is in it, if not yet asked for
  };
  std::size_t slot_for(std::size_t bytes);
  void make_room(Slot& slot, std::size_t bytes);
  void make_room_there(Slot& slot);
  void start(Slot& slot);

  Stream& stream_;
  cudaStream_t copies_ = nullptr;  // to the GPU, beside the stream's calls
  // Buffers of a turn are filled while those of the last turn are sent.
  std::vector<Slot> up_;
  std::size_t filled_ = 0;
  Slot down_, back_;
  const void* back_from_ = nullptr;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_STAGING_H_
