// Frames of a message: each piece of input is [length, 2 bytes][bytes].  A
// decoded message is read as every kind; its checksum is mended first, so that
// what lies behind it is reached.

#include <cstring>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/protocol/wire.h"
#include "libcore/io/digest.h"

namespace {

using namespace dl::cluster;

template <typename T>
void read_as(const Message& message) {
  try {
    // An accepted message can be sent on.
    T::from_message(T::from_message(message).to_message());
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kProtocol) __builtin_trap();
  }
}

template <typename... T>
void read_as_each(const Message& message) {
  (read_as<T>(message), ...);
}

// As a receiver takes it: nothing but errors of the protocol.
void decode_as(std::span<const Frame> frames, const Expected& expected) {
  try {
    const Received received = decode(frames, expected);
    check_sender(received.message.type, expected.from);
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kProtocol) __builtin_trap();
  }
}

// Both sides, before Welcome, when no sizes are known, and after.
void decode_as_each(std::span<const Frame> frames) {
  Sizes sizes;
  sizes.parameters = 1000;
  sizes.statistics = sizes.updater_state = 10;
  sizes.shards = 4;
  sizes.load = sizes.evaluations = 1000;
  for (const unsigned from :
       {kFromMaster, kFromWorker, kFromChild, kFromParent})
    for (const Sizes& known : {Sizes{}, sizes})
      decode_as(frames, {.from = from, .sizes = known});
}

void mend(std::vector<std::vector<std::byte>>& frames) {
  if (frames.empty() || frames[0].size() < kHeaderBytes) return;
  dl::io::Digest digest;
  Frame header = frames[0];
  digest.add(header.first(kHeaderBytes - 8));
  digest.add(header.subspan(kHeaderBytes));
  for (std::size_t i = 1; i < frames.size(); ++i) digest.add(frames[i]);
  std::uint64_t value = digest.value();
  std::memcpy(frames[0].data() + kHeaderBytes - 8, &value, sizeof value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  std::vector<std::vector<std::byte>> frames;
  while (size >= 2) {
    std::size_t length =
        std::min<std::size_t>(data[0] | data[1] << 8, size - 2);
    const auto* bytes = reinterpret_cast<const std::byte*>(data + 2);
    frames.emplace_back(bytes, bytes + length);
    data += 2 + length;
    size -= 2 + length;
  }
  mend(frames);
  std::vector<Frame> views(frames.begin(), frames.end());
  decode_as_each(views);
  try {
    Received received = decode(views, {.most = 1 << 20});
    read_as_each<Hello, Welcome, Refuse, Ready, State, Task, Result, Round,
                 Update, Apply, TaskDone, Stale, Fault, Beat, Fetch, Record,
                 Check, Digest, Statistics, Probe, Probed, Stop, Leave>(
        received.message);
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kProtocol) __builtin_trap();
  }
  return 0;
}
