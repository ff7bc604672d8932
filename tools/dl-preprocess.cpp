// dl-preprocess - turn raw files into a DataSet stream
// For users: man/dl-preprocess.1.scd.  The formats: libcore/vectorize.

#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/preprocess.h"
#include "libcore/vectorize/reader.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-preprocess",
    .summary = "Turn raw files into a DataSet stream.",
    .usage = "dl-preprocess FORMAT [OPTION]... [INPUT]...",
    .examples =
        "dl-preprocess idx train-images.gz train-labels.gz -o train.dls\n"
        "dl-preprocess csv --header --label species iris.csv | dl-shard -n 4\n"
        "dl-preprocess cifar 'data_batch_*.bin' | dl-shard -n 16 -o cifar",
    .on_kill = dl::io::remove_unfinished,
};

constexpr std::array kFormats = {"idx", "csv", "svmlight", "cifar", "raw"};

struct Args {
  std::vector<std::string> operands;
  std::string output = "-";
  std::string variant = "10";
  bool force = false, no_labels = false, no_provenance = false, json = false;
  std::int64_t max_bad = 0;
  dl::vectorize::ReaderOptions reader;
  dl::vectorize::CsvOptions csv;
  dl::vectorize::SvmlightOptions svmlight;
  dl::vectorize::RawOptions raw;
  const dl::cli::Options* options = nullptr;
};

void declare(dl::cli::Options& opt, Args& a) {
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
  opt.flag("json", &a.json, "report on standard output as JSON (with -o)");
  opt.flag("no-provenance", &a.no_provenance,
           "do not record how the stream was made");
  opt.flag("no-labels", &a.no_labels,
           "idx and raw: the inputs are features alone");
  opt.section("Options for csv");
  opt.add("label", &a.csv.label, "COLUMNS",
          "columns to predict: names, numbers from 1, -1 for the last, none");
  opt.flag("header", &a.csv.header, "the first row names the columns");
  opt.add("delimiter", &a.csv.delimiter, "CHAR", "what separates fields");
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
  opt.add("id-bytes", &a.csv.id_bytes, "N", "length of the longest name");
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

std::unique_ptr<dl::vectorize::Reader> open_reader(
    const Args& a, const std::vector<std::string>& inputs,
    dl::vectorize::BadRecords& bad) {
  const std::string& format = a.operands[0];
  if (format == "idx") return open_idx(inputs, !a.no_labels, a.reader, bad);
  if (format == "csv") return open_csv(inputs, a.reader, a.csv, bad);
  if (format == "svmlight")
    return open_svmlight(inputs, a.reader, a.svmlight, bad);
  if (format == "cifar") return open_cifar(inputs, a.variant, a.reader, bad);
  if (format == "raw") {
    dl::vectorize::RawOptions raw = a.raw;
    raw.labels = !a.no_labels;
    return open_raw(inputs, a.reader, raw, bad);
  }
  std::string near = dl::nearest(
      format, std::vector<std::string>(kFormats.begin(), kFormats.end()));
  throw dl::Error{dl::Code::kUsage,
                  "unknown format '" + format + "' (" +
                      (near.empty() ? "want idx, csv, svmlight, cifar or raw"
                                    : "did you mean '" + near + "'?") +
                      ")"};
}

void report(const Args& a, const dl::vectorize::BadRecords& bad,
            std::int64_t examples) {
  if (a.json) {
    dl::Json json = {{"examples", examples},
                     {"skipped", bad.skipped()},
                     {"sequences_skipped", bad.skipped_sequences()},
                     {"sequences_truncated", bad.truncated_sequences()},
                     {"bad", bad.count()},
                     {"bad_examples", bad.examples()}};
    std::cout << dl::dump_json(json) << '\n';
    return;
  }
  auto say = [](dl::Level level, const std::string& line) {
    dl::cli::log()(level, line);
  };
  say(dl::Level::kDetail, std::to_string(examples) + " examples");
  auto count = [&](std::int64_t n, const char* what) {
    if (n > 0) say(dl::Level::kInfo, std::to_string(n) + what);
  };
  count(bad.skipped(), " rows with missing values left out");
  count(bad.skipped_sequences(), " sequences longer than --steps left out");
  count(bad.truncated_sequences(), " sequences longer than --steps truncated");
  if (bad.count() == 0) return;
  say(dl::Level::kWarning,
      std::to_string(bad.count()) + " bad records left out:");
  for (const std::string& what : bad.examples()) say(dl::Level::kWarning, what);
}

void run(const Args& a, std::vector<std::string> arguments) {
  if (a.operands.empty())
    throw dl::Error{dl::Code::kUsage,
                    "want a format: idx, csv, svmlight, cifar or raw"};
  const std::string& wanted = a.operands[0];
  for (const std::string format : kFormats)
    if (wanted != format)
      a.options->refuse_section("Options for " + format, "is for " + format);
  if (wanted != "idx" && wanted != "raw")
    a.options->refuse({"no-labels"}, "is for idx and raw");
  if (!a.reader.regression)
    a.options->refuse({"targets"}, "is for --regression");
  if (a.no_labels)
    a.options->refuse({"classes", "regression"},
                      "does not go with --no-labels");
  if (a.csv.id.empty()) a.options->refuse({"id-bytes"}, "is for --id");
  if (a.reader.batch < 1)
    throw dl::Error{dl::Code::kUsage, "--batch must be positive"};
  if (a.max_bad < 0)
    throw dl::Error{dl::Code::kUsage, "--max-bad must not be negative"};
  if (a.json && a.output == "-")
    throw dl::Error{dl::Code::kUsage,
                    "--json wants -o FILE: standard output has the stream"};
  std::vector<std::string> inputs =
      dl::io::expand_operands({a.operands.begin() + 1, a.operands.end()});
  dl::io::refuse_overwriting(
      a.output, inputs.empty() ? std::vector<std::string>{"-"} : inputs);
  dl::data::Provenance step{kTool.name, DL_VERSION, std::move(arguments), {}};
  for (std::string& argument : a.options->from_environment())
    step.arguments.push_back(std::move(argument));
  // A pipe's reader compares nothing, and gets the same bytes each time.
  if (a.output != "-") step.inputs = dl::vectorize::digest_of(inputs);
  if (!a.force && dl::vectorize::is_current(a.output, step)) {
    dl::cli::log()(dl::Level::kInfo, "'" + a.output + "' is up to date");
    return;
  }
  dl::vectorize::BadRecords bad(a.max_bad);
  auto reader = open_reader(a, inputs, bad);
  dl::cli::Progress progress;
  std::int64_t examples = preprocess(
      *reader, dl::io::open_sink(a.output),
      a.no_provenance ? std::nullopt : std::optional(step),
      [&](std::int64_t n) {
        progress.update([&] { return std::to_string(n) + " examples"; });
      });
  report(a, bad, examples);
  if (const std::string warning = reader->warning(); !warning.empty())
    dl::cli::log()(dl::Level::kWarning, warning);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args, arguments); });
}
