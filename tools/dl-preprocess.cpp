// dl-preprocess - turn raw files into a DataSet stream
// For users: man/dl-preprocess.1.scd.  The formats: libcore/vectorize.

#include <malloc.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/rate.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/repeated.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/draw_examples.h"
#include "libcore/vectorize/preprocess.h"
#include "libcore/vectorize/reader.h"
#include "tools/dl-preprocess-analyze.h"
#include "tools/dl-preprocess-compare.h"
#include "tools/dl-preprocess-fit.h"
#include "tools/dl-preprocess-network.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-outputs.h"
#include "tools/dl-preprocess-readers.h"
#include "tools/dl-preprocess-report.h"
#include "tools/dl-preprocess-table.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-preprocess",
    .summary = "Turn raw files into a DataSet stream.",
    .usage =
        "dl-preprocess FORMAT [OPTION]... [INPUT]...\n"
        "dl-preprocess fit [OPTION]... RECIPE [INPUT]...\n"
        "dl-preprocess fit --merge [OPTION]... FITTED...\n"
        "dl-preprocess analyze [OPTION]... TABLE...\n"
        "dl-preprocess compare [OPTION]... TABLE TABLE",
    .examples =
        "dl-preprocess images --size 224x224 photos/ -o photos.dls\n"
        "dl-preprocess idx train-images.gz train-labels.gz -o train.dls\n"
        "dl-preprocess table --label species iris.csv -o iris.dls\n"
        "dl-preprocess csv --header --label species iris.csv | dl-shard -n 4\n"
        "dl-preprocess cifar 'data_batch_*.bin' | dl-shard -n 16 -o cifar",
    .on_kill = dl::io::remove_unfinished,
};

// Whether there is nothing to do, which is reported.
bool is_current(const Args& a, const std::vector<Output>& outputs,
                const dl::data::Provenance& step) {
  if (a.force || !a.ledger.empty() || !a.preview.empty() || lacks_network(a))
    return false;
  std::int64_t examples = 0;
  for (const Output& output : outputs) {
    const auto current = dl::vectorize::current_examples(output.path, step);
    if (!current) return false;
    examples += *current;
  }
  report_up_to_date(a, examples, "'" + a.output + "' is up to date");
  return true;
}

// One pass over the inputs.
std::int64_t make(const Args& a, dl::vectorize::Reader& reader,
                  std::unique_ptr<dl::io::Sink> sink,
                  const dl::data::Provenance& step, std::int64_t total) {
  dl::cli::Progress progress;
  dl::cli::Rate rate;
  return preprocess(
      reader, std::move(sink),
      a.no_provenance ? std::nullopt : std::optional(step),
      [&](std::int64_t n) {
        progress.update([&] {
          return rate.line(n, "examples", {reader.examples(), total},
                           reader.bytes());
        });
      },
      a.examples, threads_of(a));
}

void run(Args& a, std::vector<std::string> arguments) {
  a.options->refuse_empty({"na"});
  if (is_fit(a)) {
    dl::vectorize::BadRecords bad(a.max_bad);
    run_fit(a, bad);
    return report_left_out(bad, " left out:");
  }
  if (is_analyze(a)) return run_analyze(a);
  if (is_compare(a)) return run_compare(a);
  take_format(a);
  check_options(a);
  check_outputs(a);
  std::vector<std::string> inputs = dl::io::expand_operands(a.operands);
  if (a.print_recipe) {
    if (reads_twice(a)) keep_standard_input(inputs);
    std::cout << shown_recipe(a, inputs).dump(2) << '\n';
    return;
  }
  const std::string again = dl::io::repeated(inputs);
  if (!again.empty() && a.format != "idx")  // pairs may share a file
    dl::cli::log()(dl::Level::kWarning,
                   "warning: " + again + ", and its examples come twice");
  const std::vector<Output> outputs = outputs_of(a);
  refuse_overwriting(a, inputs);
  dl::data::Provenance step{kTool.name, DL_VERSION, std::move(arguments), {}};
  for (std::string& argument : a.options->from_environment())
    step.arguments.push_back(std::move(argument));
  // A pipe's reader compares nothing, and gets the same bytes each time.
  if (a.output != "-" && a.list.empty() && !a.null)
    step.inputs = dl::vectorize::digest_of(files_of(a, inputs));
  if (is_current(a, outputs, step)) return;
  if (reads_twice(a)) keep_standard_input(inputs);
  if (a.format == "table") a.made_recipe = fitted_table(a, inputs);
  if (a.format == "series")
    a.made_recipe = fitted(inferred_series(a, inputs), a, inputs);
  const auto ledger = open_ledger(a);
  const auto list =
      a.bad_list.empty() ? nullptr : dl::io::open_sink(a.bad_list);
  dl::vectorize::BadRecords bad(a.max_bad, [&](const std::string& what) {
    const std::string line = what + "\n";
    if (list) list->write(std::as_bytes(std::span(line)));
  });
  std::unique_ptr<dl::vectorize::Reader> reader;
  if (!a.preview.empty()) {
    reader = open_reader(a, inputs, Output{}, nullptr, bad);
    std::cout << draw_examples(*reader, a.preview);
    return report_left_out(bad, " left out:");
  }
  tell_of_folds(a);
  dl::io::SinkGroup group;
  Shares shares;
  try {
    for (const Output& output : outputs) {
      if (ledger) ledger->begin();
      reader = open_reader(a, inputs, output, ledger.get(), bad);
      if (a.made_recipe && a.network.empty()) report_shape(*reader);
      check_network(a, *reader);
      auto sink = has_parts(a) ? group.open(output.path)
                               : dl::io::open_sink(output.path);
      if (ledger)
        sink = ledger->entering(std::move(sink),
                                [&] { return reader->metadata(); });
      shares.emplace_back(output.share, make(a, *reader, std::move(sink), step,
                                             total_of(a, inputs)));
    }
    if (has_parts(a)) group.publish();
  } catch (const dl::Error& e) {
    report_left_out(bad, ":");  // it may be the reason
    if (list && e.code() != dl::Code::kUsage) list->close();
    const bool is_data = e.code() == dl::Code::kData;
    if (is_data && enter_bad(a, ledger.get(), reader.get(), bad))
      report_up_to_date(a, 0, "all that is new is bad: no stream is written");
    else if (!is_data || !ledger || ledger->taken() > 0 || bad.count() > 0)
      throw;
    else
      report_up_to_date(a, 0, "there is nothing new");
    return report_ledger(*ledger);
  }
  if (list) list->close();
  report(a, *reader, bad, shares);
  write_network(a, *reader, shares);
  if (ledger) report_ledger(*ledger);
  if (const std::string warning = reader->warning(); !warning.empty())
    dl::cli::log()(dl::Level::kWarning, warning);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // The memory of a record is taken again for a later one, not given back.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  Args args;
  std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  const auto has = [&](const char* word) {
    return std::ranges::find(arguments, word) != arguments.end();
  };
  const bool about_images = has("--help") && has("images");
  return dl::cli::run_tool(
      kTool, argc, argv,
      [&](dl::cli::Options& o) { declare(o, args, about_images); },
      [&] { run(args, arguments); });
}
