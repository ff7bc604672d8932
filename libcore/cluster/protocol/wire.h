// Messages as frames: header, checks, and cutting of long parts.
//
// A message is a header frame and then its parts, the MessagePack body and
// the raw blobs, each cut into frames of at most max_frame bytes.  The layout
// is in dl-protocol(7).  Magic and version stand first and never move, so
// that a peer of another version is told from foreign bytes; and one message,
// the refusal of version 0, is the same in every version.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_WIRE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/message_limits.h"

namespace dl::cluster {

constexpr std::size_t kHeaderBytes = 80;
constexpr std::size_t kMaxBlobs = 256;

// Fields of the header that are not of the message itself.
struct Envelope {
  std::string run;  // run id, 32 hex digits; "" before Welcome
  std::uint64_t worker = 0;
  std::uint64_t fence = 0;     // incarnation of the master in its run directory
  std::uint64_t sequence = 0;  // number among messages of this sender
  // feed.h: the message's number in it, or 0; of a State, what it includes.
  std::uint64_t feed = 0;
  int protocol = kProtocolVersion;
};

using Frame = std::span<const std::byte>;
using Frames = std::vector<std::vector<std::byte>>;

// The frames of a message, each at most max_frame bytes (at least 4096).
// sent: what it may be, for its receiver takes no more; without it, anything.
// Throws Error: as check_sent(); kBug, a body over kMaxBody or more than
// kMaxBlobs blobs.
Frames encode(const Message& message, const Envelope& envelope,
              std::size_t max_frame, const Expected& sent = {});

// A message as frames whose blobs lie in the message, cut.
struct Encoded {
  Frames own;  // frames of header and body
  std::vector<Frame> blobs;
};
Encoded encode_in_place(const Message& message, const Envelope& envelope,
                        std::size_t max_frame, const Expected& sent);

// A Refuse that every version of the protocol reads (version 0; one frame).
Frames encode_refusal(const Refuse& refuse);

struct Received {
  Envelope envelope;
  Message message;
};
// A refusal of version 0 gives a Refuse message and envelope.protocol 0.
// Throws Error: kProtocol, no magic ("foreign bytes"), another protocol
// version, a length or checksum that differs, or what is not expected; the
// header alone tells the latter.
// done(i) is called when frame i is not needed any more.
Received decode(std::span<const Frame> frames, const Expected& expected,
                const std::function<void(std::size_t)>& done = nullptr);
// Reads the envelope and the type alone, and looks at nothing else.
Received decode_header(Frame header);

// The protocol version that a first frame claims; -1 for foreign bytes.
int protocol_of(Frame first);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_WIRE_H_
