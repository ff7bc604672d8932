// Tables whose rows are the steps of sequences.

#include <catch2/catch.hpp>

#include "tests/unit/vectorize/reading.h"

namespace dl::vectorize::csv_sequences_test {

using namespace dl::test;
using tensor::Shape;

namespace {

// The first column names the sequence, the last is the label.
CsvOptions sequences(std::int64_t steps) {
  CsvOptions csv;
  csv.label = "-1";
  csv.sequence = "1";
  csv.steps = steps;
  return csv;
}

}  // namespace

TEST_CASE("csv: rows of one name are the steps of a sequence") {
  test::Files files;
  const std::string a = files.write(
      "a", "id,x,y,c\no,1,2,a\no,3,4,b\nq,5,6,a\np,7,8,b\np,9,0,a\n");
  const std::string b = files.write("b", "id,x,y,c\np,1,1,b\nr,2,2,a\n");
  BadRecords bad(0);
  ReaderOptions options;
  options.batch = 2;
  CsvOptions csv;
  csv.header = true;
  csv.label = "c";
  csv.sequence = "id";
  csv.steps = 3;
  auto reader = open_csv({a, b}, options, csv, bad);
  data::DataSet set = drain(*reader);
  reader->metadata().check(set);
  CHECK(set.get("features").shape() == Shape{4, 3, 2});
  CHECK(values(set.get("features")) ==
        std::vector<double>{1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0,
                            7, 8, 9, 0, 1, 1, 2, 2, 0, 0, 0, 0});
  CHECK(values(set.get("features_mask")) ==
        std::vector<double>{1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0});
  CHECK(values(set.get("labels")) == std::vector<double>{1, 0, 1, 0});
  CHECK(reader->metadata().columns == std::vector<std::string>{"x", "y"});

  csv.per_step = true;
  reader = open_csv({a, b}, options, csv, bad);
  set = drain(*reader);
  reader->metadata().check(set);
  CHECK(set.get("labels").shape() == Shape{4, 3});
  CHECK(values(set.get("labels")) ==
        std::vector<double>{0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0});
  options.regression = true;
  csv.label = "y,x";
  csv.drop = "c";
  csv.per_step = false;
  CHECK_THROWS_AS(open_csv({a, b}, options, csv, bad), Error);
  csv.label = "y";
  csv.per_step = true;
  reader = open_csv({a, b}, options, csv, bad);
  set = drain(*reader);
  reader->metadata().check(set);
  CHECK(set.get("labels").shape() == Shape{4, 3, 1});
}

TEST_CASE("csv: sequences that are too long, or nothing") {
  test::Files files;
  const std::string path =
      files.write("s", "p,1,0\np,x,0\nq,x,1\nr,3,1\nr,4,0\n");
  BadRecords bad(2);
  CsvOptions csv;
  csv.label = "-1";
  csv.sequence = "1";
  csv.steps = 2;
  auto reader = open_csv({path}, {}, csv, bad);
  data::DataSet set = drain(*reader);
  // q has no good step, and p only one.
  CHECK(values(set.get("features_mask")) == std::vector<double>{1, 0, 1, 1});
  CHECK(values(set.get("features")) == std::vector<double>{1, 0, 3, 4});
  CHECK(values(set.get("labels")) == std::vector<double>{0, 0});
  csv.steps = 1;
  BadRecords more(2);
  CHECK_THAT(complaint([&] { drain(*open_csv({path}, {}, csv, more)); }),
             Catch::Contains("line 5: sequence 'r' is longer than --steps 1 "
                             "(--longer truncate or skip"));
  csv.steps = 0;
  complaint([&] { open_csv({path}, {}, csv, more); }, Code::kUsage);
  csv.sequence = "";
  csv.per_step = true;
  complaint([&] { open_csv({path}, {}, csv, more); }, Code::kUsage);
}

TEST_CASE("csv: a row that is too short leaves its sequence whole") {
  Files files;
  const std::string path =
      files.write("s", "p,1,0\np,2\np,3,1\nq\nq,4,1\n\"q\n\",5,0\n");
  BadRecords bad(9);
  CsvOptions csv = sequences(3);
  data::DataSet set = drain(*open_csv({path}, {}, csv, bad));
  CHECK(values(set.get("features")) ==
        std::vector<double>{1, 3, 0, 4, 0, 0, 5, 0, 0});
  CHECK(bad.count() == 2);
}

TEST_CASE("csv: what a bad last row had read stays out of the padding") {
  Files files;
  const std::string path =
      files.write("s", "p,1,1,0\np,2,x,1\nq,3,3,1\nq,4,4,z\n");
  BadRecords bad(2);
  ReaderOptions options;
  options.classes = "2";
  data::DataSet set = drain(*open_csv({path}, options, sequences(2), bad));
  CHECK(values(set.get("features")) ==
        std::vector<double>{1, 1, 0, 0, 3, 3, 0, 0});
  CHECK(values(set.get("labels")) == std::vector<double>{0, 1});
}

// They made up a sequence of their own.
TEST_CASE("csv: a row without the name of its sequence is missing data") {
  Files files;
  const std::string path =
      files.write("s.csv", "p,1,0\n,2,0\np,3,0\nNA,4,0\nq,5,1\n");
  CsvOptions csv = sequences(3);
  BadRecords none(0);
  CHECK_THAT(
      complaint([&] { drain(*open_csv({path}, {}, csv, none)); }),
      Catch::Contains("s.csv', line 2, column 1: the sequence is missing "
                      "(--missing skip leaves the row out)"));
  csv.missing = "fill:0";
  CHECK_THAT(complaint([&] { drain(*open_csv({path}, {}, csv, none)); }),
             Catch::Contains("sequences are not filled in"));
  csv.missing = "skip";
  const data::DataSet set = drain(*open_csv({path}, {}, csv, none));
  CHECK(values(set.get("features")) == std::vector<double>{1, 3, 0, 5, 0, 0});
  CHECK(none.skipped() == 2);
  csv.missing = "fail";
  BadRecords two(2);
  CHECK(drain(*open_csv({path}, {}, csv, two)).examples() == 2);
  CHECK(two.count() == 2);
}

TEST_CASE("csv: a sequence whose rows are no neighbors names both places") {
  Files files;
  const std::string a = files.write("a", "p,1,0\nq,2,0\n");
  const std::string b = files.write("b", "q,3,0\np,4,0\n");
  BadRecords bad(9);
  const std::string said = complaint([&] {
    drain(*open_csv({a, b}, {}, sequences(3), bad));
  });
  CHECK_THAT(said, Catch::Contains("b', line 2: sequence 'p' was at '") &&
                       Catch::Contains("a', line 1 already"));
}

TEST_CASE("csv: sequences that are longer are cut, or left out") {
  Files files;
  const std::string path =
      files.write("s", "p,1,0\nq,2,0\nq,3,0\nq,4,1\nr,5,1\nr,6,0\n");
  BadRecords bad(0);
  CsvOptions csv = sequences(2);
  csv.longer = "truncate";
  data::DataSet set = drain(*open_csv({path}, {}, csv, bad));
  CHECK(values(set.get("features")) == std::vector<double>{1, 0, 2, 3, 5, 6});
  CHECK(bad.truncated_sequences() == 1);
  // The label is that of the last row, which was cut off.
  CHECK(values(set.get("labels")) == std::vector<double>{0, 1, 0});
  CHECK(set.find("index") == nullptr);
  csv.per_step = true;
  set = drain(*open_csv({path}, {}, csv, bad));
  CHECK(values(set.get("labels")) == std::vector<double>{0, 0, 0, 0, 1, 0});
  csv.per_step = false;
  csv.longer = "skip";
  set = drain(*open_csv({path}, {}, csv, bad));
  CHECK(values(set.get("features")) == std::vector<double>{1, 0, 5, 6});
  CHECK(values(set.get("features_mask")) == std::vector<double>{1, 0, 1, 1});
  CHECK(values(set.get("index")) == std::vector<double>{0, 2});
  CHECK(bad.skipped_sequences() == 1);
  CHECK(bad.truncated_sequences() == 2);  // with and without per_step
  CHECK(bad.skipped() == 0);
  csv.longer = "cut";
  complaint([&] { open_csv({path}, {}, csv, bad); }, Code::kUsage);
  csv.sequence = "";
  csv.steps = 0;
  csv.longer = "skip";
  complaint([&] { open_csv({path}, {}, csv, bad); }, Code::kUsage);
}

TEST_CASE("csv: the id of a sequence") {
  Files files;
  const std::string path = files.write("s", "p,u,1,0\np,v,2,0\nq,w,3,0\n");
  BadRecords bad(0);
  CsvOptions csv = sequences(2);
  csv.id = "1";
  csv.drop = "2";
  CHECK(ids(drain(*open_csv({path}, {}, csv, bad))) ==
        std::vector<std::string>{"p", "q"});
  csv.id = "2";
  csv.drop = "";
  CHECK(ids(drain(*open_csv({path}, {}, csv, bad))) ==
        std::vector<std::string>{"u", "w"});
}

}  // namespace dl::vectorize::csv_sequences_test
