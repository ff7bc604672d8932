// Inputs of several blocks: any number of threads, and parts.

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "tests/unit/vectorize/reading.h"

namespace dl::vectorize::blocks_test {

using namespace dl::test;

namespace {

// Some 3 MiB of rows, with line breaks in quotes, where blocks could be cut.
std::string long_table(int bad_row = -1) {
  std::string text = "name,x,class\n";
  for (int i = 0; i < 40'000; ++i) {
    const std::string number = std::to_string(i);
    text += i % 7 == 0 ? "\"row\n" + number + ", \"\"quoted\"\"\"" : number;
    text += i == bad_row ? ",x,c" : "," + number + ".25,c";
    text += std::to_string(i % 31 + i / 30'000);
    text += i % 1000 == 0 ? "\n\n" : "\r\n";
    if (i % 50 == 0)
      text += "b" + number + ",1" + std::string(2000, '0') + "e-2000,c0\n";
  }
  return text;
}

CsvOptions named() {
  CsvOptions csv;
  csv.header = true;
  csv.label = "class";
  csv.id = "name";
  return csv;
}

struct Read {
  std::vector<data::DataSet> records;
  data::Metadata metadata;
  std::int64_t examples = 0;
};

Read read(Reader& reader) {
  Read all;
  for (data::DataSet set; reader.read(set);) all.records.push_back(set);
  all.metadata = reader.metadata();
  all.examples = reader.examples();
  return all;
}

bool same(const data::DataSet& a, const data::DataSet& b) {
  return std::ranges::equal(a.tensors, b.tensors, [](auto& x, auto& y) {
    return x.first == y.first && x.second.shape() == y.second.shape() &&
           std::ranges::equal(x.second.bytes(), y.second.bytes());
  });
}

using Open =
    std::function<std::unique_ptr<Reader>(const ReaderOptions&, BadRecords&)>;

// Parts of an input hold each of its examples once, and agree on the classes.
void check_parts(const Open& open, std::int64_t examples) {
  std::vector<bool> seen(static_cast<std::size_t>(examples));
  std::vector<std::string> classes;
  ReaderOptions options;
  options.batch = 100;
  options.parts = 3;
  for (options.part = 1; options.part <= 3; ++options.part) {
    BadRecords bad(1);
    options.threads = static_cast<int>(options.part);
    const Read part = read(*open(options, bad));
    CHECK(part.examples == examples);
    if (options.part > 1) CHECK(part.metadata.classes == classes);
    classes = part.metadata.classes;
    std::int64_t taken = 0;
    for (const data::DataSet& set : part.records)
      for (const std::int64_t i : set.get("index").as<std::int64_t>()) {
        CHECK(i / 100 % 3 == options.part - 1);
        CHECK_FALSE(seen[static_cast<std::size_t>(i)]);
        seen[static_cast<std::size_t>(i)] = true;
        ++taken;
      }
    CHECK(taken > 0);
  }
  CHECK(std::ranges::find(seen, false) == seen.end());
}

}  // namespace

TEST_CASE("csv: the same records for any number of threads") {
  Files files;
  const std::string path = files.write("x.csv", long_table());
  std::optional<Read> first;
  for (const int threads : {1, 2, 4}) {
    BadRecords bad(0);
    ReaderOptions options;
    options.batch = 999;
    options.threads = threads;
    Read now = read(*open_csv({path, path}, options, named(), bad));
    REQUIRE(now.examples == 81'600);
    CHECK(now.records[0].examples() == 999);
    const data::DataSet& set = now.records[30];
    const std::string id = ids(set)[0];
    CHECK(set.get("features").value(0) ==
          (id[0] == 'b' ? 1 : std::stod(id.substr(id.find('\n') + 1)) + 0.25));
    CHECK(now.metadata.classes.size() == 32);
    if (!first)
      first = std::move(now);
    else
      CHECK(std::ranges::equal(first->records, now.records, same));
  }
}

TEST_CASE("csv: bad rows of later blocks are told in order, with their line") {
  Files files;
  const std::string early = files.write("a.csv", long_table(39'000));
  const std::string late = files.write("b.csv", long_table(39'999));
  for (const int threads : {1, 3}) {
    std::vector<std::string> told;
    BadRecords bad(2, [&](const std::string& what) { told.push_back(what); });
    ReaderOptions options;
    options.threads = threads;
    const Read all = read(*open_csv({early, late}, options, named(), bad));
    REQUIRE(told.size() == 2);
    CHECK_THAT(told[0], Catch::Contains("a.csv', line 45393, column 2 ('x'): "
                                        "want a number, got 'x'"));
    CHECK_THAT(told[1], Catch::Contains("b.csv', line 46556, column 2 ('x')"));
    CHECK(all.examples == 81'600);
    BadRecords none(0);
    CHECK_THAT(complaint([&] {
                 read(*open_csv({early, late}, options, named(), none));
               }),
               Catch::Contains("a.csv', line 45393, column 2 ('x')"));
  }
}

TEST_CASE("csv: a row that is not closed ends the input in its place") {
  Files files;
  const std::string path =
      files.write("x.csv", long_table(30'000) + "\"open,1,c0\n");
  BadRecords bad(5);
  ReaderOptions options;
  options.threads = 2;
  CHECK_THAT(complaint([&] { read(*open_csv({path}, options, named(), bad)); }),
             Catch::Contains("a quoted field is not closed"));
  CHECK(bad.count() == 1);
}

TEST_CASE("parts of an input have each example once") {
  Files files;
  const std::string table = files.write("x.csv", long_table());
  check_parts(
      [&](const ReaderOptions& options, BadRecords& bad) {
        return open_csv({table}, options, named(), bad);
      },
      40'800);
  std::string lines, bytes, images, labels;
  for (int i = 0; i < 1000; ++i) {
    lines += std::to_string(i / 300) + " 1:0.5 # comment\n";
    bytes += std::string{1, static_cast<char>(i / 300), 0, 0, 0};
    images += static_cast<char>(i / 300) + std::string(3072, 'p');
    labels += static_cast<char>(i / 300);
  }
  check_parts(
      [&, path = files.write("x.svm", lines)](const ReaderOptions& options,
                                              BadRecords& bad) {
        return open_svmlight({path}, options, {.features = 2}, bad);
      },
      1000);
  check_parts(
      [&, path = files.write("x.raw", bytes)](ReaderOptions options,
                                              BadRecords& bad) {
        options.shape = "1";
        options.dtype = "u8";
        return open_raw({path}, options, {.examples = 1000}, bad);
      },
      1000);
  check_parts(
      [&, path = files.write("x.bin", images)](const ReaderOptions& options,
                                               BadRecords& bad) {
        return open_cifar({path}, "10", options, bad);
      },
      1000);
  const std::string idx_labels = idx({0, 0, 8, 1, 0, 0, 3, 232}, labels);
  check_parts(
      [&, path = files.write("x.idx", idx_labels)](const ReaderOptions& options,
                                                   BadRecords& bad) {
        return open_idx({path, path}, true, options, bad);
      },
      1000);
}

TEST_CASE("sequences are not taken apart") {
  Files files;
  BadRecords bad(0);
  ReaderOptions options;
  options.parts = 2;
  CsvOptions csv = named();
  csv.sequence = "name";
  csv.id = "";
  csv.steps = 2;
  CHECK_THAT(complaint(
                 [&] {
                   open_csv({files.write("x", "name,x,class\na,1,b\n")},
                            options, csv, bad);
                 },
                 Code::kUsage),
             Catch::Contains("--part does not go with --sequence"));
}

}  // namespace dl::vectorize::blocks_test
