// Messages as frames: header, checks, and cutting of long blobs.

#ifndef DL_LIBCORE_CLUSTER_WIRE_H_
#define DL_LIBCORE_CLUSTER_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/message.h"

namespace dl::cluster {

// Fields of the header that are not of the message itself.
struct Envelope {
  std::string run;  // 32 hex digits; "" before Welcome
  std::uint64_t worker = 0;
  std::uint64_t fence = 0;     // incarnation of the master in its run directory
  std::uint64_t sequence = 0;  // counts messages of this sender
  int protocol = kProtocolVersion;
};

using Frames = std::vector<std::vector<std::byte>>;

// The frames of a message, each at most max_frame bytes.
Frames encode(const Message& message, const Envelope& envelope,
              std::size_t max_frame);

struct Received {
  Envelope envelope;
  Message message;
};
// Throws Error: kProtocol, no magic ("foreign bytes"), another protocol
// version, a length or checksum that differs, more than max_bytes in all.
Received decode(std::span<const std::span<const std::byte>> frames,
                std::size_t max_bytes);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WIRE_H_
