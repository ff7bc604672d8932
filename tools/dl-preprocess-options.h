// The options of dl-preprocess.

#ifndef DL_TOOLS_DL_PREPROCESS_OPTIONS_H_
#define DL_TOOLS_DL_PREPROCESS_OPTIONS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/images.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/text.h"

inline constexpr std::array kFormats = {"images",   "csv",   "idx",
                                        "svmlight", "cifar", "raw"};

struct Args {
  std::string format;  // the first operand, taken off the others
  std::vector<std::string> operands;
  std::string output = "-";
  std::string variant = "10";
  bool force = false, no_labels = false, no_provenance = false, json = false;
  std::int64_t max_bad = 0, examples = 0;
  dl::vectorize::ReaderOptions reader;
  dl::vectorize::CsvOptions csv;
  dl::vectorize::SvmlightOptions svmlight;
  dl::vectorize::RawOptions raw;
  dl::vectorize::ImageOptions images;
  std::string recipe, bad_list, part, labels, preview, split, group, list,
      ledger;
  std::string by = "name";
  bool print_recipe = false, merge = false, null = false;
  std::int64_t threads = 0, retries = 0;
  const dl::cli::Options* options = nullptr;
};

inline void declare_common(dl::cli::Options& opt, Args& a) {
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
  opt.add("bad-list", &a.bad_list, "FILE",
          "where a line about each bad record goes");
  opt.add("examples", &a.examples, "N",
          "examples that the input has; another number is an error");
  opt.add("id-bytes", &a.reader.id_bytes, "N",
          "length of the longest id: images (256), csv (32); raw: each example "
          "ends with one");
  opt.add("part", &a.part, "I/N",
          "only every N-th block of --batch examples from block I on");
  opt.add("threads", &a.threads, "N", "threads that work, 0: every core");
  opt.flag("print-recipe", &a.print_recipe,
           "images and csv: show the recipe that the options say, and do "
           "nothing else");
  opt.flag("json", &a.json, "report on standard output as JSON (with -o)");
  opt.flag("no-provenance", &a.no_provenance,
           "do not record how the stream was made");
  opt.flag("no-labels", &a.no_labels,
           "images, idx and raw: the inputs are features alone");
}

inline void declare_images(dl::cli::Options& opt, Args& a) {
  opt.section("Options for images, and recipes");
  opt.add("size", &a.images.size, "WIDTHxHEIGHT", "size of an example");
  opt.add("fit", &a.images.fit, "WAY",
          "how pictures get to --size: crop (the default), pad, stretch");
  opt.add("shorter", &a.images.shorter, "N",
          "crop: scale the shorter side to N before the middle is cut out; 0: "
          "to --size");
  opt.add("interpolation", &a.images.interpolation, "FILTER",
          "nearest, bilinear (the default), bicubic or lanczos");
  opt.add("color", &a.images.color, "CHANNELS",
          "rgb (the default), grey or bgr");
  opt.add("max-pixels", &a.images.max_pixels, "N",
          "pixels of the largest picture that is read");
  opt.flag("scaled-decoding", &a.images.scaled_decoding,
           "make JPEG smaller while it is decoded: faster, other pixels");
  opt.add("label-from", &a.images.label_from, "COLUMN",
          "where the class is: folder (the default), name, path, or a column "
          "of --labels");
  opt.add("labels", &a.labels, "FILE",
          "CSV with a header: a row for each picture, its path first");
  opt.add("label-pattern", &a.images.label_pattern, "REGEX",
          "class of a picture: the part of its path that matches the "
          "parentheses of REGEX");
  opt.flag("webdataset", &a.images.webdataset,
           "files of one base name in a tar archive are an example");
  opt.add(
      "split", &a.split, "NAME=SHARE,...",
      "an output for each share, by a hash of the name: train=0.8,test=0.2");
  opt.add("group", &a.group, "REGEX",
          "split: the part of the path, in parentheses, that stays together");
  opt.add("list", &a.list, "FILE",
          "file that lists more inputs, a name a line; - for standard input");
  opt.flag(
      "null,0", &a.null,
      "names end with a zero byte, as of find -print0; from standard input "
      "without --list");
  opt.add("ledger", &a.ledger, "FILE",
          "take only inputs that are new since the runs that FILE tells of");
  opt.add(
      "by", &a.by, "WAY",
      "ledger: inputs are known by name (with size and time), or by digest");
  opt.add("retries", &a.retries, "N",
          "times that a pipe: command is started again when it fails");
  opt.add("recipe", &a.recipe, "FILE",
          "how examples are made, in the place of a format");
  opt.add("preview", &a.preview, "FILE",
          "draw the first pictures (PNG), print their labels and exit");
}

inline void declare_others(dl::cli::Options& opt, Args& a) {
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
          "rows with one value in this column are the steps of one example");
  opt.add("steps", &a.csv.steps, "N", "length of the longest sequence");
  opt.add("longer", &a.csv.longer, "RULE",
          "sequences that are longer: fail, truncate or skip");
  opt.flag("per-step", &a.csv.per_step,
           "each step has a label of its own; else the last row's is that of "
           "the whole sequence");
  opt.add("id", &a.csv.id, "COLUMN",
          "column that names an example, kept beside features and labels");
  opt.add("weight", &a.csv.weight, "COLUMN",
          "column that says what the label of a row counts in learning");
  opt.section("Options for fit");
  opt.flag("merge", &a.merge, "the inputs are fitted recipes of parts");
  opt.section("Options for svmlight");
  opt.add("features", &a.svmlight.features, "N", "length of an example");
  opt.flag("zero-based", &a.svmlight.zero_based, "indices start at 0");
  opt.flag("multilabel", &a.svmlight.multilabel,
           "labels are lists of classes, as 1,3");
  opt.section("Options for cifar");
  opt.add("variant", &a.variant, "NAME",
          "CIFAR variant: 10, 100, or 100-coarse with its 20 superclasses");
  opt.section("Options for raw");
  opt.add("targets", &a.raw.targets, "N",
          "regression: numbers to predict for each example");
}

// about_images: for `dl-preprocess images --help` alone, which begins with what
// is of pictures and leaves the other formats out.
inline void declare(dl::cli::Options& opt, Args& a, bool about_images) {
  a.options = &opt;
  if (about_images) declare_images(opt, a);
  if (about_images) opt.section("Options for all formats");
  declare_common(opt, a);
  if (!about_images) declare_images(opt, a);
  if (!about_images) declare_others(opt, a);
  opt.rest(&a.operands);
}

// "2/3" as {2, 3}; "": {1, 1}.
inline std::pair<std::int64_t, std::int64_t> part_of(const std::string& text) {
  std::int64_t part = 1, parts = 1;
  const auto numbers = dl::vectorize::split(text.empty() ? "1/1" : text, '/');
  if (numbers.size() != 2 || !dl::vectorize::parse_integer(numbers[0], part) ||
      !dl::vectorize::parse_integer(numbers[1], parts) || part < 1 ||
      part > parts || parts > 1'000'000)
    dl::bad_usage("--part: want I/N, from 1/N to N/N, got '" + text + "'");
  return {part, parts};
}

// Takes the format off the operands.
inline void take_format(Args& a) {
  if (!a.recipe.empty()) {
    if (!a.operands.empty() &&
        std::ranges::find(kFormats, a.operands[0]) != kFormats.end() &&
        !std::filesystem::exists(a.operands[0]))
      dl::bad_usage("--recipe takes the place of a format: leave out '" +
                    a.operands[0] + "'");
    a.format = "images";
    return;
  }
  constexpr const char* kAll = "images, csv, idx, svmlight, cifar or raw";
  if (a.operands.empty()) dl::bad_usage(std::string("want a format: ") + kAll);
  a.format = a.operands.front();
  a.operands.erase(a.operands.begin());
  if (std::ranges::find(kFormats, a.format) != kFormats.end()) return;
  const std::string near =
      dl::nearest(a.format, {kFormats.begin(), kFormats.end()});
  dl::bad_usage("unknown format '" + a.format + "' (" +
                (near.empty() ? std::string("want ") + kAll
                              : "did you mean '" + near + "'?") +
                ")");
}

inline void check_options(const Args& a) {
  const std::string& wanted = a.format;
  const auto refuse = [&](const std::vector<std::string>& names,
                          const char* why) { a.options->refuse(names, why); };
  a.options->refuse_section("Options for fit", "is for fit");
  for (const std::string format : kFormats)
    if (wanted != format && format != "images")
      a.options->refuse_section("Options for " + format, "is for " + format);
  if (wanted != "images")
    a.options->refuse_section("Options for images, and recipes",
                              "is for images");
  if (wanted != "images" && wanted != "csv")
    refuse({"print-recipe"}, "is for images and csv");
  if (wanted == "images") refuse({"shape", "dtype"}, "is not for images");
  if (!a.preview.empty())
    refuse({"output", "force", "json"}, "does not go with --preview");
  if (a.reader.regression)
    refuse({"label-pattern"}, "does not go with --regression");
  if (a.images.webdataset) refuse({"labels"}, "does not go with --webdataset");
  if (!a.recipe.empty())
    refuse({"size", "fit", "shorter", "interpolation", "color", "max-pixels",
            "scaled-decoding", "classes", "id-bytes", "label-from",
            "label-pattern", "webdataset", "regression"},
           "does not go with --recipe, which says it");
  if (wanted != "idx" && wanted != "raw" && wanted != "images")
    refuse({"no-labels"}, "is for images, idx and raw");
  if (!a.reader.regression) refuse({"targets"}, "is for --regression");
  if (a.no_labels)
    refuse({"classes", "regression", "label-from", "label-pattern", "labels"},
           "does not go with --no-labels");
  if (wanted != "raw" && wanted != "images" && a.csv.id.empty())
    refuse({"id-bytes"}, "is for images, for raw, and for csv with --id");
  if (a.options->given("id-bytes") &&
      (a.reader.id_bytes < 1 || a.reader.id_bytes > dl::vectorize::kMaxColumns))
    dl::bad_usage("--id-bytes: want 1.." +
                  std::to_string(dl::vectorize::kMaxColumns));
  if (a.options->given("examples") && a.examples < 1)
    dl::bad_usage("--examples must be positive");
  if (a.reader.batch < 1) dl::bad_usage("--batch must be positive");
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  if (a.threads < 0 || a.threads > 1024)
    dl::bad_usage("--threads: want 0..1024, got " + std::to_string(a.threads));
  if (a.retries < 0 || a.retries > 1000)
    dl::bad_usage("--retries: want 0..1000, got " + std::to_string(a.retries));
  if (a.json && a.output == "-")
    dl::bad_usage("--json wants -o FILE: standard output has the stream");
}

#endif  // DL_TOOLS_DL_PREPROCESS_OPTIONS_H_
