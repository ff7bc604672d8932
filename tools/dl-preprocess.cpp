// dl-preprocess - turn raw files into a DataSet stream
// For users: man/dl-preprocess.1.scd.  The formats: libcore/vectorize.

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
#include "libcore/vectorize/schema.h"
#include "tools/dl-preprocess-options.h"

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
    raw.examples = a.examples;
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

// end: behind the number of bad records.
void report_left_out(const dl::vectorize::BadRecords& bad, const char* end) {
  auto say = [](dl::Level level, const std::string& line) {
    dl::cli::log()(level, line);
  };
  auto count = [&](std::int64_t n, const char* what) {
    if (n > 0) say(dl::Level::kInfo, std::to_string(n) + what);
  };
  count(bad.skipped(), " rows with missing values left out");
  count(bad.filled(), " missing values filled in");
  count(bad.skipped_sequences(), " sequences longer than --steps left out");
  count(bad.truncated_sequences(), " sequences longer than --steps truncated");
  if (bad.examples().empty()) return;
  say(dl::Level::kWarning, std::to_string(bad.count()) + " bad records" + end);
  for (const std::string& what : bad.examples()) say(dl::Level::kWarning, what);
}

void report(const Args& a, const dl::vectorize::BadRecords& bad,
            std::int64_t examples) {
  if (!a.json) {
    dl::cli::log()(dl::Level::kDetail, std::to_string(examples) + " examples");
    report_left_out(bad, " left out:");
    return;
  }
  dl::Json json = {{"examples", examples},
                   {"skipped", bad.skipped()},
                   {"filled", bad.filled()},
                   {"sequences_skipped", bad.skipped_sequences()},
                   {"sequences_truncated", bad.truncated_sequences()},
                   {"bad", bad.count()},
                   {"bad_examples", bad.examples()}};
  std::cout << dl::dump_json(json) << '\n';
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
  if (wanted != "raw" && a.csv.id.empty())
    a.options->refuse({"id-bytes"}, "is for raw, and for csv with --id");
  if (a.options->given("id-bytes") &&
      (a.reader.id_bytes < 1 || a.reader.id_bytes > dl::vectorize::kMaxColumns))
    dl::bad_usage("--id-bytes: want 1.." +
                  std::to_string(dl::vectorize::kMaxColumns));
  if (a.options->given("examples") && a.examples < 1)
    dl::bad_usage("--examples must be positive");
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
  const auto current =
      a.force ? std::nullopt : dl::vectorize::current_examples(a.output, step);
  if (current) {
    dl::cli::log()(dl::Level::kInfo, "'" + a.output + "' is up to date");
    if (a.json)
      std::cout << dl::dump_json({{"examples", *current}, {"up_to_date", true}})
                << '\n';
    return;
  }
  dl::vectorize::BadRecords bad(a.max_bad);
  auto reader = open_reader(a, inputs, bad);
  dl::cli::Progress progress;
  std::int64_t examples = 0;
  try {
    examples = preprocess(
        *reader, dl::io::open_sink(a.output),
        a.no_provenance ? std::nullopt : std::optional(step),
        [&](std::int64_t n) {
          progress.update([&] { return std::to_string(n) + " examples"; });
        },
        a.examples);
  } catch (...) {
    report_left_out(bad, ":");  // it may be the reason
    throw;
  }
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
