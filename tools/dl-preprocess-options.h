// The options of dl-preprocess.

#ifndef DL_TOOLS_DL_PREPROCESS_OPTIONS_H_
#define DL_TOOLS_DL_PREPROCESS_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "libcore/vectorize/reader.h"

inline constexpr std::array kFormats = {"idx", "csv", "svmlight", "cifar",
                                        "raw"};

struct Args {
  std::vector<std::string> operands;
  std::string output = "-";
  std::string variant = "10";
  bool force = false, no_labels = false, no_provenance = false, json = false;
  std::int64_t max_bad = 0, examples = 0;
  dl::vectorize::ReaderOptions reader;
  dl::vectorize::CsvOptions csv;
  dl::vectorize::SvmlightOptions svmlight;
  dl::vectorize::RawOptions raw;
  const dl::cli::Options* options = nullptr;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.add("output,o", &a.output, "FILE", "where the stream goes");
  opt.flag("force,f", &a.force, "write FILE even if nothing has changed");
  opt.add("batch", &a.reader.batch, "N", "examples in a record");
  opt.add("classes", &a.reader.classes, "LIST",
          "class names, or their number for integers from 0");
  opt.flag("regression", &a.reader.regression,
           "labels are numbers to predict, not classes");
  opt.add("shape", &a.reader.shape, "LIST", "shape of an example, as 8,8,1");
  opt.add(
      "dtype", &a.reader.dtype, "TYPE",
      "type that features are stored in, raw: come in (csv, svmlight: f32)");
  opt.add("max-bad", &a.max_bad, "N",
          "bad records to leave out before failing");
  opt.add("examples", &a.examples, "N",
          "examples that the input has; another number is an error");
  opt.add(
      "id-bytes", &a.reader.id_bytes, "N",
      "csv: length of the longest id (32); raw: each example ends with one");
  opt.flag("json", &a.json, "report on standard output as JSON (with -o)");
  opt.flag("no-provenance", &a.no_provenance,
           "do not record how the stream was made");
  opt.flag("no-labels", &a.no_labels,
           "idx and raw: the inputs are features alone");
  opt.section("Options for csv");
  opt.add("label", &a.csv.label, "COLUMNS",
          "columns to predict: names, numbers from 1, -1 for the last, none");
  opt.flag("header", &a.csv.header, "the first row names the columns");
  opt.add("delimiter", &a.csv.delimiter, "CHAR",
          "character that separates fields");
  opt.add("drop", &a.csv.drop, "COLUMNS", "columns to leave out");
  opt.add("missing", &a.csv.missing, "RULE", "fail, skip or fill:NUMBER");
  opt.add("na", &a.csv.na, "WORDS", "fields that count as missing, beside ''");
  opt.add("sequence", &a.csv.sequence, "COLUMN",
          "rows that this column names alike are the steps of an example");
  opt.add("steps", &a.csv.steps, "N", "length of the longest sequence");
  opt.add("longer", &a.csv.longer, "RULE",
          "sequences that are longer: fail, truncate or skip");
  opt.flag("per-step", &a.csv.per_step,
           "each step has a label; else a sequence has that of its last row");
  opt.add("id", &a.csv.id, "COLUMN",
          "column that names an example, kept beside features and labels");
  opt.add("weight", &a.csv.weight, "COLUMN",
          "column that says what the label of a row counts in learning");
  opt.section("Options for svmlight");
  opt.add("features", &a.svmlight.features, "N", "length of an example");
  opt.flag("zero-based", &a.svmlight.zero_based, "indices start at 0");
  opt.flag("multilabel", &a.svmlight.multilabel,
           "labels are lists of classes, as 1,3");
  opt.section("Options for cifar");
  opt.add("variant", &a.variant, "NAME", "10, 100 or 100-coarse");
  opt.section("Options for raw");
  opt.add("targets", &a.raw.targets, "N", "numbers to predict of an example");
  opt.rest(&a.operands);
}

#endif  // DL_TOOLS_DL_PREPROCESS_OPTIONS_H_
