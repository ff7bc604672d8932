// Files that were written once and must be read for ever.

#include <zstd.h>

#include <catch2/catch.hpp>
#include <cctype>
#include <fstream>
#include <sstream>

#include "libcore/data/format/shard.h"
#include "libcore/data/statistics/set_statistics.h"
#include "tests/unit/data/sample.h"

namespace dl::data::golden_test {

using sample::Bytes;
using sample::fault_of;

namespace {

const std::string kRoot = DL_SOURCE_DIR;
const std::string kFile = kRoot + "/tests/golden/dataset-1.0.dls";
const std::string kNewFile = kRoot + "/tests/golden/dataset-1.1.dls";
const std::string kRaggedFile = kRoot + "/tests/golden/dataset-1.2.dls";

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

// As tests/golden/dump prints it.
std::string dump(const std::string& bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    char field[32];
    std::snprintf(field, sizeof field, "%06zx ", at);
    std::string hex = field, text;
    for (std::size_t i = at; i < std::min(at + 16, bytes.size()); ++i) {
      const auto value = static_cast<unsigned char>(bytes[i]);
      std::snprintf(field, sizeof field, " %02x", value);
      hex += field;
      const bool shown =
          value >= 0x20 && value < 0x7f && value != '\\' && value != '`';
      text += shown ? static_cast<char>(value) : '.';
    }
    hex.resize(7 + 1 + 47, ' ');
    out += hex + "  |" + text + "|\n";
  }
  return out;
}

void check_contents(const DataSet& set, std::int64_t first) {
  const double values[] = {0,     0.89468473, 0.625,      1,  0.25980213,
                           0.375, 2,          0.55050313, 0.0};
  for (std::int64_t i = 0; i < 3 * set.examples(); ++i)
    CHECK(set.get("features").value(i) ==
          Approx(values[3 * first + i]).epsilon(1e-7));
  for (std::int64_t i = 0; i < set.examples(); ++i)
    CHECK(set.get("labels").value(i) == 2);
}

}  // namespace

TEST_CASE("the shard of version 1.0 is read") {
  const Shard shard(kFile);
  CHECK(shard.records() == std::vector<std::int64_t>{2, 1});
  CHECK(shard.metadata().classes ==
        std::vector<std::string>{"ant", "bee", "cat"});
  CHECK(shard.metadata().columns ==
        std::vector<std::string>{"number", "real", "eighths"});
  CHECK(shard.metadata().schema.at("labels").dtype == tensor::DType::kI32);
  check_contents(shard.read(0), 0);
  check_contents(shard.read(1), 2);
}

TEST_CASE("the shard of version 1.1 is read, with its set") {
  const Shard shard(kNewFile);
  CHECK(shard.metadata().place == SetPlace{"283b05cd77032169", "", 0, 1});
  REQUIRE(shard.metadata().statistics);
  CHECK(shard.metadata().statistics->examples == 3);
  check_contents(shard.read(0), 0);
  check_contents(shard.read(1), 2);
}

TEST_CASE("the stream of version 1.1 is read, and written the same") {
  const std::string golden = slurp(kNewFile);
  const auto span = std::as_bytes(std::span(golden));
  StreamReader in(io::memory_source(span));
  Bytes again;
  StreamWriter out(io::memory_sink(again));
  out.write_metadata(in.metadata());
  for (DataSet set; in.read(set);) out.write(set);
  out.close();
  // Other versions of zstd may pack otherwise.
  if (ZSTD_versionNumber() == 10504)
    CHECK(std::equal(again.begin(), again.end(), span.begin(), span.end()));
  else
    CHECK(sample::read(again).size() == 2);
}

TEST_CASE("the damaged files of version 1.0 are refused") {
  const std::string cut = kRoot + "/tests/golden/dataset-1.0-cut.dls";
  CHECK(sample::has(fault_of([&] { Shard shard(cut); }), "it was cut short"));
  const Shard flipped(kRoot + "/tests/golden/dataset-1.0-flipped.dls");
  CHECK(sample::has(fault_of([&] { flipped.read(0); }), ", record 0: "));
  check_contents(flipped.read(1), 2);
}

TEST_CASE("the ragged shard of version 1.2 is read, padded") {
  const Shard shard(kRaggedFile);
  CHECK(shard.records() == std::vector<std::int64_t>{3});
  const DataSet set = shard.read(0);
  const auto values = [&](const char* name) {
    std::string text;
    for (std::int64_t i = 0; i < set.get(name).elements(); ++i)
      text +=
          std::to_string(static_cast<int>(4 * set.get(name).value(i))) + " ";
    return text;
  };
  CHECK(values("features") ==
        "0 2 4 8 0 0 0 0 0 4 4 1 8 16 0 0 28 4 0 0 0 0 0 0 ");
  CHECK(values("features_mask") == "4 4 0 0 4 4 4 0 4 0 0 0 ");
  CHECK(values("labels") == "0 4 0 ");
}

TEST_CASE("the windows of version 1.3 are cut of a series") {
  const Shard shard(kRoot + "/tests/golden/dataset-1.3.dls");
  CHECK(shard.records() == std::vector<std::int64_t>{4});
  const DataSet set = shard.read(0);
  const auto text = [&](const char* name) {
    std::string all;
    for (const float value : set.get(name).as<float>())
      all += std::to_string(static_cast<int>(value)) + " ";
    return all;
  };
  CHECK(text("features") == "3 5 4 5 4 6 4 6 5 6 5 7 ");
  CHECK(text("labels") == "6 5 7 6 ");
  CHECK(set.tensors.size() == 2);
}

TEST_CASE("the pictures of version 1.2 are as their statistics say") {
  const Shard shard(kRoot + "/tests/golden/dataset-1.2-jpeg.dls");
  const DataSet set = shard.read(0);
  SetStatistics found;
  found.add(set);
  Metadata metadata = shard.metadata();
  found.put_into(metadata);
  CHECK(metadata.statistics == shard.metadata().statistics);
  CHECK(set.get("features").shape() == tensor::Shape{2, 8, 8, 3});
}

TEST_CASE("streams of versions 1.2 and 1.3 are written the same") {
  for (const char* name : {"1.2", "1.2-jpeg", "1.3"}) {
    const std::string golden =
        slurp(kRoot + "/tests/golden/dataset-" + name + ".dls");
    StreamReader in(io::memory_source(std::as_bytes(std::span(golden))),
                    Form::kStored);
    Bytes again;
    StreamWriter out(io::memory_sink(again));
    out.write_metadata(in.metadata());
    for (DataSet set; in.read(set);) out.write(set);
    out.close();
    if (ZSTD_versionNumber() == 10504)
      CHECK(std::ranges::equal(again, std::as_bytes(std::span(golden))));
    else
      CHECK(sample::read(again).size() == 1);
  }
}

TEST_CASE("the hex dumps in dl-dataset(5) are those of the golden files") {
  const std::string page = slurp(kRoot + "/man/dl-dataset.5.scd");
  for (const std::string& file : {kNewFile, kRaggedFile}) {
    const std::string want = "```\n" + dump(slurp(file)) + "```\n";
    INFO(want);
    CHECK(sample::has(page, want));
  }
}

}  // namespace dl::data::golden_test
