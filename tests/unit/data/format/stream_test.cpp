// DataSet streams and shards: round trips, concatenation, and every damage.

#include "libcore/data/format/stream.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "libcore/data/format/end_mark.h"
#include "libcore/data/format/record.h"
#include "libcore/data/format/shard.h"
#include "libcore/io/decompress.h"
#include "libcore/io/digest.h"
#include "libcore/io/zstd.h"
#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::data::stream_test {

using sample::Bytes;
using sample::fault_of;
using sample::has;

namespace {

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("a stream gives back the records and the metadata") {
  Metadata m = sample::metadata();
  m.columns = {"a", "b", "c"};
  m.statistics = Statistics{};
  m.statistics->add(sample::set(4, 1).get("features"), nullptr);
  m.provenance = {{"dl-test", "1", {"--x", "\xff"}, UINT64_MAX}};
  const Bytes bytes = sample::stream({4, 1, 7}, 0, m);
  StreamReader reader(io::memory_source(bytes));
  CHECK(reader.metadata().schema == m.schema);
  CHECK(reader.metadata().classes == m.classes);
  CHECK(reader.metadata().statistics == m.statistics);
  CHECK(reader.metadata().provenance.at(0).seed == UINT64_MAX);
  const auto sets = sample::read(bytes);
  REQUIRE(sets.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(sample::same(sets[i], sample::set(sets[i].examples(), i + 1)));
  CHECK(bytes == sample::stream({4, 1, 7}, 0, m));
}

TEST_CASE("metadata may come again before the end") {
  Bytes bytes;
  StreamWriter writer(io::memory_sink(bytes));
  Metadata first = sample::metadata(), last = first;
  first.classes = {};
  writer.write_metadata(first);
  writer.write(sample::set(2, 1));
  writer.write_metadata(last);
  writer.close();
  StreamReader reader(io::memory_source(bytes));
  CHECK(reader.metadata().classes.empty());
  DataSet set;
  CHECK(reader.read(set));
  CHECK_FALSE(reader.read(set));
  CHECK(reader.metadata().classes == last.classes);
}

TEST_CASE("cut anywhere, a stream is an error") {
  const Bytes bytes = sample::stream({2, 3});
  Scratch scratch;
  scratch.write("cut", text_of(bytes));
  for (std::size_t n = bytes.size(); n-- > 0;) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<long>(n));
    REQUIRE(fault_of([&] { sample::read(cut); }) != "");
    std::filesystem::resize_file(scratch / "cut", n);
    REQUIRE(fault_of([&] { Shard shard(scratch / "cut"); }) != "");
  }
  const Bytes cut(bytes.begin(), bytes.end() - 4);
  const std::string said = " ends without an end mark; it was cut short";
  CHECK(fault_of([&] { sample::read(cut); }) == "'x'" + said);
  scratch.write("cut", text_of(cut));
  CHECK(fault_of([&] { Shard shard(scratch / "cut"); }) ==
        "'" + (scratch / "cut") + "'" + said);
  CHECK(has(fault_of([&] { sample::read({}); }), "'x' is empty"));
}

TEST_CASE("every flipped bit of a stream is noticed") {
  const Bytes bytes = sample::stream({2, 3});
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    INFO("bit " << bit);
    REQUIRE(fault_of([&] { sample::read(flipped); }) != "");
  }
}

TEST_CASE("a shard with a flipped bit is refused or gives the right data") {
  const Bytes bytes = sample::stream({2, 3});
  Scratch scratch;
  scratch.write("x", text_of(bytes));
  // Changed in place: to write the file anew each time takes a minute.
  std::fstream file(scratch / "x", std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, std::byte value) {
    file.seekp(static_cast<long>(at));
    file.put(static_cast<char>(value)).flush();
  };
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    if (bit > 0) put((bit - 1) / 8, bytes[(bit - 1) / 8]);
    put(bit / 8, bytes[bit / 8] ^ std::byte(1 << bit % 8));
    INFO("bit " << bit);
    bool right = false;
    const std::string error = fault_of([&] {
      Shard shard(scratch / "x");
      right = shard.records() == std::vector<std::int64_t>{2, 3} &&
              sample::same(shard.read(0), sample::set(2, 1)) &&
              sample::same(shard.read(1), sample::set(3, 2));
    });
    INFO(error);
    REQUIRE_FALSE(error.starts_with("other"));
    REQUIRE((right || error != ""));
  }
}

TEST_CASE("streams concatenate, and the result is a shard") {
  Metadata a = sample::metadata(), b = a;
  a.statistics = Statistics{};
  a.statistics->add(sample::set(2, 1).get("features"), nullptr);
  b.statistics = Statistics{};
  b.statistics->add(sample::set(3, 11).get("features"), nullptr);
  a.provenance = {{"one", "1", {}, std::nullopt}};
  b.provenance = {{"one", "1", {}, std::nullopt}, {"two", "1", {}, 7}};
  const Bytes both =
      joined(sample::stream({2}, 0, a), sample::stream({3, 1}, 10, b));
  const auto sets = sample::read(both);
  REQUIRE(sets.size() == 3);
  CHECK(sample::same(sets[1], sample::set(3, 11)));

  Scratch scratch;
  scratch.write("both", text_of(both));
  const Shard shard(scratch / "both");
  CHECK(shard.records() == std::vector<std::int64_t>{2, 3, 1});
  CHECK(shard.examples() == 6);
  CHECK(sample::same(shard.read(2), sample::set(1, 12)));
  CHECK(shard.metadata().statistics->examples == 5);
  CHECK(shard.metadata().provenance == b.provenance);
  CHECK(
      has(fault_of([&] { sample::read(Bytes(both.begin(), both.end() - 1)); }),
          "cut short"));
}

TEST_CASE("streams that contradict each other do not concatenate") {
  Metadata other = sample::metadata();
  other.classes = {"dog", "cat"};
  const Bytes both = joined(sample::stream({1}), sample::stream({1}, 0, other));
  CHECK(has(fault_of([&] { sample::read(both); }),
            "a later stream has classes 'dog', "
            "'cat'; an earlier one has 'cat'"
            ", 'dog'"));
}

TEST_CASE("a shard that is overwritten in place under its reader is refused") {
  Scratch scratch;
  const std::string before = text_of(sample::stream({4, 5, 6}));
  scratch.write("s", before);
  const Shard shard(scratch / "s");
  const auto later = [&](int seconds) {
    std::filesystem::last_write_time(
        scratch / "s", std::filesystem::file_time_type::clock::now() +
                           std::chrono::seconds(seconds));
  };
  // Records of the same sizes, each of them sound.
  scratch.write("s", text_of(sample::stream({4, 5, 6}, 7)));
  later(10);
  CHECK(has(fault_of([&] { shard.read(0); }),
            "was written to while it was read"));
  scratch.write("s", before);
  later(20);
  CHECK(sample::same(shard.read(0), sample::set(4, 1)));
}

TEST_CASE("a shard reads any record and ships it packed") {
  Scratch scratch;
  scratch.write("s", text_of(sample::stream({4, 5, 6})));
  Shard shard(scratch / "s");
  for (const std::size_t i : {2, 0, 1}) {
    const auto n = static_cast<std::int64_t>(i) + 4;
    CHECK(sample::same(shard.read(i), sample::set(n, i + 1)));
    CHECK(sample::same(unpack_record(shard.read_packed(i), {}, "r"),
                       sample::set(n, i + 1)));
  }
  scratch.write("t", text_of(sample::stream({4, 5, 6}, 1)));
  CHECK(shard.digest() != Shard(scratch / "t").digest());
  Bytes packed = shard.read_packed(0);
  packed.back() ^= std::byte{1};
  CHECK(fault_of([&] { unpack_record(packed, {}, "r 0"); }) ==
        "r 0: checksum differs");
  CHECK(fault_of([&] { Shard("no/such"); }, Code::kNoInput) ==
        "cannot open 'no/such': No such file or directory");
  CHECK(has(fault_of([&] { Shard("/dev/null"); }, Code::kNoInput),
            "no regular file"));
}

TEST_CASE("what is no stream at all is described") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n";
  const auto span = std::as_bytes(std::span(pointer));
  CHECK(fault_of([&] {
          sample::read({span.begin(), span.end()});
        }) ==
        "'x' is no DataSet stream but a git-LFS pointer (run: git lfs pull)");
  Scratch scratch;
  scratch.write("p", pointer);
  CHECK(has(fault_of([&] { Shard s(scratch / "p"); }),
            "is no DataSet stream but a git-LFS pointer"));
  scratch.write("p", "");
  CHECK(has(fault_of([&] { Shard s(scratch / "p"); }), "is empty"));
  // A zstd file of something else.
  const Bytes other = io::FrameCompressor().compress(span);
  CHECK(has(fault_of([&] { sample::read(other); }),
            "'x' is no DataSet stream: "));
}

TEST_CASE("a later major version is refused with a sentence") {
  Bytes blob;
  auto text = sample::metadata().to_strings();
  text["version"] = "2.0";
  encode_record(text, {}, blob);
  const Bytes frame = io::FrameCompressor().compress(blob);
  CHECK(fault_of([&] { sample::read(frame); }) ==
        "'x', metadata: format version 2.0; this program reads up to version "
        "1");
  // A later minor version may add keys.
  text["version"] = "1.9";
  text["colour"] = "blue";
  CHECK(Metadata::from_strings(text).classes.size() == 2);
}

TEST_CASE("data that do not fit the metadata are refused on both sides") {
  Bytes bytes;
  StreamWriter writer(io::memory_sink(bytes, "'out'"));
  writer.write_metadata(sample::metadata());
  DataSet bad = sample::set(2, 1);
  bad.tensors.at("labels").as<std::int32_t>()[1] = 2;
  CHECK(fault_of([&] { writer.write(bad); }) ==
        "'out': example 1: 'labels' is 2, want 0..1");
  bad.tensors.erase("labels");
  CHECK(fault_of([&] { writer.write(bad); }) ==
        "'out': tensor 'labels' is missing");
  CHECK(fault_of([&] { writer.write(DataSet{}); }) ==
        "'out': there is no example");
  bad = sample::set(2, 1);
  bad.tensors.at("features").reshape({2, 3, 1});
  CHECK(has(fault_of([&] { writer.write(bad); }), "the schema says F32[3]"));
  bad = sample::set(2, 1);
  bad.tensors.emplace("weights", tensor::Tensor(tensor::DType::kF32, {2}));
  CHECK(has(fault_of([&] { writer.write(bad); }), "not in the schema"));
  bad = sample::set(2, 1);
  bad.tensors.at("labels") = tensor::Tensor(tensor::DType::kI32, {3});
  CHECK(has(fault_of([&] { writer.write(bad); }), "has 3 examples"));
}

TEST_CASE("metadata with wrong names are refused") {
  const auto reading = [](const Metadata& m) {
    return fault_of(
        [&] { Metadata().update(Metadata::from_strings(m.to_strings())); });
  };
  Metadata m = sample::metadata();
  CHECK(reading(m).empty());
  m.classes = {"cat", "dog", "cat"};
  CHECK(reading(m) == "two classes are called 'cat'");
  m = sample::metadata();
  m.columns = {"a", "b"};
  CHECK(reading(m) ==
        "'features' has 3 columns, but there are 2 names of them");
  m.columns = {"a", "b", "b"};  // a table may have them
  CHECK(reading(m).empty());
}

TEST_CASE("a record over the limit is refused") {
  const Bytes bytes = sample::stream({1000});
  StreamReader fits(io::memory_source(bytes), Form::kDecoded, 20000);
  CHECK(has(fault_of([&] {
              StreamReader small(io::memory_source(bytes, "'x'"),
                                 Form::kDecoded, 10000);
            }),
            "'x', record 0: the frame unpacks to"));
}

TEST_CASE("an end mark comes back, and one of a later version is refused") {
  EndMark mark{100, 7, {{0, 0}, {40, 5}}};
  Bytes frame = encode_mark(mark);
  std::uint64_t digest = 0;
  CHECK(decode_mark(frame, digest) == mark);
  CHECK(mark_length(std::span(frame).last(kMarkTail)) == frame.size());
  frame[16] = std::byte{2};
  CHECK(has(fault_of([&] { decode_mark(frame, digest); }), "version 2"));
  for (const EndMark& impossible :
       {EndMark{100, 7, {}}, EndMark{100, 7, {{0, 1}}},
        EndMark{100, 7, {{1, 0}}}, EndMark{100, 7, {{0, 0}, {100, 1}}},
        EndMark{100, 7, {{0, 0}, {50, 1}, {50, 1}}},
        EndMark{100, 7, {{0, 0}, {50, UINT64_MAX}}}})
    CHECK(has(fault_of([&] { decode_mark(encode_mark(impossible), digest); }),
              "end mark: "));
}

namespace {

// A file that is mostly a hole, and ends with a mark that claims `mark` bytes
// for itself.
void write_hole(const std::string& path, std::uint64_t size,
                std::uint64_t mark) {
  std::ofstream out(path, std::ios::binary);
  out.seekp(static_cast<std::streamoff>(size - kMarkTail));
  out.write(reinterpret_cast<const char*>(&mark), sizeof mark);
  out << "DLS-END\n";
}

}  // namespace

TEST_CASE("no memory is taken on the word of an end mark") {
  Scratch scratch;
  const std::string path = scratch / "x.dls";
  write_hole(path, std::uint64_t{1} << 42, std::uint64_t{1} << 41);
  CHECK(
      has(fault_of([&] { Shard shard(path); }), "more than a record may have"));

  // 2^30 examples of 16 bytes in one record of some hundred bytes.
  const Bytes honest = sample::stream({4});
  std::uint64_t ignored = 0;
  const std::size_t length = mark_length(std::span(honest).last(kMarkTail));
  EndMark mark = decode_mark(std::span(honest).last(length), ignored);
  mark.records[1].examples = std::uint64_t{1} << 30;
  Bytes bytes(honest.begin(), honest.end() - static_cast<long>(length));
  const Bytes lie = encode_mark(mark);
  bytes.insert(bytes.end(), lie.begin(), lie.end());
  scratch.write("x.dls",
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CHECK(has(fault_of([&] { Shard shard(path); }),
            "record 0: the end mark says 1073741824 examples, but a record has "
            "at most 67108864"));
}

TEST_CASE("a small frame does not become a large header in memory") {
  // 60 MB of "[]," unpack from 6 kB, and were 1.6 GB as a document.
  std::string header = R"({"a":[[])";
  for (int i = 0; i < 20'000'000; ++i) header += ",[]";
  header += "]}";
  const std::uint64_t length = header.size();
  Bytes blob(8);
  std::memcpy(blob.data(), &length, 8);
  const auto text = std::as_bytes(std::span(header));
  blob.insert(blob.end(), text.begin(), text.end());
  const Bytes frame = io::FrameCompressor().compress(blob);
  CHECK(frame.size() < 10000);
  CHECK(has(fault_of([&] { sample::read(frame); }), "values"));
}

TEST_CASE("a schema of examples that no record can hold is refused") {
  auto text = sample::metadata().to_strings();
  text["schema"] =
      R"({"features":{"dtype":"F64","shape":[2305843009213693952]}})";
  CHECK(has(fault_of([&] { Metadata::from_strings(text); }),
            "an example, more than the 1073741824 bytes of a record"));
}

TEST_CASE("the zstd program accepts a stream") {
  Scratch scratch;
  scratch.write("s.zst", text_of(sample::stream({2, 3})));
  const std::string path = "'" + (scratch / "s.zst") + "'";
  auto test = io::open_source("pipe:zstd -qt " + path + " 2>&1");
  CHECK(io::read_all(*test, 1000) == "");
  test->close();
  auto unpacked = io::open_source("pipe:zstd -qdc " + path);
  CHECK(has(io::read_all(*unpacked, 100000), "__metadata__"));
  unpacked->close();
}

}  // namespace dl::data::stream_test
