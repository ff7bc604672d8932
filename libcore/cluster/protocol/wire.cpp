// Header and frames; dl-protocol(7) has the table of fields.

#include "libcore/cluster/protocol/wire.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "libcore/io/digest.h"
#include "libcore/io/hex.h"

namespace dl::cluster {
namespace {

constexpr std::array<std::byte, 4> kMagic = {std::byte{'D'}, std::byte{'L'},
                                             std::byte{'T'}, std::byte{0x9d}};

// Where the fields are.
enum Offset : std::size_t {
  kVersion = 4,
  kType = 6,
  kRun = 8,
  kFence = 24,
  kWorker = 32,
  kSequence = 40,
  kParts = 48,
  kPiece = 52,
  kTotal = 56,
  kFeed = 64,
  kChecksum = 72,
};
// A refusal of version 0: magic, version, code, length, text.
constexpr std::size_t kRefusalBytes = 12;
constexpr std::size_t kRunBytes = 16;
constexpr std::size_t kSmallestFrame = 4096;  // a header with all part lengths

template <typename T>
void put(std::vector<std::byte>& out, std::size_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof value);
}

template <typename T>
T get(Frame in, std::size_t offset) {
  T value;
  std::memcpy(&value, in.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error{Code::kProtocol, what};
}

void put_run(std::vector<std::byte>& header, const std::string& run) {
  if (run.empty()) return;
  const auto bytes = io::parse_hex_bytes(run);
  require(bytes && bytes->size() == kRunBytes, "run id of 32 digits");
  std::ranges::copy(*bytes, header.begin() + kRun);
}

std::string get_run(Frame header) {
  const Frame run = header.subspan(kRun, kRunBytes);
  const bool any =
      std::ranges::any_of(run, [](std::byte b) { return b != std::byte{0}; });
  return any ? io::hex(run) : "";
}

// Checksum over the header without its own field, the lengths of the parts, the
// parts.
std::uint64_t checksum(Frame header, std::span<const Frame> parts) {
  io::Digest digest;
  digest.add(header.first(kChecksum));
  digest.add(header.subspan(kHeaderBytes));
  for (Frame part : parts) digest.add(part);
  return digest.value();
}

Received decode_refusal(std::span<const Frame> frames) {
  Frame frame = frames[0];
  if (frames.size() != 1 || frame.size() < kRefusalBytes ||
      frame.size() - kRefusalBytes != get<std::uint32_t>(frame, 8))
    fail("damaged refusal");
  const char* text = reinterpret_cast<const char*>(frame.data());
  Received received;
  received.envelope.protocol = 0;
  received.message =
      Refuse{get<std::uint16_t>(frame, 6),
             {text + kRefusalBytes, frame.size() - kRefusalBytes}}
          .to_message();
  Refuse::from_message(received.message);  // checks the code
  return received;
}

struct FrameLengths {
  std::size_t piece = 0;
  std::vector<std::uint64_t> lengths;  // of body and blobs
};

// The lengths, after checking that they agree with each other and with the
// limits; nothing is allocated on their word before that.
FrameLengths read_lengths(Frame header) {
  std::uint64_t parts = get<std::uint32_t>(header, kParts);
  if (parts < 1 || parts > 1 + kMaxBlobs) fail("damaged header: parts");
  if (header.size() != kHeaderBytes + 8 * parts)
    fail("damaged header: want " + std::to_string(kHeaderBytes + 8 * parts) +
         " bytes, got " + std::to_string(header.size()));
  FrameLengths plan;
  plan.piece = get<std::uint32_t>(header, kPiece);
  if (plan.piece < kSmallestFrame) fail("damaged header: piece");
  std::uint64_t total = get<std::uint64_t>(header, kTotal), sum = 0;
  for (std::uint64_t i = 0; i < parts; ++i) {
    auto length = get<std::uint64_t>(header, kHeaderBytes + 8 * i);
    if (length > total - sum) fail("damaged header: lengths");
    sum += length;
    plan.lengths.push_back(length);
  }
  if (sum != total) fail("damaged header: lengths");
  return plan;
}

// Checks that the frames are cut as the plan says.
void check_cut(const FrameLengths& plan, std::span<const Frame> frames) {
  std::size_t at = 0;
  for (std::uint64_t length : plan.lengths)
    while (length > 0) {
      auto want = std::min<std::uint64_t>(length, plan.piece);
      if (at == frames.size()) fail("message cut short");
      if (frames[at].size() != want)
        fail("frame of " + std::to_string(frames[at].size()) +
             " bytes where the header announces " + std::to_string(want));
      ++at;
      length -= want;
    }
  if (at != frames.size()) fail("more frames than the header announces");
}

Lengths lengths_of(const Message& message, std::uint64_t body) {
  Lengths lengths{body, {}};
  for (const auto& blob : message.blobs) lengths.blobs.push_back(blob.size());
  return lengths;
}

}  // namespace

Frames encode(const Message& message, const Envelope& envelope,
              std::size_t max_frame, const Expected& sent) {
  auto [frames, blobs] = encode_in_place(message, envelope, max_frame, sent);
  frames.reserve(frames.size() + blobs.size());
  for (const Frame blob : blobs) frames.emplace_back(blob.begin(), blob.end());
  return std::move(frames);
}

Encoded encode_in_place(const Message& message, const Envelope& envelope,
                        std::size_t max_frame, const Expected& sent) {
  require(max_frame >= kSmallestFrame, "max_frame");
  std::vector<std::uint8_t> packed = Json::to_msgpack(message.body);
  if (sent.from != kAnybody)
    check_sent(message.type, lengths_of(message, packed.size()),
               count_values(message.body), sent);
  require(packed.size() <= kMaxBody, "message body within its limit");
  require(message.blobs.size() <= kMaxBlobs, "number of blobs");
  std::vector<Frame> parts = {std::as_bytes(std::span(packed))};
  parts.insert(parts.end(), message.blobs.begin(), message.blobs.end());

  std::uint64_t total = 0;
  std::size_t piece = std::min<std::size_t>(max_frame, UINT32_MAX);
  Encoded encoded{Frames(1), {}};
  std::vector<std::byte> header(kHeaderBytes + 8 * parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put<std::uint64_t>(header, kHeaderBytes + 8 * i, parts[i].size());
    total += parts[i].size();
    for (std::size_t at = 0; at < parts[i].size(); at += piece) {
      Frame cut = parts[i].subspan(at, std::min(piece, parts[i].size() - at));
      if (i == 0)
        encoded.own.emplace_back(cut.begin(), cut.end());
      else
        encoded.blobs.push_back(cut);
    }
  }
  std::copy(kMagic.begin(), kMagic.end(), header.begin());
  put(header, kVersion, static_cast<std::uint16_t>(envelope.protocol));
  put(header, kType, static_cast<std::uint16_t>(message.type));
  put_run(header, envelope.run);
  put(header, kFence, envelope.fence);
  put(header, kWorker, envelope.worker);
  put(header, kSequence, envelope.sequence);
  put(header, kFeed, envelope.feed);
  put(header, kParts, static_cast<std::uint32_t>(parts.size()));
  put(header, kPiece, static_cast<std::uint32_t>(piece));
  put(header, kTotal, total);
  put(header, kChecksum, checksum(header, parts));
  encoded.own[0] = std::move(header);
  return encoded;
}

Frames encode_refusal(const Refuse& refuse) {
  // Through to_message(), which makes the text printable.
  auto text = refuse.to_message().body["reason"].get<std::string>();
  std::vector<std::byte> frame(kRefusalBytes);
  std::copy(kMagic.begin(), kMagic.end(), frame.begin());
  put<std::uint16_t>(frame, kVersion, 0);
  put(frame, 6, static_cast<std::uint16_t>(refuse.code));
  put(frame, 8, static_cast<std::uint32_t>(text.size()));
  Frame bytes = std::as_bytes(std::span(text));
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return {std::move(frame)};
}

int protocol_of(Frame first) {
  if (first.size() < kType ||
      !std::equal(kMagic.begin(), kMagic.end(), first.begin()))
    return -1;
  return get<std::uint16_t>(first, kVersion);
}

Received decode_header(Frame header) {
  if (header.size() < kHeaderBytes) fail("header cut short");
  Received received;
  received.envelope = {get_run(header),
                       get<std::uint64_t>(header, kWorker),
                       get<std::uint64_t>(header, kFence),
                       get<std::uint64_t>(header, kSequence),
                       get<std::uint64_t>(header, kFeed),
                       protocol_of(header)};
  received.message.type =
      static_cast<MessageType>(get<std::uint16_t>(header, kType));
  return received;
}

Received decode(std::span<const Frame> frames, const Expected& expected,
                const std::function<void(std::size_t)>& done) {
  int protocol = frames.empty() ? -1 : protocol_of(frames[0]);
  if (protocol < 0) fail("foreign bytes");
  if (protocol == 0) return decode_refusal(frames);
  if (protocol != kProtocolVersion)
    fail("protocol " + std::to_string(protocol) + ", this is " +
         std::to_string(kProtocolVersion));
  Frame header = frames[0];
  Received received = decode_header(header);
  const MessageType type = received.message.type;
  FrameLengths plan = read_lengths(header);
  check_lengths(
      type, {plan.lengths[0], {plan.lengths.begin() + 1, plan.lengths.end()}},
      expected);
  std::span<const Frame> pieces = frames.subspan(1);
  check_cut(plan, pieces);
  if (checksum(header, pieces) != get<std::uint64_t>(header, kChecksum))
    fail("checksum of a message differs");

  std::vector<std::vector<std::byte>> parts;
  std::size_t at = 0;
  for (std::uint64_t length : plan.lengths) {
    std::vector<std::byte>& part = parts.emplace_back();
    part.reserve(length);
    for (; part.size() < length; ++at) {
      part.insert(part.end(), pieces[at].begin(), pieces[at].end());
      if (done) done(at + 1);
    }
  }
  received.message.body =
      parse_msgpack(parts[0], std::string(name_of(type)), most_values(type));
  received.message.blobs.assign(std::make_move_iterator(parts.begin() + 1),
                                std::make_move_iterator(parts.end()));
  return received;
}

}  // namespace dl::cluster
