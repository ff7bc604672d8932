// Tables: what is missing, what names a row, what is no table.

#include <catch2/catch.hpp>

#include "libcore/vectorize/class_labels.h"
#include "tests/unit/vectorize/reading.h"

namespace dl::vectorize::csv_test {

using namespace dl::test;

namespace {

data::DataSet read(const std::string& text, CsvOptions csv = {},
                   const ReaderOptions& options = {}, int max_bad = 0) {
  Files files;
  if (csv.label.empty()) csv.label = "-1";
  BadRecords bad(max_bad);
  return drain(*open_csv({files.write("x.csv", text)}, options, csv, bad));
}

std::string said(const std::string& text, const CsvOptions& csv = {},
                 const ReaderOptions& options = {}) {
  return complaint([&] { read(text, csv, options); });
}

}  // namespace

TEST_CASE("csv: a missing label is never filled in") {
  CsvOptions csv;
  csv.missing = "fill:0";
  ReaderOptions targets;
  targets.regression = true;
  for (const char* empty : {"1,2\n3,\n", "1,2\n,NaN\n", "1,2\n3,-nan\n"})
    CHECK_THAT(said(empty, csv, targets),
               Catch::Contains("line 2, column 2: the label is missing, and "
                               "labels are not filled in"));
  CHECK_THAT(said("1,a\n3,\n", csv), Catch::Contains("the label is missing"));
  CHECK(values(read("1,2\n,4\n", csv, targets).get("features")) ==
        std::vector<double>{1, 0});
  csv.missing = "skip";
  CHECK(values(read("1,2\n3,\n5,6\n", csv, targets).get("labels")) ==
        std::vector<double>{2, 6});
  csv.missing = "fail";
  CHECK_THAT(said("1,\n", csv, targets),
             Catch::Contains("the label is missing (--missing skip"));
  CHECK_THAT(
      said("1,NA\n", csv),
      Catch::EndsWith("leaves the row out, --na '' takes 'NA' as it is)"));
}

TEST_CASE("csv: a column of weights is no feature") {
  CsvOptions csv;
  csv.weight = "2";
  const data::DataSet set = read("1,2.5,a\n3,0,b\n", csv);
  CHECK(values(set.get("features")) == std::vector<double>{1, 3});
  CHECK(values(set.get("labels")) == std::vector<double>{0, 1});
  CHECK(values(set.get("labels_mask")) == std::vector<double>{2.5, 0});
  for (const char* bad : {"x", "-1", "inf", "1e300"})
    CHECK_THAT(said("1," + std::string(bad) + ",a\n", csv),
               Catch::Contains("line 1, column 2: want a weight, a number from "
                               "0 on, got '" +
                               std::string(bad) + "'"));
  CHECK_THAT(said("1,,a\n", csv), Catch::Contains("the weight is missing"));
  csv.missing = "skip";
  CHECK(read("1,,a\n2,1,a\n", csv).examples() == 1);
  csv.label = "none";
  Files files;
  BadRecords bad(0);
  CHECK_THAT(
      complaint(
          [&] { open_csv({files.write("x.csv", "1,2,3\n")}, {}, csv, bad); },
          Code::kUsage),
      Catch::Contains("--weight is of labels"));
}

TEST_CASE("csv: weights of sequences, and of their steps") {
  CsvOptions csv;
  csv.sequence = "1";
  csv.steps = 2;
  csv.weight = "3";
  const std::string text = "s,1,2,a\ns,2,3,b\nt,3,4,a\n";
  CHECK(values(read(text, csv).get("labels_mask")) ==
        std::vector<double>{3, 4});
  csv.per_step = true;
  CHECK(values(read(text, csv).get("labels_mask")) ==
        std::vector<double>{2, 3, 4, 0});
}

TEST_CASE("csv: what NumPy, pandas and R write is missing") {
  CsvOptions csv;
  csv.missing = "fill:7";
  for (const char* word : {"", "NA", "NaN", "nan", "NAN", "-nan", "N/A", "null",
                           "NULL", "?", "\"\""})
    CHECK(
        values(read("1," + std::string(word) + ",a\n", csv).get("features")) ==
        std::vector<double>{1, 7});
  CHECK_THAT(said("1,inf,a\n", csv), Catch::Contains("want a finite number"));
  csv.missing = "fill:1e39";
  for (const char* empty : {"1,,a\n", "1,-nan,a\n"})
    CHECK_THAT(said(empty, csv),
               Catch::EndsWith("column 2: 'fill:1e39' does not fit F32"));
  csv.missing = "fill:1e400";
  CHECK_THAT(complaint([&] { read("1,,a\n", csv); }, Code::kUsage),
             Catch::Contains("want fail, skip or fill:NUMBER"));
}

TEST_CASE("csv: --id keeps the name of a row") {
  CsvOptions csv;
  csv.header = true;
  csv.label = "c";
  csv.id = "key";
  ReaderOptions options;
  options.id_bytes = 8;
  const std::string text = "x,key,c\n1, k1 ,a\n2,\"gr\xc3\xbc\xc3\x9f\",b\n";
  data::DataSet set = read(text, csv, options);
  CHECK(ids(set) == std::vector<std::string>{"k1", "gr\xc3\xbc\xc3\x9f"});
  CHECK(set.get("id").shape() == tensor::Shape{2, 8});
  CHECK(values(set.get("features")) == std::vector<double>{1, 2});
  options.id_bytes = 5;
  CHECK_THAT(said(text, csv, options),
             Catch::Contains("line 3, column 2 ('key'): the id 'gr\xc3\xbc\xc3"
                             "\x9f' has 6 bytes, --id-bytes is 5"));
  options.id_bytes = 8;
  CHECK_THAT(said("x,key,c\n1,,a\n", csv, options),
             Catch::Contains("the id is missing"));
  CHECK_THAT(said("x,key,c\n1,\xfc,a\n", csv, options),
             Catch::Contains("the id '\\xfc' is not UTF-8 text"));
  csv.id = "kee";
  CHECK_THAT(complaint([&] { read(text, csv, options); }, Code::kUsage),
             Catch::Contains("did you mean 'key'?"));
}

TEST_CASE("csv: a name with a comma stands in quotes in a list") {
  const std::string text = "\"name, full\",age,\"a \"\"b\"\"\",c\nx,1,2,a\n";
  CsvOptions csv;
  csv.header = true;
  csv.label = "c";
  csv.drop = "\"name, full\" , age";
  CHECK(values(read(text, csv).get("features")) == std::vector<double>{2});
  csv.drop = "1,\"a \"\"b\"\"\"";
  CHECK(values(read(text, csv).get("features")) == std::vector<double>{1});
  csv.drop = "a \"b\",1";
  CHECK(values(read(text, csv).get("features")) == std::vector<double>{1});
  const auto misuse = [&](const std::string& drop) {
    csv.drop = drop;
    return complaint([&] { read(text, csv); }, Code::kUsage);
  };
  CHECK_THAT(misuse("name, full"), Catch::Contains("no column 'name'") &&
                                       Catch::Contains("'\"name, full\"', in "
                                                       "these quotes"));
  CHECK_THAT(misuse("\"name, full"), Catch::Contains("is not closed"));
  CHECK_THAT(misuse("\"age\"x"), Catch::Contains("text after a quote"));
  csv.drop = "age";
  csv.id = "name, full";  // one name, no list
  CHECK(read(text, csv).find("id") != nullptr);
  CHECK(ClassLabels("\"a, b\",c").names() ==
        std::vector<std::string>{"a, b", "c"});
}

TEST_CASE("csv: rows that may be left out have a number") {
  CsvOptions csv;
  CHECK(read("1,a\n2,b\n", csv).find("index") == nullptr);
  csv.missing = "skip";
  CHECK(values(read("1,a\n,b\n\n3,a\n", csv).get("index")) ==
        std::vector<double>{0, 2});
  csv.missing = "fail";
  CHECK(values(read("x,a\n2,b\n3\n4,c\n", csv, {}, 2).get("index")) ==
        std::vector<double>{1, 3});
}

TEST_CASE("csv: columns name the last dimension only") {
  Files files;
  CsvOptions csv;
  csv.header = true;
  csv.label = "none";
  BadRecords bad(0);
  ReaderOptions options;
  const std::string path = files.write("x.csv", "a,b,c,d\n1,2,3,4\n");
  const auto columns = [&](const char* shape) {
    options.shape = shape;
    return open_csv({path}, options, csv, bad)->metadata().columns.size();
  };
  CHECK(columns("") == 4);
  CHECK(columns("1,4") == 4);
  CHECK(columns("2,2") == 0);
  CHECK(columns("4,1") == 0);
}

TEST_CASE("csv: text that is not UTF-8 makes no classes") {
  CHECK_THAT(
      said("1,caf\xe9\n2,caf\xe8\n"),
      Catch::Contains(
          "line 1, column 2: the class 'caf\\xe9' is not UTF-8 "
          "text; if it is Latin-1 or windows-1252, say so: --encoding latin1"));
  CsvOptions csv;
  csv.header = true;
  CHECK_THAT(
      said("h\xf6he,c\n1,a\n", csv),
      Catch::Contains("line 1, column 1: the name 'h\\xf6he' is not UTF-8"));
  for (const char* bad :
       {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"})
    CHECK_THAT(said("1," + std::string(bad) + "\n"),
               Catch::Contains("is not UTF-8 text"));
  CHECK(values(read("1,\xe2\x82\xac\n2,\xf0\x9f\x98\x80\n").get("labels")) ==
        std::vector<double>{0, 1});
}

TEST_CASE("csv: numbers that are no classes ask for --regression") {
  std::string fractions, integers, few;
  for (int i = 0; i < 1100; ++i) {
    fractions += "1," + std::to_string(i) + ".5\n";
    integers += "1," + std::to_string(i) + "\n";
    few += "1," + std::to_string(i % 20) + ".5\n";
  }
  CHECK_THAT(said(fractions),
             Catch::Contains("line 33, column 2: labels are more than 32 "
                             "different numbers, up to '32.5' (--regression"));
  CHECK_THAT(said(integers), Catch::Contains("line 1001, column 2: labels are "
                                             "more than 1000 different"));
  CHECK(read(few).examples() == 1100);
  ReaderOptions options;
  options.classes = "1100";
  CHECK(read(integers, {}, options).examples() == 1100);
}

TEST_CASE("csv: a first row of names, another delimiter") {
  CHECK_THAT(said("a,b,c\n1,2,x\n"),
             Catch::Contains("line 1, column 1: want a number, got 'a' (does "
                             "the first row name the columns? --header)"));
  CHECK(said("1,2,x\na,2,x\n").find("--header") == std::string::npos);
  CHECK_THAT(said("1;2;x\n3;4;y\n"),
             Catch::Contains("line 1: has one column, with ';' in it "
                             "(--delimiter ';'?)"));
  CsvOptions csv;
  csv.header = true;
  csv.label = "c";
  CHECK_THAT(said("a\tb\tc\n1\t2\tx\n", csv),
             Catch::Contains("(--delimiter '\\t'?)"));
  csv.delimiter = ";";
  CHECK_THAT(said("a,b,c\n1,2,x\n", csv),
             Catch::Contains("(--delimiter ','?)"));
  csv.header = false;
  csv.delimiter = ",";
  CHECK_THAT(complaint([&] { read("1,2,x\n", csv); }, Code::kUsage),
             Catch::Contains("no column 'c' (it has 3; names want --header)"));
}

TEST_CASE("csv: classes that may be numbers to predict get a warning") {
  Files files;
  const auto warning = [&](int classes, int rows, const char* suffix,
                           const char* names = "") {
    std::string text;
    for (int i = 0; i < rows; ++i)
      text += "1," + std::to_string(i % classes) + suffix + "\n";
    CsvOptions csv;
    csv.label = "2";
    ReaderOptions options;
    options.classes = names;
    BadRecords bad(0);
    auto reader = open_csv({files.write("n.csv", text)}, options, csv, bad);
    drain(*reader);
    return reader->warning();
  };
  CHECK(warning(196, 442, "") ==
        "warning: labels are 196 classes in 442 rows, all of them numbers, as "
        "'0' "
        "(--regression if they are to be predicted as numbers, --classes if "
        "they are classes)");
  CHECK_THAT(warning(21, 209, ".0"), Catch::Contains("21 classes in 209 rows"));
  CHECK(warning(21, 210, ".0").empty());
  CHECK(warning(20, 40, ".0").empty());
  CHECK(warning(196, 442, "th").empty());
  CHECK(warning(196, 442, "", "196").empty());
}

TEST_CASE("csv: a name that two columns have is not taken for the first") {
  CsvOptions csv;
  csv.header = true;
  csv.label = "y";
  const std::string text = "y,x,y,x\n1,2,a,3\n";
  const auto usage = [&] {
    return complaint([&] { read(text, csv); }, Code::kUsage);
  };
  CHECK_THAT(usage(), Catch::Contains("--label: '") &&
                          Catch::Contains("x.csv' has two columns 'y', 1 and "
                                          "3; give the number"));
  csv.label = "3";
  csv.drop = "x";
  CHECK_THAT(usage(), Catch::Contains("--drop: '") &&
                          Catch::Contains("two columns 'x', 2 and 4"));
  csv.drop = "2,3";
  CHECK_THAT(usage(), Catch::Contains("--drop: column '3' is one of --label"));
  csv.drop = "1,4";
  CHECK(values(read(text, csv).get("features")) == std::vector<double>{2});
}

// Wherever data are used, columns are matched by name.
TEST_CASE("csv: two columns of one name are refused with what helps") {
  CsvOptions csv;
  csv.header = true;
  const std::string text = "a,b,a,a,y\n1,2,3,4,5\n";
  CHECK_THAT(said(text, csv),
             Catch::Contains("x.csv': columns 1 and 3 are both called 'a'; "
                             "rename one, or leave it out with --drop 3"));
  csv.drop = "3";
  CHECK_THAT(said(text, csv), Catch::Contains("columns 1 and 4 are both"));
  csv.drop = "3,4";
  CHECK(values(read(text, csv).get("features")) == std::vector<double>{1, 2});
  ReaderOptions targets;
  targets.regression = true;
  csv.drop = "1";
  csv.label = "3,4";
  CHECK_THAT(said(text, csv, targets), Catch::Contains("columns 3 and 4 are"));
  // One column is to be predicted, and the other a feature.
  csv.label = "4";
  csv.drop = "1";
  CHECK(values(read(text, csv, targets).get("features")) ==
        std::vector<double>{2, 3, 5});
  csv.header = false;  // names are data
  csv.drop = "";
  CHECK_THAT(said(text, csv), Catch::Contains("want a number"));
}

TEST_CASE("csv: truth is 1 and 0 as a number, and a name as a class") {
  const auto table = read("True,FALSE,true\n0.5,false,false\n");
  CHECK(values(table.get("features")) == std::vector<double>{1, 0, 0.5, 0});
  CHECK(values(table.get("labels")) == std::vector<double>{0, 1});
  ReaderOptions targets;
  targets.regression = true;
  CHECK(values(read("7,TRUE\n8,False\n", {}, targets).get("labels")) ==
        std::vector<double>{1, 0});
  CHECK_THAT(said("Truth,a\n"), Catch::Contains("want a number"));
}

TEST_CASE("csv: blanks around quotes are no part of a field") {
  CHECK(values(read("1, \"2\" ,\t\"a, b\" \n3, 4,\"a, b\"\n").get("labels")) ==
        std::vector<double>{0, 0});
  CHECK(values(read("1, \"2\" ,x\n").get("features")) ==
        std::vector<double>{1, 2});
  CHECK_THAT(said("1,\"2\" 3,x\n"),
             Catch::Contains("text after a closing quote"));
}

TEST_CASE("csv: numbers beyond a double's are the nearest it has") {
  CHECK(values(read("1e-400,-7e-999,+1e-400,a\n").get("features")) ==
        std::vector<double>{0, 0, 0});
  for (const char* large : {"1e400", "+1e400", "-1e400"})
    CHECK_THAT(said(std::string(large) + ",a\n"),
               Catch::EndsWith("line 1, column 1: '" + std::string(large) +
                               "' does not fit F32"));
  CHECK_THAT(said("1e400x,a\n"), Catch::Contains("want a number"));
  CHECK_THAT(said("+-1e400,a\n"), Catch::Contains("want a number"));
}

TEST_CASE("csv: what is no number says what helps") {
  CsvOptions csv;
  CHECK_THAT(said("iris-65,2,x\n"),
             Catch::EndsWith("line 1, column 1: want a number, got 'iris-65' "
                             "(--drop or --id if the column is no feature; "
                             "'dl-preprocess table' makes numbers of words)"));
  CHECK_THAT(said("1,2,x\n3,iris-65,x\n"), Catch::EndsWith("got 'iris-65'"));
  ReaderOptions targets;
  targets.regression = true;
  CHECK_THAT(said("1,cat\n", {}, targets),
             Catch::EndsWith("(without --regression labels may be names of "
                             "classes)"));
  CHECK_THAT(said("1,\"1,5\",x\n"),
             Catch::EndsWith("got '1,5' (numbers want a decimal point, not a "
                             "comma)"));
  csv.delimiter = ";";
  CHECK_THAT(said("1;2;x\n1;-1,5;x\n", csv),
             Catch::EndsWith("read 'pipe:tr , . <FILE')"));
  csv.delimiter = ",";
  csv.header = true;
  CHECK_THAT(said("a,b,c\n1,iris-65,x\n", csv),
             Catch::EndsWith("(--drop or --id if the column is no feature; "
                             "'dl-preprocess table' makes numbers of words)"));
  CHECK_THAT(said("a,c\nx,x\n", csv),
             Catch::EndsWith("(--drop or --id if the column is no feature; "
                             "'dl-preprocess table' makes numbers of words)"));
}

}  // namespace dl::vectorize::csv_test
