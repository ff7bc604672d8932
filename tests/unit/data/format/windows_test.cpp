// Windows of a series: stored once, cut alike wherever they are read.

#include "libcore/data/format/windows.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "libcore/data/format/decode.h"
#include "libcore/data/format/record.h"
#include "libcore/data/format/shard.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/rows.h"
#include "tests/unit/data/sample.h"

namespace dl::data::windows_test {
namespace {

using sample::Bytes;
using sample::fault_of;
using sample::has;
using tensor::DType;

// Windows of 4 rows of 2 columns: features are rows 0..2, labels row 3 of
// column 1.
std::map<std::string, Field> schema() {
  std::map<std::string, Field> all;
  all["series"] = {DType::kF32, {4, 2}, Encoding::kSeries};
  all["features"] = {DType::kF32, {3, 2}, Encoding::kWindow, {0, {0, 1}}};
  all["labels"] = {DType::kF32, {1}, Encoding::kWindow, {3, {1}}};
  return all;
}

// Row i is i, 100 + i.
Encoded series_of(std::int64_t rows) {
  Encoded series = encoded_like(schema().at("series"));
  for (std::int64_t i = 0; i < rows; ++i)
    for (const std::int64_t value : {i, 100 + i}) {
      const auto stored = static_cast<float>(value);
      const auto bytes = std::as_bytes(std::span(&stored, 1));
      series.bytes.insert(series.bytes.end(), bytes.begin(), bytes.end());
    }
  return series;
}

DataSet set_of(Encoded series) {
  DataSet set;
  set.encoded.emplace("series", std::move(series));
  add_views(set, schema());
  cut_windows(set, kMaxRecordBytes);
  return set;
}

Bytes stream_of(const DataSet& set) {
  Bytes bytes;
  StreamWriter writer(io::memory_sink(bytes));
  Metadata metadata;
  metadata.schema = schema();
  writer.write_metadata(metadata);
  writer.write(set);
  writer.close();
  return bytes;
}

std::vector<float> numbers(const DataSet& set, const char* name) {
  const auto values = set.get(name).as<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("windows are cut where a stream is read") {
  Encoded series = series_of(10);
  series.add_run(0, 3, 2);
  series.add_run(6, 1, 1);
  const DataSet set = set_of(series);
  CHECK(set.examples() == 3);
  const Bytes bytes = stream_of(set);
  const auto read = sample::read(bytes);
  REQUIRE(read.size() == 1);
  CHECK(read[0].tensors.size() == 2);
  CHECK(numbers(read[0], "features") ==
        std::vector<float>{0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105, 6,
                           106, 7, 107, 8, 108});
  CHECK(numbers(read[0], "labels") == std::vector<float>{103, 106, 109});
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  StreamReader in(io::memory_source(bytes), Form::kStored);
  CHECK(in.metadata().to_strings().at("version") == "1.3");
  CHECK(in.metadata().schema == schema());
}

TEST_CASE("windows that are appended share their rows again") {
  Encoded series = series_of(12);
  series.add_run(0, 1, 9);
  Encoded again = encoded_like(schema().at("series"));
  for (std::int64_t i = 0; i < 9; ++i) again.append(series.example(i));
  CHECK(again.bytes == series.bytes);
  CHECK(again.runs.size() == 1);
  // With other steps, and from other places: the windows are the same.
  Encoded mixed = encoded_like(schema().at("series"));
  const std::vector<std::int64_t> order = {0, 2, 4, 7, 8, 3, 3, 0, 1};
  for (const std::int64_t i : order) mixed.append(series.example(i));
  REQUIRE(mixed.examples() == std::ssize(order));
  for (std::size_t k = 0; k < order.size(); ++k)
    CHECK(std::ranges::equal(mixed.example(static_cast<std::int64_t>(k)),
                             series.example(order[k])));
  CHECK(mixed.bytes.size() < 9 * 4 * series.value_bytes());
  const Encoded part = mixed.slice(3, 6);
  CHECK(std::ranges::equal(part.example(2), series.example(3)));
}

TEST_CASE("windows are cut as they are copied into a mini-batch") {
  Encoded series = series_of(10);
  series.add_run(0, 1, 7);
  const DataSet whole = set_of(series);
  DataSet rows = whole;
  rows.tensors.clear();  // as a worker keeps them
  DataSet batch;
  make_like(batch, rows, 3);
  CHECK(batch.examples() == 3);
  const std::vector<std::uint32_t> wanted = {5, 0, 6};
  copy_examples(batch, 0, rows, wanted);
  DataSet want = make_like(whole, 3);
  copy_examples(want, 0, whole, wanted);
  CHECK(sample::same(batch, want));
  CHECK(numbers(batch, "labels") == std::vector<float>{108, 103, 109});
}

TEST_CASE("rows of a spool give the windows back") {
  Encoded series = series_of(8);
  series.add_run(1, 2, 2);
  const DataSet set = set_of(series);
  DataSet again = make_set(schema(), 2);
  std::vector<std::byte> row;
  for (std::int64_t i = 0; i < 2; ++i) {
    get_row(set, schema(), i, row);
    put_row(again, schema(), i, row);
  }
  add_decoded(again, schema());
  CHECK(sample::same(again, set));
  CHECK(row_bytes(schema()) == 7 * sizeof(float));
}

TEST_CASE("a class is a whole number of the series") {
  auto classes = schema();
  classes["labels"] = {DType::kI32, {}, Encoding::kWindow, {2, {0}}};
  const auto cut = [&](float value) {
    Encoded series = series_of(4);
    std::memcpy(series.bytes.data() + 2 * series.value_bytes(), &value,
                sizeof value);
    series.add_run(0, 1, 1);
    DataSet set;
    set.encoded.emplace("series", series);
    add_views(set, classes);
    cut_windows(set, kMaxRecordBytes);
    return set.get("labels").as<std::int32_t>()[0];
  };
  CHECK(cut(7) == 7);
  CHECK(has(fault_of([&] { cut(0.5F); }), "no class number"));
  CHECK(has(fault_of([&] { cut(-1); }), "no class number"));
  CHECK(has(fault_of([&] { cut(std::nanf("")); }), "no class number"));
}

TEST_CASE("damaged windows are refused") {
  const auto decoded = [](const std::vector<std::int64_t>& runs,
                          std::int64_t rows = 10) {
    DataSet set;
    tensor::Tensor values(DType::kF32, {rows, 2});
    tensor::Tensor places(DType::kI64, {std::ssize(runs) / 3, 3});
    std::ranges::copy(runs, places.as<std::int64_t>().begin());
    set.tensors.emplace("series", std::move(values));
    set.tensors.emplace("series.windows", std::move(places));
    decode(set, schema());
    return set.examples();
  };
  CHECK(decoded({0, 1, 7}) == 7);
  for (const std::vector<std::int64_t>& runs :
       {std::vector<std::int64_t>{0, 1, 8},
        {-1, 1, 1},
        {0, 0, 1},
        {0, 1, 0},
        {7, 1, 1},
        {0, INT64_MAX, 2},
        {INT64_MAX, 1, 1},
        {0, 1, INT64_MAX},
        {0, 1, 7, 3, 4, 2}})
    CHECK(has(fault_of([&] { decoded(runs); }), "do not lie within the 10"));
  CHECK(has(fault_of([&] { decoded({0, 1, 1}, 3); }), "do not lie within"));
  DataSet none;
  CHECK(has(fault_of([&] { decode(none, schema()); }), "is missing"));
}

TEST_CASE("a schema of windows is checked") {
  const auto fault = [](const auto& change) {
    auto wrong = schema();
    change(wrong);
    Json json = schema_to_json(wrong);
    return fault_of(
        [&] { schema_from_json(JsonView(json, Code::kData, "schema")); });
  };
  CHECK(fault([](auto&) {}).empty());
  CHECK(has(fault([](auto& s) { s.erase("series"); }), "there is no series"));
  CHECK(has(fault([](auto& s) {
              s.erase("features");
              s.erase("labels");
            }),
            "no tensor is of its windows"));
  CHECK(has(fault([](auto& s) { s["labels"].window.columns = {2}; }),
            "column 2 of a series of 2"));
  CHECK(has(fault([](auto& s) { s["labels"].window.first = 4; }),
            "other rows than the 4"));
  CHECK(has(fault([](auto& s) { s["labels"].window.columns = {}; }),
            "other rows than the 4"));
  CHECK(has(fault([](auto& s) { s["labels"].dtype = DType::kF64; }),
            "another type than the series"));
  CHECK(has(fault([](auto& s) { s["series"].dtype = DType::kI32; }),
            "want a series"));
  CHECK(has(fault([](auto& s) { s["features"].encoding = Encoding::kSeries; }),
            "want a series"));
}

}  // namespace dl::data::windows_test
