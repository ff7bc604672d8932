// The header and the frames: round trips, damage at every byte, and versions.

#include "libcore/cluster/protocol/wire.h"

#include <catch2/catch.hpp>

#include "libcore/base/philox.h"

namespace dl::cluster::wire_test {

using Catch::Contains;

namespace {

constexpr std::size_t kLimit = 1 << 20;
const std::string kRun = "000102030405060708090a0b0c0d0eff";

Received decode_all(const Frames& frames, std::size_t limit = kLimit) {
  std::vector<Frame> views(frames.begin(), frames.end());
  return decode(views, {.most = limit});
}

std::string error_of(const Frames& frames, std::size_t limit = kLimit) {
  try {
    decode_all(frames, limit);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kProtocol);
    return error.what();
  }
  return "";
}

Message sample(std::vector<std::size_t> sizes) {
  Message message{MessageType::kState, {{"version", 7}}, {}};
  for (std::size_t size : sizes) {
    std::vector<std::byte>& blob = message.blobs.emplace_back(size);
    for (std::size_t i = 0; i < size; ++i)
      blob[i] = static_cast<std::byte>(i * 31 + size + message.blobs.size());
  }
  return message;
}

}  // namespace

TEST_CASE("a message comes back with its envelope") {
  Envelope envelope{kRun, 5, 2, 99, 7, kProtocolVersion};
  Message message = sample({0, 3, 4096, 4097, 10'000, 0});
  Frames frames = encode(message, envelope, 4096);
  // header, body, 1 + 1 + 2 + 3 pieces; empty blobs have none
  REQUIRE(frames.size() == 9);
  for (const auto& frame : frames) CHECK(frame.size() <= 4096);
  Received received = decode_all(frames);
  CHECK(received.envelope.run == kRun);
  CHECK(received.envelope.worker == 5);
  CHECK(received.envelope.fence == 2);
  CHECK(received.envelope.sequence == 99);
  CHECK(received.envelope.feed == 7);
  CHECK(received.message.type == MessageType::kState);
  CHECK(received.message.body == message.body);
  CHECK(received.message.blobs == message.blobs);
  CHECK(decode_all(encode(message, {}, kLimit)).envelope.run.empty());
}

TEST_CASE("a flipped bit anywhere is noticed") {
  Frames frames = encode(sample({5, 4100}), {kRun, 1, 1, 1}, 4096);
  for (std::size_t f = 0; f < frames.size(); ++f)
    for (std::size_t i = 0; i < frames[f].size(); ++i) {
      frames[f][i] ^= std::byte{0x10};
      INFO("frame " << f << ", byte " << i);
      REQUIRE_FALSE(error_of(frames).empty());
      frames[f][i] ^= std::byte{0x10};
    }
  CHECK(error_of(frames).empty());
}

TEST_CASE("frames missing, added, cut or out of order are noticed") {
  Frames good = encode(sample({4096, 4096, 9}), {}, 4096);
  for (std::size_t f = 0; f < good.size(); ++f) {
    Frames bad = good;
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(f));
    CHECK_FALSE(error_of(bad).empty());
    bad = good;
    bad[f].pop_back();
    CHECK_FALSE(error_of(bad).empty());
    bad = good;
    bad.push_back(good[f]);
    CHECK_FALSE(error_of(bad).empty());
  }
  Frames swapped = good;
  std::swap(swapped[2], swapped[3]);
  CHECK_THAT(error_of(swapped), Contains("checksum"));
  CHECK(error_of({}) == "foreign bytes");
  CHECK(error_of({{}}) == "foreign bytes");
}

TEST_CASE("lengths are checked before anything is allocated") {
  Frames frames = encode(sample({100}), {}, 4096);
  CHECK_THAT(error_of(frames, 50), Contains("> limit 50"));
  for (std::size_t i = 0; i < 8; ++i)  // the first part's length: 2^64 - 1
    frames[0][kHeaderBytes + i] = std::byte{0xff};
  CHECK_THAT(error_of(frames), Contains("lengths"));
  for (std::size_t i = 48; i < 52; ++i) frames[0][i] = std::byte{0xff};
  CHECK_THAT(error_of(frames), Contains("parts"));
}

TEST_CASE("versions are told from foreign bytes") {
  Envelope other;
  other.protocol = 3;
  Frames frames = encode(sample({}), other, 4096);
  CHECK(protocol_of(frames[0]) == 3);
  CHECK(error_of(frames) == "protocol 3, this is 2");
  const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  Frame text = std::as_bytes(std::span(http));
  CHECK(protocol_of(text) == -1);
  CHECK(error_of({{text.begin(), text.end()}}) == "foreign bytes");
}

TEST_CASE("a refusal is read without knowing the version") {
  Frames frames =
      encode_refusal({76, "worker speaks protocol 3, this master 1"});
  REQUIRE(frames.size() == 1);
  CHECK(protocol_of(frames[0]) == 0);
  Received received = decode_all(frames);
  CHECK(received.envelope.protocol == 0);
  Refuse refuse = Refuse::from_message(received.message);
  CHECK(refuse.code == 76);
  CHECK(refuse.reason == "worker speaks protocol 3, this master 1");
  frames[0].pop_back();
  CHECK(error_of(frames) == "damaged refusal");
}

TEST_CASE("a message of an unknown type, or a body that is none") {
  Message message = sample({});
  message.type = static_cast<MessageType>(999);
  CHECK_THAT(error_of(encode(message, {}, 4096)), Contains("unknown type"));
  CHECK_THROWS_AS(Refuse::from_message(sample({})), Error);
}

TEST_CASE("random bytes never pass and never crash") {
  Philox random(1, 0);
  Frames good = encode(sample({64, 5000}), {kRun, 1, 1, 1}, 4096);
  for (int round = 0; round < 20'000; ++round) {
    Frames frames = good;
    if (round % 2 == 0) {
      frames.resize(random.below(4));
      for (auto& frame : frames) {
        frame.resize(random.below(200));
        for (std::byte& b : frame) b = static_cast<std::byte>(random());
      }
    }
    for (int k = 0; k < 4 && !frames.empty(); ++k) {
      auto& frame = frames[random.below(frames.size())];
      if (!frame.empty())
        frame[random.below(frame.size())] = static_cast<std::byte>(random());
    }
    if (frames == good) continue;
    REQUIRE_FALSE(error_of(frames).empty());
  }
}

}  // namespace dl::cluster::wire_test
