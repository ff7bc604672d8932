// dl-preprocess - turn raw files into a DataSet stream
// For users: man/dl-preprocess.1.scd.  The formats: libcore/vectorize.

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/parallel.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/draw_examples.h"
#include "libcore/vectorize/preprocess.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/recipe_reader.h"
#include "tools/dl-preprocess-fit.h"
#include "tools/dl-preprocess-options.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-preprocess",
    .summary = "Turn raw files into a DataSet stream.",
    .usage =
        "dl-preprocess FORMAT [OPTION]... [INPUT]...\n"
        "dl-preprocess fit [OPTION]... RECIPE INPUT... -o FITTED",
    .examples =
        "dl-preprocess images --size 224x224 photos/ -o photos.dls\n"
        "dl-preprocess idx train-images.gz train-labels.gz -o train.dls\n"
        "dl-preprocess csv --header --label species iris.csv | dl-shard -n 4\n"
        "dl-preprocess cifar 'data_batch_*.bin' | dl-shard -n 16 -o cifar",
    .on_kill = dl::io::remove_unfinished,
};

// By a recipe.
std::unique_ptr<dl::vectorize::Reader> open_by_recipe(
    const Args& a, const std::vector<std::string>& inputs,
    dl::vectorize::BadRecords& bad) {
  const dl::vectorize::Recipe recipe = recipe_of(a);
  for (const std::string& doubt : recipe.doubts())
    dl::cli::log()(dl::Level::kWarning, doubt);
  if (inputs.empty() && !recipe.is_of_tables())
    dl::bad_usage("want a folder of pictures, pictures, or a tar archive");
  dl::vectorize::RecipeOptions options;
  options.batch = a.reader.batch;
  options.threads = a.threads;
  options.labels = !a.no_labels;
  options.table = a.labels;
  options.index = bad.tolerant();
  std::tie(options.part, options.parts) = part_of(a.part);
  return open_recipe(recipe, inputs, options, bad);
}

int threads_of(const Args& a) {
  return static_cast<int>(a.threads > 0 ? a.threads : dl::available_cores());
}

std::unique_ptr<dl::vectorize::Reader> open_reader(
    const Args& a, const std::vector<std::string>& inputs,
    dl::vectorize::BadRecords& bad) {
  const std::string& format = a.format;
  if (format == "images") return open_by_recipe(a, inputs, bad);
  dl::vectorize::ReaderOptions options = a.reader;
  options.threads = threads_of(a);
  std::tie(options.part, options.parts) = part_of(a.part);
  if (format == "idx") return open_idx(inputs, !a.no_labels, options, bad);
  if (format == "csv") return open_csv(inputs, options, a.csv, bad);
  if (format == "svmlight")
    return open_svmlight(inputs, options, a.svmlight, bad);
  if (format == "cifar") return open_cifar(inputs, a.variant, options, bad);
  dl::vectorize::RawOptions raw = a.raw;
  raw.labels = !a.no_labels;
  raw.examples = a.examples;
  return open_raw(inputs, options, raw, bad);
}

// Tables say themselves which columns they have.
dl::Json shown_recipe(const Args& a, const std::vector<std::string>& inputs) {
  if (a.format == "images") return recipe_of(a).to_json();
  dl::vectorize::BadRecords bad(0);
  return known_recipe(open_reader(a, inputs, bad)->metadata().recipe);
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

void run(Args& a, std::vector<std::string> arguments) {
  if (is_fit(a)) {
    dl::vectorize::BadRecords bad(a.max_bad);
    run_fit(a, bad);
    return report_left_out(bad, " left out:");
  }
  take_format(a);
  check_options(a);
  std::vector<std::string> inputs = dl::io::expand_operands(a.operands);
  if (a.print_recipe) {
    std::cout << shown_recipe(a, inputs).dump(2) << '\n';
    return;
  }
  refuse_overwriting(a, inputs);
  dl::data::Provenance step{kTool.name, DL_VERSION, std::move(arguments), {}};
  for (std::string& argument : a.options->from_environment())
    step.arguments.push_back(std::move(argument));
  // A pipe's reader compares nothing, and gets the same bytes each time.
  if (a.output != "-") step.inputs = dl::vectorize::digest_of(inputs);
  const auto current = a.force || !a.preview.empty()
                           ? std::nullopt
                           : dl::vectorize::current_examples(a.output, step);
  if (current) {
    dl::cli::log()(dl::Level::kInfo, "'" + a.output + "' is up to date");
    if (a.json)
      std::cout << dl::dump_json({{"examples", *current}, {"up_to_date", true}})
                << '\n';
    return;
  }
  const auto list =
      a.bad_list.empty() ? nullptr : dl::io::open_sink(a.bad_list);
  dl::vectorize::BadRecords bad(a.max_bad, [&](const std::string& what) {
    const std::string line = what + "\n";
    if (list) list->write(std::as_bytes(std::span(line)));
  });
  auto reader = open_reader(a, inputs, bad);
  if (!a.preview.empty()) {
    std::cout << draw_examples(*reader, a.preview);
    return report_left_out(bad, " left out:");
  }
  dl::cli::Progress progress;
  std::int64_t examples = 0;
  try {
    examples = preprocess(
        *reader, dl::io::open_sink(a.output),
        a.no_provenance ? std::nullopt : std::optional(step),
        [&](std::int64_t n) {
          progress.update([&] { return std::to_string(n) + " examples"; });
        },
        a.examples, threads_of(a));
  } catch (...) {
    report_left_out(bad, ":");  // it may be the reason
    if (list) list->close();
    throw;
  }
  if (list) list->close();
  report(a, bad, examples);
  if (const std::string warning = reader->warning(); !warning.empty())
    dl::cli::log()(dl::Level::kWarning, warning);
}

}  // namespace

int main(int argc, char** argv) {
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
