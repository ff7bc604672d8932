// Readers: what they give, and the sentence they end with.

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/vectorize/reading.h"

namespace dl::vectorize::readers_test {

using namespace dl::test;
using tensor::DType;
using tensor::Shape;

TEST_CASE("idx: images get a channel, labels stay bytes") {
  test::Files files;
  std::string images = files.write(
      "i", idx({0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2}, "abcdef"));
  std::string labels =
      files.write("l", idx({0, 0, 8, 1, 0, 0, 0, 3}, "\x01\x02\x01"));
  BadRecords bad(0);
  ReaderOptions options;
  options.batch = 2;
  auto reader = open_idx({images, labels}, true, options, bad);
  data::DataSet set = drain(*reader);
  CHECK(set.get("features").shape() == Shape{3, 1, 2, 1});
  CHECK(set.get("features").dtype() == DType::kU8);
  CHECK(values(set.get("labels")) == std::vector<double>{1, 2, 1});
  CHECK(reader->metadata().classes == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("idx: numbers are big-endian") {
  test::Files files;
  std::string numbers =
      files.write("n", idx({0, 0, 0x0c, 1, 0, 0, 0, 2},
                           std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  BadRecords bad(0);
  auto reader = open_idx({numbers}, false, {}, bad);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("features")) == std::vector<double>{258, -2});
}

TEST_CASE("idx: lies about sizes are found") {
  test::Files files;
  BadRecords bad(0);
  auto read = [&](const std::string& text) {
    std::string path = files.write("x", text);
    auto reader = open_idx({path}, false, {}, bad);
    drain(*reader);
  };
  CHECK_THAT(complaint([&] { read("GIF99a"); }),
             Catch::Contains("is no IDX file"));
  CHECK_THAT(complaint([&] { read(""); }), Catch::EndsWith("': is empty"));
  CHECK_THAT(complaint([&] {
               read(idx({0, 0, 8, 2, 0, 0}, ""));
             }),
             Catch::Contains("cut short"));
  CHECK_THAT(complaint([&] {
               read(idx({0, 0, 8, 1, 0, 0, 0, 9}, "abc"));
             }),
             Catch::Contains("cut short"));
  CHECK_THAT(complaint([&] {
               read(idx({0, 0, 8, 1, 0, 0, 0, 2}, "abc"));
             }),
             Catch::Contains("has data after its 2 examples"));
  CHECK_THAT(complaint([&] {
               read(idx({0, 0, 0x0e, 3, 0, 0, 0, 1, 127, 255, 255, 255, 127,
                         255, 255, 255},
                        ""));
             }),
             Catch::Contains("is over 128 MiB"));
}

TEST_CASE("idx: a label out of range is a bad record") {
  test::Files files;
  std::string images = files.write("i", idx({0, 0, 8, 1, 0, 0, 0, 3}, "abc"));
  std::string labels =
      files.write("l", idx({0, 0, 8, 1, 0, 0, 0, 3}, "\x01\x0b\x02"));
  ReaderOptions options;
  options.classes = "10";
  BadRecords none(0);
  CHECK_THAT(complaint([&] {
               drain(*open_idx({images, labels}, true, options, none));
             }),
             Catch::Contains("l', label 2: want one of 10 classes ('0' to "
                             "'9'), got '11'"));
  BadRecords one(1);
  auto reader = open_idx({images, labels}, true, options, one);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("labels")) == std::vector<double>{1, 2});
  CHECK(values(set.get("features")) == std::vector<double>{'a', 'c'});
  CHECK(one.count() == 1);
}

TEST_CASE("csv: header, classes in order of appearance, quoted names") {
  test::Files files;
  std::string path =
      files.write("x.csv", "a,\"the class\",b\n1,x,2.5\n3,y,-4e-1\n5,x,6\n");
  CsvOptions csv;
  csv.header = true;
  csv.label = "the class";
  BadRecords bad(0);
  auto reader = open_csv({path}, {}, csv, bad);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("features")) ==
        std::vector<double>{1, 2.5, 3, -0.4000000059604645, 5, 6});
  CHECK(values(set.get("labels")) == std::vector<double>{0, 1, 0});
  CHECK(reader->metadata().classes == std::vector<std::string>{"x", "y"});
  CHECK(reader->metadata().columns == std::vector<std::string>{"a", "b"});
}

TEST_CASE("csv: regression with several targets, shape and dtype") {
  test::Files files;
  std::string path = files.write("x.csv", "1,2,3,4,0.5,7\n5,6,7,8,1.5,8\n");
  CsvOptions csv;
  csv.label = "-2,-1";
  ReaderOptions options;
  options.regression = true;
  options.shape = "2,2,1";
  options.dtype = "u8";
  BadRecords bad(0);
  auto reader = open_csv({path}, options, csv, bad);
  data::DataSet set = drain(*reader);
  CHECK(set.get("features").shape() == Shape{2, 2, 2, 1});
  CHECK(set.get("features").dtype() == DType::kU8);
  CHECK(values(set.get("labels")) == std::vector<double>{0.5, 7, 1.5, 8});
}

// They were rounded to F32 whatever --dtype said.
TEST_CASE("numbers to be predicted are stored as exactly as features") {
  test::Files files;
  const std::vector<double> exact = {0.1, 16777217};
  BadRecords bad(0);
  CsvOptions csv;
  csv.label = "-1";
  SvmlightOptions svmlight;
  svmlight.features = 1;
  ReaderOptions options;
  options.regression = true;
  const std::string table = files.write("x.csv", "1,0.1\n2,16777217\n");
  const std::string sparse = files.write("x.svm", "0.1 1:1\n16777217 1:2\n");
  for (const char* dtype : {"f64", "i32", "i64", "f32", "u8", ""}) {
    options.dtype = dtype;
    auto csv_reader = open_csv({table}, options, csv, bad);
    auto svm_reader = open_svmlight({sparse}, options, svmlight, bad);
    const std::string type = dtype;
    for (Reader* reader : {csv_reader.get(), svm_reader.get()}) {
      const data::DataSet set = drain(*reader);
      const bool wide = type == "f64" || type == "i32" || type == "i64";
      CHECK(set.get("labels").dtype() == (wide ? DType::kF64 : DType::kF32));
      CHECK(reader->metadata().schema == data::Metadata::schema_of(set));
      CHECK((values(set.get("labels")) == exact) == wide);
    }
  }
  // IDX: I32 labels of 16777217 and 3.
  options.dtype = "";
  const std::string x = files.write("x", idx({0, 0, 8, 1, 0, 0, 0, 2}, "ab"));
  const std::string y = files.write(
      "y", idx({0, 0, 12, 1, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 3}, ""));
  auto reader = open_idx({x, y}, true, options, bad);
  CHECK(values(drain(*reader).get("labels")) ==
        std::vector<double>{16777217, 3});
}

TEST_CASE("csv: mistakes are named by line and column") {
  test::Files files;
  auto read = [&](const std::string& text, CsvOptions csv,
                  ReaderOptions options = {}) {
    csv.label = csv.label.empty() ? "-1" : csv.label;
    BadRecords bad(0);
    drain(*open_csv({files.write("x.csv", text)}, options, csv, bad));
  };
  CHECK_THAT(
      complaint([&] { read("1,2,a\n1,q,a\n", {}); }),
      Catch::Contains("x.csv', line 2, column 2: want a number, got 'q'"));
  CHECK_THAT(
      complaint([&] { read("1,-inf,a\n", {}); }),
      Catch::Contains("line 1, column 2: want a finite number, got '-inf'"));
  CHECK_THAT(complaint([&] { read("1,2,a\n1,a\n", {}); }),
             Catch::Contains("line 2: has 2 columns, want 3"));
  CHECK_THAT(complaint([&] { read("1,,a\n", {}); }),
             Catch::Contains("line 1, column 2: a value is missing"));
  CHECK_THAT(complaint([&] { read("1e99,2,a\n", {}); }),
             Catch::Contains("'1e99' does not fit F32"));
  CsvOptions header;
  header.header = true;
  header.label = "specis";
  CHECK_THAT(complaint([&] { read("a,species\n1,x\n", header); }, Code::kUsage),
             Catch::Contains("did you mean 'species'?"));
  ReaderOptions fixed;
  fixed.classes = "a,b";
  CHECK_THAT(complaint([&] { read("1,c\n", {}, fixed); }),
             Catch::Contains("want one of 2 classes ('a' to 'b'), got 'c'"));
}

TEST_CASE("csv: missing values fail, skip or fill") {
  test::Files files;
  std::string path = files.write("x.csv", "1,2,a\nNA,3,a\n4,5,b\n");
  CsvOptions csv;
  csv.label = "3";
  csv.missing = "skip";
  BadRecords bad(0);
  CHECK(values(drain(*open_csv({path}, {}, csv, bad)).get("features")) ==
        std::vector<double>{1, 2, 4, 5});
  CHECK(bad.skipped() == 1);
  csv.missing = "fill:-1";
  CHECK(values(drain(*open_csv({path}, {}, csv, bad)).get("features")) ==
        std::vector<double>{1, 2, -1, 3, 4, 5});
  CHECK(bad.filled() == 1);
  BadRecords some(1);  // a row that is left out counts for nothing
  drain(
      *open_csv({files.write("y.csv", "1,,a\n,x,a\n4,5,b\n")}, {}, csv, some));
  CHECK(some.filled() == 1);
  csv.missing = "drop";
  CHECK_THAT(complaint([&] { open_csv({path}, {}, csv, bad); }, Code::kUsage),
             Catch::StartsWith("--missing: want"));
}

TEST_CASE("svmlight: sparse lines become rows") {
  test::Files files;
  std::string path =
      files.write("x.svm", "# head\n+1 qid:3 1:0.5 3:2 # tail\n\n-1 2:1\n");
  SvmlightOptions options;
  options.features = 3;
  BadRecords bad(0);
  auto reader = open_svmlight({path}, {}, options, bad);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("features")) == std::vector<double>{0.5, 0, 2, 0, 1, 0});
  CHECK(values(set.get("labels")) == std::vector<double>{0, 1});
  CHECK(reader->metadata().classes == std::vector<std::string>{"1", "-1"});
}

TEST_CASE("svmlight: a number is one class, however it is written") {
  test::Files files;
  SvmlightOptions options;
  options.features = 1;
  BadRecords bad(0);
  const std::string path = files.write(
      "x.svm",
      "\xEF\xBB\xBF"
      "1 1:1\n1.0 1:1\n+1 1:1\n1e0 1:1\n01 1:1\n-1.0 1:1\n-0 1:1\n.50 1:1\n"
      "0.5 1:1\nx 1:1\n9007199254740993 1:1\n9007199254740992 1:1\n");
  auto reader = open_svmlight({path}, {}, options, bad);
  CHECK(values(drain(*reader).get("labels")) ==
        std::vector<double>{0, 0, 0, 0, 0, 1, 2, 3, 3, 4, 5, 6});
  CHECK(reader->metadata().classes ==
        std::vector<std::string>{"1", "-1", "0", "0.5", "x", "9007199254740993",
                                 "9007199254740992"});
  ReaderOptions common;
  common.classes = "+1,-1.0";
  reader = open_svmlight({files.write("y", "1 1:1\n-1 1:1\n+1 1:1\n")}, common,
                         options, bad);
  CHECK(values(drain(*reader).get("labels")) == std::vector<double>{0, 1, 0});
}

TEST_CASE("svmlight: several labels are no class") {
  test::Files files;
  SvmlightOptions options;
  options.features = 1;
  BadRecords bad(0);
  const std::string path = files.write("x", "1 1:1\n1,3 1:1\n");
  CHECK_THAT(
      complaint([&] { drain(*open_svmlight({path}, {}, options, bad)); }),
      Catch::Contains("x', line 2: has several labels, '1,3' "
                      "(--multilabel, with --classes, reads them)"));
  ReaderOptions common;
  common.classes = R"(1,"1,3")";
  CHECK(values(drain(*open_svmlight({path}, common, options, bad))
                   .get("labels")) == std::vector<double>{0, 1});
}

TEST_CASE("svmlight: several labels, and mistakes") {
  test::Files files;
  SvmlightOptions options;
  options.features = 2;
  options.zero_based = true;
  options.multilabel = true;
  ReaderOptions common;
  common.classes = "3";
  BadRecords bad(0);
  auto reader = open_svmlight({files.write("m", "0,2 0:1\n1 1:1\n")}, common,
                              options, bad);
  CHECK(values(drain(*reader).get("labels")) ==
        std::vector<double>{1, 0, 1, 0, 1, 0});
  options.multilabel = false;
  auto read = [&](const std::string& text) {
    drain(*open_svmlight({files.write("x", text)}, common, options, bad));
  };
  CHECK_THAT(complaint([&] { read("1 2:1\n"); }),
             Catch::Contains("x', line 1: index 2 is outside --features 2"));
  CHECK_THAT(complaint([&] { read("1 1:1 0:1\n"); }),
             Catch::Contains("does not come after"));
  CHECK_THAT(complaint([&] { read("1 0:inf\n"); }),
             Catch::Contains("does not fit"));
  CHECK_THAT(complaint([&] { read("1 x\n"); }),
             Catch::Contains("want INDEX:VALUE"));
  CHECK_THAT(complaint([&] { read("7 0:1\n"); }), Catch::Contains("got '7'"));
}

TEST_CASE("svmlight: a line without a label is no class") {
  test::Files files;
  SvmlightOptions options;
  options.features = 3;
  BadRecords bad(0);
  CHECK_THAT(complaint([&] {
               drain(*open_svmlight({files.write("x", "1 1:1\n1:0.5 2:1\n")},
                                    {}, options, bad));
             }),
             Catch::Contains("line 2: begins with '1:0.5', want a label"));
  // As scikit-learn writes it: some lines begin with a space.
  options.multilabel = true;
  ReaderOptions common;
  common.classes = "2";
  auto reader = open_svmlight(
      {files.write("m", "0,1 1:1\n 2:1\n1 qid:1 3:1\n qid:2 1:2\n")}, common,
      options, bad);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("labels")) ==
        std::vector<double>{1, 1, 0, 0, 0, 1, 0, 0});
  CHECK(values(set.get("features")) ==
        std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0});
}

TEST_CASE("svmlight: many classes of numbers get a warning") {
  test::Files files;
  std::string text;
  for (int i = 0; i < 42; ++i) text += std::to_string(i / 2) + ".5 1:1\n";
  BadRecords bad(0);
  SvmlightOptions svmlight;
  svmlight.features = 1;
  ReaderOptions options;
  const std::string path = files.write("n", text);
  auto reader = open_svmlight({path}, options, svmlight, bad);
  drain(*reader);
  CHECK_THAT(reader->warning(), Catch::Contains("21 classes in 42 rows"));
  options.regression = true;
  reader = open_svmlight({path}, options, svmlight, bad);
  drain(*reader);
  CHECK(reader->warning().empty());
}

TEST_CASE("idx: a value that is not finite is named with its file") {
  test::Files files;
  const std::string nan("\x7f\xc0\0\0", 4), one("\x3f\x80\0\0", 4);
  const auto header = {0, 0, 0x0d, 2, 0, 0, 0, 2, 0, 0, 0, 2};
  const std::string three = one + one + one;
  const std::string bad_x = files.write("bad-x", idx(header, three + nan));
  const std::string x = files.write("x", idx(header, three + one));
  const std::string y =
      files.write("y", idx({0, 0, 0x0d, 1, 0, 0, 0, 2}, one + nan));
  BadRecords bad(0);
  CHECK_THAT(
      complaint([&] { drain(*open_idx({bad_x}, false, {}, bad)); }),
      Catch::EndsWith(
          "bad-x': example 1 has a value that is not finite, or beyond 1e140"));
  ReaderOptions options;
  options.regression = true;
  options.batch = 1;
  CHECK_THAT(
      complaint([&] {
        drain(*open_idx({x, y}, true, options, bad));
      }),
      Catch::EndsWith(
          "y': example 1 has a value that is not finite, or beyond 1e140"));
}

TEST_CASE("svmlight: the smallest index is outside, too") {
  test::Files files;
  SvmlightOptions options;
  options.features = 3;
  BadRecords bad(0);
  for (const char* index : {"-9223372036854775808", "9223372036854775807", "0"})
    CHECK_THAT(complaint([&] {
                 drain(*open_svmlight(
                     {files.write("x", "1 " + std::string(index) + ":1\n")}, {},
                     options, bad));
               }),
               Catch::Contains("is outside --features 3 (from 1)"));
}

TEST_CASE("cifar: planes become pixels") {
  test::Files files;
  std::string image(3073, '\0');
  image[0] = 3;
  image[1] = 10;                // red of the first pixel
  image[1 + 1024] = 20;         // green
  image[1 + 2048 + 1023] = 30;  // blue of the last
  BadRecords bad(0);
  auto reader = open_cifar({files.write("c", image + image)}, "10", {}, bad);
  data::DataSet set = drain(*reader);
  CHECK(set.get("features").shape() == Shape{2, 32, 32, 3});
  auto pixels = set.get("features").as<std::uint8_t>();
  CHECK(pixels[0] == 10);
  CHECK(pixels[1] == 20);
  CHECK(pixels[3071] == 30);
  CHECK(reader->metadata().classes[3] == "cat");
  image[0] = 10;
  CHECK_THAT(complaint([&] {
               drain(*open_cifar({files.write("d", image)}, "10", {}, bad));
             }),
             Catch::Contains("d', image 1: want one of 10 classes"));
  CHECK_THAT(complaint([&] {
               drain(*open_cifar({files.write("e", image.substr(0, 99))}, "10",
                                 {}, bad));
             }),
             Catch::Contains("ends inside an image; it was cut short"));
}

TEST_CASE("raw: records are taken as they are, also where they look packed") {
  test::Files files;
  // Features of two bytes, which begin as gzip does, and a class.
  const std::string path =
      files.write("r", std::string("\x1f\x8b\2\0\0\0ab\1\0\0\0", 12));
  ReaderOptions options;
  options.shape = "2";
  options.dtype = "u8";
  options.classes = "3";
  BadRecords bad(0);
  auto reader = open_raw({path, path}, options, {}, bad);
  data::DataSet set = drain(*reader);
  CHECK(values(set.get("features")) ==
        std::vector<double>{0x1f, 0x8b, 'a', 'b', 0x1f, 0x8b, 'a', 'b'});
  CHECK(values(set.get("labels")) == std::vector<double>{2, 1, 2, 1});
  CHECK(reader->metadata().classes == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("raw: targets, no labels, and records that are of no use") {
  test::Files files;
  const auto number = [](float value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  ReaderOptions options;
  options.shape = "1";
  options.dtype = "f32";
  options.regression = true;
  BadRecords none(0);
  auto read = [&](const std::string& text, const ReaderOptions& how,
                  const RawOptions& raw) {
    auto reader = open_raw({files.write("r", text)}, how, raw, none);
    return drain(*reader);
  };
  data::DataSet set =
      read(number(1) + number(2) + number(3), options, {.targets = 2});
  CHECK(values(set.get("features")) == std::vector<double>{1});
  CHECK(set.get("labels").shape() == Shape{1, 2});
  CHECK(values(set.get("labels")) == std::vector<double>{2, 3});
  set = read(number(1) + number(2), options, {.labels = false});
  CHECK(set.tensors.size() == 1);
  CHECK(set.examples() == 2);

  CHECK_THAT(complaint([&] { read(number(1), options, {}); }),
             Catch::EndsWith("ends inside an example, of 8 bytes by --shape, "
                             "--dtype and what follows; it was cut short"));
  CHECK_THAT(complaint([&] { read(number(1) + number(NAN), options, {}); }),
             Catch::EndsWith("example 1: target 1 is not finite, or beyond "
                             "1e140"));
  options.regression = false;
  options.classes = "2";
  CHECK_THAT(complaint([&] {
               read(number(1) + std::string("\2\0\0\0", 4), options, {});
             }),
             Catch::EndsWith("example 1: want one of 2 classes ('0' to '1'), "
                             "got '2'"));
  CHECK_THAT(complaint([&] {
               read(number(INFINITY) + std::string(4, '\0'), options, {});
             }),
             Catch::EndsWith("example 1: value 1 is not finite, or beyond "
                             "1e140"));
  options.shape = "2,2";
  CHECK_THAT(complaint([&] {
               read(number(1) + number(2) + number(3) + number(NAN), options,
                    {.labels = false});
             }),
             Catch::EndsWith("value 4 (column 2) is not finite, or beyond "
                             "1e140"));
  options.shape = "";
  CHECK_THAT(complaint([&] { read("", options, {}); }, Code::kUsage),
             Catch::StartsWith("raw wants --shape and --dtype"));
}

TEST_CASE("raw: an example ends with its id") {
  test::Files files;
  ReaderOptions options;
  options.shape = "1";
  options.dtype = "u8";
  options.classes = "3";
  options.id_bytes = 3;
  BadRecords none(0);
  const auto read = [&](const std::string& text, const RawOptions& raw) {
    auto reader = open_raw({files.write("r", text)}, options, raw, none);
    return drain(*reader);
  };
  const auto bytes = [](const auto& text) {
    return std::string(text, sizeof text - 1);
  };
  const data::DataSet set = read(bytes("a\1\0\0\0x\0\0b\2\0\0\0a.g"), {});
  CHECK(ids(set) == std::vector<std::string>{"x", "a.g"});
  CHECK(set.get("id").shape() == Shape{2, 3});
  CHECK(values(set.get("features")) == std::vector<double>{'a', 'b'});
  CHECK(values(set.get("labels")) == std::vector<double>{1, 2});
  CHECK(ids(read(bytes("ax\0\0"), {.labels = false})) ==
        std::vector<std::string>{"x"});
  const auto complains = [&](const std::string& text) {
    return complaint([&] { read(text, {.labels = false}); });
  };
  CHECK_THAT(complains(bytes("a\0\0\0")),
             Catch::EndsWith("example 1: the id is missing"));
  CHECK_THAT(complains(bytes("a\xfc\0\0")),
             Catch::Contains("example 1: the id '\\xfc' is not UTF-8 text"));
  CHECK_THAT(complains(bytes("ax\0y")),
             Catch::EndsWith("the id 'x' has more than zeros behind it"));
}

}  // namespace dl::vectorize::readers_test
