// zstd frames, unpacking of raw files, digests.

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/io/decompress.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/memory.h"
#include "libcore/io/zstd.h"
#include "tests/unit/scratch.h"

namespace dl::io::frames_test {

using Bytes = std::vector<std::byte>;

namespace {

Bytes bytes_of(std::string_view text) {
  const auto span = std::as_bytes(std::span(text.data(), text.size()));
  return {span.begin(), span.end()};
}

Bytes random_bytes(std::size_t n) {
  Philox random(1, n);
  Bytes out(n);
  for (std::byte& b : out) b = static_cast<std::byte>(random() & 15);
  return out;
}

std::string damage_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.code() == Code::kData);
    return e.what();
  }
  return "nothing was thrown";
}

// Output of `command` for `input`.
Bytes through(const std::string& command, const Bytes& input) {
  Scratch scratch;
  scratch.write("in",
                {reinterpret_cast<const char*>(input.data()), input.size()});
  auto source = open_source("pipe:" + command + " <'" + (scratch / "in") + "'");
  return bytes_of(read_all(*source, 1 << 26));
}

std::string unpack(const Bytes& packed) {
  auto source = decompress(memory_source(packed, "'x'"));
  return read_all(*source, 1 << 26);
}

}  // namespace

TEST_CASE("frames of any size come back, with their places") {
  FrameCompressor compressor;
  Bytes stream;
  std::vector<Bytes> contents;
  for (std::size_t n : {0, 1, 100, 131072, 1000000, 20000000})
    contents.push_back(random_bytes(n));
  std::vector<std::uint64_t> offsets;
  for (const Bytes& content : contents) {
    offsets.push_back(stream.size());
    const Bytes frame = compressor.compress(content);
    CHECK(decompress_frame(frame, 1 << 26) == content);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  FrameReader reader(memory_source(stream), 1 << 26);
  Frame frame;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    REQUIRE(reader.next(frame));
    CHECK(frame.content == contents[i]);
    CHECK(frame.offset == offsets[i]);
    CHECK_FALSE(frame.skippable);
  }
  CHECK_FALSE(reader.next(frame));
}

TEST_CASE("the zstd program reads our frames and we read its") {
  const Bytes content = random_bytes(300000);
  CHECK(through("zstd -dc", FrameCompressor().compress(content)) == content);
  // From a pipe it does not state the content size.
  const Bytes unsized = through("cat | zstd -c --no-check", content);
  FrameReader reader(memory_source(unsized), 1 << 20);
  Frame frame;
  REQUIRE(reader.next(frame));
  CHECK(frame.content == content);
  CHECK(decompress_frame(unsized, 1 << 20) == content);
  const auto small = [&] { decompress_frame(unsized, 299999); };
  CHECK(damage_of(small).find("more than the limit") != std::string::npos);
}

TEST_CASE("noise is passed through, and nothing is searched in it") {
  std::mt19937 random(1);
  Bytes noise(1 << 20);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  const Bytes text = random_bytes(1 << 20);
  FrameCompressor compressor;
  const Bytes before = compressor.compress(text);
  CHECK(before.size() < text.size() * 6 / 10);
  Bytes twice = noise;
  twice.insert(twice.end(), noise.begin(), noise.end());
  const Bytes frame = compressor.compress(twice);
  CHECK(frame.size() > twice.size());
  CHECK(frame.size() < twice.size() + 200);
  CHECK(decompress_frame(frame, 1 << 26) == twice);
  // It does not change how the next frame is compressed.
  CHECK(compressor.compress(text) == before);
}

TEST_CASE("a bomb is refused by its size, stated or not") {
  const Bytes zeros(std::size_t{1} << 24);
  const Bytes bomb = FrameCompressor().compress(zeros);
  CHECK(bomb.size() < 4096);
  const std::string said =
      "the frame unpacks to 16777216 bytes, more than the limit of 1000";
  CHECK(damage_of([&] { decompress_frame(bomb, 1000); }) == said);
  FrameReader reader(memory_source(bomb), 1000);
  Frame frame;
  CHECK(damage_of([&] { reader.next(frame); }) == said);
  CHECK(frame.content.capacity() < 1000);
  // A header that claims more than its blocks can hold takes no memory.
  Bytes liar = FrameCompressor().compress(bytes_of("tiny"));
  Bytes header = {liar[0], liar[1], liar[2], liar[3], std::byte{0xe4}};
  for (int i = 0; i < 8; ++i) header.push_back(std::byte(i == 4 ? 1 : 0));
  header.insert(header.end(), liar.begin() + 6, liar.end());
  CHECK(damage_of([&] { decompress_frame(header, UINT64_MAX); }) !=
        "nothing was thrown");
}

TEST_CASE("every cut and every flipped bit of a frame is noticed") {
  const Bytes frame = FrameCompressor().compress(random_bytes(500));
  Frame out;
  for (std::size_t n = 1; n < frame.size(); ++n) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<long>(n));
    FrameReader reader(memory_source(cut), 1 << 20);
    REQUIRE(damage_of([&] { reader.next(out); }) != "nothing was thrown");
    REQUIRE(damage_of([&] { decompress_frame(cut, 1 << 20); }) !=
            "nothing was thrown");
  }
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    Bytes flipped = frame;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    // The reserved bit of the header is all that zstd itself lets pass.
    try {
      if (decompress_frame(flipped, 1 << 20) != random_bytes(500))
        FAIL("bit " << bit << " went unnoticed");
    } catch (const Error& e) {
      REQUIRE(e.code() == Code::kData);
    }
  }
}

TEST_CASE("what is no frame is described") {
  FrameReader reader(
      memory_source(bytes_of("version https://git-lfs.github.co")), 1000);
  Frame frame;
  CHECK(damage_of([&] { reader.next(frame); }) ==
        "no zstd frame but a git-LFS pointer (run: git lfs pull)");
  CHECK(looks_like(bytes_of("a,b\n1,2\n")) == "text (starts with 'a,b')");
  CHECK(no_stream_but(bytes_of("a,b\n1,2\n")) ==
        "text (starts with 'a,b'): dl-preprocess makes one of raw data");
  CHECK(no_stream_but(bytes_of("\x1f\x8b")) ==
        "gzip data: read 'pipe:gzip -dc FILE'");
  CHECK(looks_like(bytes_of("\x1f\x8b")) == "gzip data");
  CHECK(looks_like({}) == "nothing");
  CHECK(looks_like(bytes_of("\x01\x02\x03\x04\x05")) ==
        "unknown data (starts with 01 02 03 04)");
}

TEST_CASE("the kind of a file is not guessed of data that look alike") {
  const auto what = [](const std::string& text) {
    return file_kind(bytes_of(text)).what;
  };
  CHECK(what("PAR1,ID3,RIFF\n1,2,3\n") == FileClass::kUnknown);
  CHECK(what("{a},b\n") == FileClass::kUnknown);
  CHECK(what("[1,2]\n") == FileClass::kUnknown);
  CHECK(what("\xef\xbb\xbf {\n\"a\": 1}") == FileClass::kJson);
  CHECK(what("[[1,2],[3,4]]") == FileClass::kJson);
  // An image of CIFAR's class 8 is no ONNX, whatever its first pixels.
  std::string image(3073, '\0');
  image[0] = 8;
  image[1] = 7;
  for (const char pixel : {'\x12', '\x3a', '\x1a', '\x22'}) {
    image[2] = pixel;
    CHECK(what(image) == FileClass::kUnknown);
  }
  CHECK(what(std::string("\x08\x07\x12\x07pytorch\x1a\x05"
                         "2.1.0:")) == FileClass::kModel);
  CHECK(what(std::string("\x08\x07\x3a\xae\x2b\x0a\x4d", 7) +
             std::string(16, 'x')) == FileClass::kModel);
  for (const std::size_t size : {0, 1, 2, 8, 9, 10, 31, 260})
    for (const char* start : {"PK\3\4", "RIFF", "\x08\x07\x3a", "\x08\x07\x12"})
      file_kind(bytes_of((start + std::string(300, '\xff')).substr(0, size)));
}

TEST_CASE("raw files are unpacked by magic number") {
  const Bytes content = random_bytes(400000);
  const std::string text(reinterpret_cast<const char*>(content.data()),
                         content.size());
  CHECK(unpack(content) == text);
  CHECK(unpack({}) == "");
  CHECK(unpack(bytes_of("ab")) == "ab");
  for (const char* command : {"gzip -c", "zstd -c", "zstd -c --no-check"}) {
    Bytes packed = through(command, content);
    CHECK(unpack(packed) == text);
    const Bytes cut(packed.begin(), packed.end() - 5);
    CHECK(damage_of([&] { unpack(cut); }).find("'x' is cut short") == 0);
    packed.insert(packed.end(), packed.begin(), packed.end());
    CHECK(unpack(packed) == text + text);
  }
  Bytes padded = through("gzip -c", bytes_of("abc"));
  padded.resize(padded.size() + 512);
  CHECK(unpack(padded) == "abc");
  padded.back() = std::byte{1};
  CHECK(damage_of([&] { unpack(padded); }).find("after its gzip data") !=
        std::string::npos);
  Bytes damaged = through("gzip -c", content);
  damaged[damaged.size() - 6] ^= std::byte{1};
  CHECK(damage_of([&] { unpack(damaged); }).find("is damaged") !=
        std::string::npos);
}

TEST_CASE("a digest of pieces is the digest of the whole") {
  const Bytes content = random_bytes(1000);
  Digest pieces;
  for (std::size_t i = 0; i < 1000; i += 100)
    pieces.add(std::span(content).subspan(i, 100));
  CHECK(pieces.value() == digest(content));
  // From the xxHash specification's own test of the empty input.
  CHECK(hex(digest({})) == "2d06800538d394c2");
}

}  // namespace dl::io::frames_test
