// Inputs that want more memory than they may have, or are of another kind.

#include <catch2/catch.hpp>

#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/schema.h"
#include "tests/unit/vectorize/reading.h"

namespace dl::vectorize::limits_test {

using namespace dl::test;
using tensor::DType;

TEST_CASE("a record holds as many examples as its limit takes") {
  Schema schema;
  schema["features"] = {DType::kF32, {1 << 18}};  // 1 MiB
  CHECK(record_examples(8, schema) == 8);
  CHECK(record_examples(1'000'000'000'000, schema) == 128);
  schema["labels"] = {DType::kU8, {}};
  CHECK(record_examples(1000, schema) == 127);
  schema["features"] = {DType::kU8, {256, 1 << 20, 1}};
  CHECK_THAT(complaint([&] { record_examples(1, schema); }),
             Catch::Contains("is over 128 MiB"));
  schema["features"] = {DType::kU8, {(1 << 18) + 1}};
  CHECK_THAT(complaint([&] { record_examples(1, schema); }),
             Catch::Contains("more than 262144 columns"));
}

TEST_CASE("a row has at most so many columns") {
  Files files;
  const auto rows = [&](std::int64_t delimiters) {
    InputBlock block;
    block.name = "x";
    block.bytes = std::string(static_cast<std::size_t>(delimiters), ',') + "\n";
    CsvRows reader(block, ',');
    reader.next();
    return std::ssize(std::vector<int>(reader.size()));
  };
  CHECK(rows(kMaxColumns - 1) == kMaxColumns);
  CHECK_THAT(complaint([&] { rows(kMaxColumns); }),
             Catch::Contains("line 1: has more than 262144 columns"));
}

TEST_CASE("readers refuse examples that are too large before they read them") {
  Files files;
  BadRecords bad(0);
  SvmlightOptions svmlight;
  svmlight.features = 1'000'000'000'000;
  const std::string path = files.write("x", "1 1:1\n");
  CHECK_THAT(complaint([&] { open_svmlight({path}, {}, svmlight, bad); }),
             Catch::Contains("more than 262144 columns"));
  CsvOptions csv;
  csv.label = "none";
  csv.sequence = "1";
  csv.steps = kMaxColumns;
  std::string wide = "p";
  for (int i = 0; i < 300; ++i) wide += ",1";
  CHECK_THAT(
      complaint([&] { open_csv({files.write("w", wide)}, {}, csv, bad); }),
      Catch::Contains("is over 128 MiB"));
  ReaderOptions batch;
  batch.batch = 1'000'000'000'000;
  svmlight.features = 2;
  CHECK(drain(*open_svmlight({path}, batch, svmlight, bad)).examples() == 1);
}

TEST_CASE("inputs of another kind are called by their name") {
  Files files;
  BadRecords bad(0);
  const auto said = [&](const std::string& text) {
    const std::string path = files.write("x", text);
    CsvOptions csv;
    csv.label = "none";
    return complaint([&] { open_csv({path}, {}, csv, bad); });
  };
  CHECK_THAT(said("\xfd"
                  "7zXZ and more"),
             Catch::Contains("x' is xz data: read 'pipe:xz -dc /") &&
                 Catch::EndsWith("x'"));
  CHECK_THAT(said("BZh91AY"), Catch::Contains("read 'pipe:bzip2 -dc "));
  CHECK_THAT(said("PK\x03\x04"),
             Catch::Contains("is in it, by 'pipe:unzip -p "));
  CHECK_THAT(said("PAR1\x15\x04"),
             Catch::EndsWith("is a Parquet file: write it as CSV first, see "
                             "OTHER FORMATS in dl-preprocess(1)"));
  CHECK_THAT(
      said("\x89PNG\r\n"),
      Catch::Contains("is a PNG image: dl-preprocess images reads pictures"));
  const std::string size("\x40\0\0\0\0\0\0\0", 8);
  CHECK_THAT(said(size + "{\"__metadata__\":{\"format\":\"dl-dataset\""),
             Catch::Contains("is a DataSet stream already: dl-shard reads it"));
  CHECK_THAT(said(size + "{\"__metadata__\":{\"format\":\"dl-model\""),
             Catch::Contains("is a model of dl-tools, no data: dl-infer and"));
  CHECK_THAT(
      said(size + "{\"weight\":{\"dtype\":\"F32\""),
      Catch::EndsWith("is a safetensors file; no format here reads one"));
}

TEST_CASE("idx: labels and images that changed places") {
  Files files;
  const std::string images = files.write(
      "i", idx({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, "abcd"));
  const std::string labels =
      files.write("l", idx({0, 0, 8, 1, 0, 0, 0, 2}, "\x01\x02"));
  BadRecords bad(0);
  CHECK_THAT(complaint([&] {
               open_idx({labels, images}, true, {}, bad);
             }),
             Catch::Contains("i': has examples of [1, 2] as labels; features "
                             "come first"));
}

TEST_CASE("idx, svmlight and cifar number what may be left out") {
  Files files;
  BadRecords bad(9);
  ReaderOptions options;
  options.classes = "2";
  options.batch = 2;
  const std::string images =
      files.write("i", idx({0, 0, 8, 1, 0, 0, 0, 4}, "abcd"));
  const std::string labels = files.write(
      "l", idx({0, 0, 8, 1, 0, 0, 0, 4}, std::string("\1\7\1\0", 4)));
  CHECK(values(drain(*open_idx({images, labels, images, labels}, true, options,
                               bad))
                   .get("index")) == std::vector<double>{0, 2, 3, 4, 6, 7});
  SvmlightOptions svmlight;
  svmlight.features = 1;
  CHECK(values(drain(*open_svmlight({files.write("s", "1 1:1\n# x\nx\n0\n")},
                                    options, svmlight, bad))
                   .get("index")) == std::vector<double>{0, 2});
  std::string one(3073, '\1'), bad_one(3073, '\x20');
  CHECK(values(
            drain(*open_cifar({files.write("c", bad_one + one)}, "10", {}, bad))
                .get("index")) == std::vector<double>{1});
}

}  // namespace dl::vectorize::limits_test
