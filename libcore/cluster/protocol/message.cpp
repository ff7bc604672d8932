// Names of messages, and the reading of their fields.

#include "libcore/cluster/protocol/message.h"

#include <bit>
#include <cstring>

#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/io/hex.h"

namespace dl::cluster {

static_assert(std::endian::native == std::endian::little,
              "blobs are little-endian and copied as they are");

std::string_view name_of(MessageType type) {
  static constexpr std::string_view kNames[] = {
      "",
#define DL_MESSAGE(name, ...) #name,
#include "libcore/cluster/protocol/messages.inc"
#undef DL_MESSAGE
  };
  const auto number = static_cast<std::size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "";
}

Taker taker_of(MessageType type) {
  static constexpr Taker kTakers[] = {
      Taker::kNone,
#define DL_MESSAGE(name, senders, taker, ...) Taker::taker,
#include "libcore/cluster/protocol/messages.inc"
#undef DL_MESSAGE
  };
  const auto number = static_cast<std::size_t>(type);
  return number < std::size(kTakers) ? kTakers[number] : Taker::kNone;
}

namespace {

// Near enough: allocations have a head, and nodes of maps have pointers.
std::size_t size_of(const Json& value) {
  constexpr std::size_t kNode = 64;
  std::size_t bytes = sizeof(Json);
  if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  if (value.is_object())
    for (const auto& [key, each] : value.items())
      bytes += kNode + key.size() + size_of(each);
  if (value.is_array())
    for (const Json& each : value) bytes += size_of(each);
  return bytes;
}

}  // namespace

std::size_t size_of(const Message& message) {
  std::size_t bytes = 256 + size_of(message.body);
  for (const auto& blob : message.blobs) bytes += blob.size();
  return bytes;
}

JsonView open_body(const Message& message, MessageType type, std::size_t blobs,
                   std::initializer_list<std::string_view> keys) {
  std::string name(name_of(type));
  if (message.type != type)
    throw Error{Code::kProtocol, "want a " + name + " message, got " +
                                     std::string(name_of(message.type))};
  if (message.blobs.size() != blobs)
    throw Error{Code::kProtocol, name + ": want " + std::to_string(blobs) +
                                     " blobs, got " +
                                     std::to_string(message.blobs.size())};
  JsonView body(message.body, Code::kProtocol, name);
  body.only(keys);
  return body;
}

std::int64_t count_of(const JsonView& body, std::string_view key) {
  return body.at(key).integer(0, kMaxInteger);
}

std::uint64_t number_of(const JsonView& body, std::string_view key) {
  return static_cast<std::uint64_t>(count_of(body, key));
}

std::uint64_t number_of(const Message& message, std::string_view key) {
  const std::string name(name_of(message.type));
  return number_of(JsonView(message.body, Code::kProtocol, name), key);
}

std::uint32_t index_of(const JsonView& body, std::string_view key) {
  return static_cast<std::uint32_t>(body.at(key).integer(0, UINT32_MAX));
}

std::string text_of(const JsonView& body, std::string_view key,
                    std::size_t longest) {
  JsonView field = body.at(key);
  std::string text = field.string();
  bool clean = text.size() <= longest;
  for (char c : text)
    clean = clean && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  if (!clean)
    field.fail("at most " + std::to_string(longest) +
               " bytes without control characters");
  return text;
}

Takes takes_of(const JsonView& body) {
  return {static_cast<std::uint64_t>(
              body.at("max_frame").integer(4096, UINT32_MAX)),
          static_cast<std::uint64_t>(
              body.at("max_message").integer(1, kMaxInteger))};
}

std::string endpoint_of(const JsonView& body, std::string_view key) {
  std::string endpoint = text_of(body, key, kMaxEndpoint);
  if (!endpoint.empty() && !tcp_address(endpoint))
    body.at(key).fail("tcp://ADDRESS:PORT");
  return endpoint;
}

std::string printable(std::string text, std::size_t longest) {
  if (text.size() > longest) text.resize(longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

Json object_of(const JsonView& body, std::string_view key) {
  JsonView field = body.at(key);
  if (!field.raw().is_object()) field.fail("an object");
  return field.raw();
}

Json hex_field(std::uint64_t value) { return io::hex(value); }

std::uint64_t hex_of(const JsonView& body, std::string_view key) {
  JsonView field = body.at(key);
  const auto value = io::parse_hex(field.string());
  if (!value) field.fail("16 hexadecimal digits");
  return *value;
}

std::vector<std::byte> floats_to_blob(std::span<const float> values) {
  auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<float> blob_to_floats(const Message& message, std::size_t index) {
  const std::vector<std::byte>& blob = message.blobs.at(index);
  if (blob.size() % sizeof(float) != 0)
    throw Error{Code::kProtocol, std::string(name_of(message.type)) +
                                     ": blob " + std::to_string(index) +
                                     " of " + std::to_string(blob.size()) +
                                     " bytes is no row of floats"};
  std::vector<float> values(blob.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), blob.data(), blob.size());
  return values;
}

}  // namespace dl::cluster
