// Helpers of both halves of message.h's implementation: reading a body with
// its limits, and vectors as blobs.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_FIELDS_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

constexpr std::int64_t kMaxInteger = INT64_MAX;

// The body of `message`, which must be of the type, have exactly the keys and
// the number of blobs.  Throws Error: kProtocol.
JsonView open_body(const Message& message, MessageType type, std::size_t blobs,
                   std::initializer_list<std::string_view> keys);

// An integer >= 0.
std::int64_t count_of(const JsonView& body, std::string_view key);
std::uint64_t number_of(const JsonView& body, std::string_view key);
// The same of a message, without looking at its vectors.
std::uint64_t number_of(const Message& message, std::string_view key);
// Index of a shard or a record.
std::uint32_t index_of(const JsonView& body, std::string_view key);
// At most `longest` bytes without control characters: it may reach a terminal.
std::string text_of(const JsonView& body, std::string_view key,
                    std::size_t longest);
// The same for a sender: control characters replaced, the rest cut off.
std::string printable(std::string text, std::size_t longest);

// The limits in "max_frame" and "max_message".
Takes takes_of(const JsonView& body);

// Where a worker listens for others, "tcp://ADDRESS:PORT", or "".
std::string endpoint_of(const JsonView& body, std::string_view key);

Json object_of(const JsonView& body, std::string_view key);

constexpr std::size_t kMaxReason = 4096, kMaxDoing = 1024, kMaxEndpoint = 512;

// 64 bits as 16 hexadecimal digits: JSON readers disagree on large integers.
Json hex_field(std::uint64_t value);
std::uint64_t hex_of(const JsonView& body, std::string_view key);

std::vector<std::byte> floats_to_blob(std::span<const float> values);
// Moves them, where a list in braces would copy.
template <typename... Blobs>
std::vector<std::vector<std::byte>> blobs_of(Blobs&&... each) {
  std::vector<std::vector<std::byte>> blobs;
  blobs.reserve(sizeof...(each));
  (blobs.push_back(std::forward<Blobs>(each)), ...);
  return blobs;
}
// Throws Error: kProtocol, the size is no multiple of 4.
std::vector<float> blob_to_floats(const Message& message, std::size_t index);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_FIELDS_H_
