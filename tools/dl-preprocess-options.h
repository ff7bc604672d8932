// The options of dl-preprocess.

#ifndef DL_TOOLS_DL_PREPROCESS_OPTIONS_H_
#define DL_TOOLS_DL_PREPROCESS_OPTIONS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/images.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/series/propose_series.h"
#include "libcore/vectorize/text.h"

inline constexpr std::array kFormats = {"images",   "table", "series",
                                        "csv",      "ts",    "idx",
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
  dl::vectorize::SeriesChoices series;
  std::int64_t series_window = 0, stride = 1, horizon = 1, gap = 0, season = 1,
               difference = 0;
  std::string time, time_format, key, every, resample, gaps, lags;
  std::string part = "1/1";
  std::string recipe, bad_list, labels, preview, split, group, list, ledger;
  std::int64_t folds = 0;
  std::string split_by = "time";
  std::string by = "name", decimal, query, table, widths, network;
  // Recipe of table and series, once it is known.
  std::optional<dl::vectorize::Recipe> made_recipe;
  bool print_recipe = false, merge = false, null = false;
  std::int64_t threads = 0, retries = 0;
  double bound = 0.2;
  const dl::cli::Options* options = nullptr;
};

inline void declare_common(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "FILE",
          "output file, or - for standard output");
  opt.flag("force,f", &a.force, "write FILE even if nothing has changed");
  opt.add("batch", &a.reader.batch, "N", "examples in a record");
  opt.add("classes", &a.reader.classes, "LIST",
          "class names, separated by commas; or K, where labels are the "
          "integers 0 to K-1");
  opt.flag("regression", &a.reader.regression,
           "labels are numbers to predict, not classes");
  opt.add("shape", &a.reader.shape, "LIST", "shape of an example, as 8,8,1");
  opt.add("dtype", &a.reader.dtype, "TYPE",
          "type to store features in, such as u8 or f32; with raw, the type "
          "that the input has");
  opt.add("max-bad", &a.max_bad, "N",
          "bad records to leave out before failing");
  opt.add("bad-list", &a.bad_list, "FILE",
          "file to write a line to about each bad record");
  opt.add("examples", &a.examples, "N",
          "number of examples that the input must have; 0: any");
  opt.add("id-bytes", &a.reader.id_bytes, "N",
          "longest id, in bytes; 0: 256 for images, 32 for csv; raw: length of "
          "the id that ends each record, 0: none");
  opt.add("part", &a.part, "I/N",
          "process part I of N (1 to N) alone, to share the work: every N-th "
          "block of --batch examples");
  opt.add("store", &a.reader.store, "FORM",
          "form in which the stream has features: u8 (pixels), jpeg or smart "
          "(jpeg unless small) of images; padded or ragged of csv --sequence; "
          "default: the first");
  opt.add("threads", &a.threads, "N", "worker threads; 0: one for each core");
  opt.flag("print-recipe", &a.print_recipe,
           "images, table, series and csv: print the recipe (JSON) that the "
           "options, "
           "or the rows of a table, say, and exit");
  opt.add("network", &a.network, "FILE",
          "table, series, csv and --recipe: write a network to begin with, for "
          "examples that are rows of numbers or windows, to FILE (JSON)");
  opt.flag(
      "json", &a.json,
      "print the report as JSON on standard output; data go to the file of -o");
  opt.flag("no-provenance", &a.no_provenance,
           "do not record how the stream was made");
  opt.flag("no-labels", &a.no_labels,
           "images, idx and raw: the inputs are features alone");
}

inline void declare_images(dl::cli::Options& opt, Args& a) {
  opt.section("Options for images, and recipes");
  opt.add("size", &a.images.size, "WIDTHxHEIGHT",
          "scale and crop pictures to this size, in pixels; see --fit");
  opt.add(
      "fit", &a.images.fit, "WAY",
      "way to bring a picture to --size: crop (the default), pad or stretch");
  opt.add("shorter", &a.images.shorter, "N",
          "with --fit crop: scale the shorter side to N, then cut --size out "
          "of the middle; 0: scale to cover --size");
  opt.add("interpolation", &a.images.interpolation, "FILTER",
          "nearest, bilinear (the default), bicubic or lanczos");
  opt.add("color", &a.images.color, "CHANNELS",
          "channels that pictures get: rgb (the default), grey or bgr");
  opt.add("max-pixels", &a.images.max_pixels, "N",
          "most pixels of a picture (width times height); a larger one is a "
          "bad record");
  opt.flag("scaled-decoding", &a.images.scaled_decoding,
           "make JPEG smaller while it is decoded: faster, other pixels");
  opt.add("quality", &a.images.quality, "N",
          "with --store jpeg or smart: JPEG quality of pictures that must be "
          "changed");
  opt.add("label-from", &a.images.label_from, "COLUMN",
          "class of a picture: its folder (the default), its file name, its "
          "path, or a column of --labels");
  opt.add("labels", &a.labels, "FILE",
          "CSV table of pictures' labels with a header; its first column is "
          "the path of a picture");
  opt.add("label-pattern", &a.images.label_pattern, "REGEX",
          "class of a picture: the part of its path that matches the "
          "parentheses of REGEX");
  opt.flag("webdataset", &a.images.webdataset,
           "tar archives in WebDataset layout: files with the same base name "
           "are one example");
  opt.add("split", &a.split, "NAME=SHARE,...",
          "write one output for each named share, by a hash of an example's "
          "path, such as train=0.8,test=0.2");
  opt.add("group", &a.group, "REGEX",
          "with --split: keep examples together whose path has the same text "
          "in the parentheses of REGEX");
  opt.add("folds", &a.folds, "K",
          "write K parts of series for cross-validation, of one size, fold1 to "
          "foldK, which have no row in common; 0: off");
  opt.add(
      "split-by", &a.split_by, "WAY",
      "way to divide series by --split and --folds: time (the first part has "
      "the first rows) or key (parts have whole series)");
  opt.add("list", &a.list, "FILE",
          "file that lists more inputs, a name a line; - for standard input");
  opt.flag("null,0", &a.null,
           "names in the list end with a zero byte, as find -print0 writes "
           "them; reads standard input without --list");
  opt.add("ledger", &a.ledger, "FILE",
          "take only inputs that are not in FILE, and enter them there: for "
          "runs that repeat");
  opt.add("by", &a.by, "WAY",
          "with --ledger: way to tell that an input was taken before: name "
          "(with size and time) or digest");
  opt.add("retries", &a.retries, "N",
          "times to run the command of a pipe: input again when it fails");
  opt.add("recipe", &a.recipe, "FILE",
          "recipe (JSON) that says how examples are made, in place of a format "
          "and its options");
  opt.add("preview", &a.preview, "FILE",
          "write a picture of examples of every class to FILE (PNG), print "
          "their labels and exit");
}

inline void declare_series(dl::cli::Options& opt, Args& a) {
  opt.section("Options for series");
  opt.add("window", &a.series_window, "N", "rows of an example");
  opt.add("stride", &a.stride, "N", "rows from one window to the next");
  opt.add("horizon", &a.horizon, "N",
          "rows to predict behind a window; 0: its last row");
  opt.add("gap", &a.gap, "N",
          "rows between a window and the first that is predicted");
  opt.add("time", &a.time, "COLUMN",
          "column with the time, a date or a number, by which rows are sorted");
  opt.add("time-format", &a.time_format, "FORMAT",
          "form of the time, as %Y%m%d (default: as the rows show), or number");
  opt.add("key", &a.key, "COLUMN", "column that tells several series apart");
  opt.add("known", &a.series.known, "COLUMNS",
          "columns that are known ahead, as holidays are");
  opt.add("static", &a.series.fixed, "COLUMNS",
          "columns with one value in all rows of a series");
  opt.add("calendar", &a.series.calendar, "PARTS",
          "parts of the time to add as features, such as hour,weekday,month");
  opt.add("every", &a.every, "STEP",
          "bring rows to steps of one length, as 15min, 1h, 1d, 1w or 1mo");
  opt.add("resample", &a.resample, "WAY",
          "number of a step of --every: mean (the default), last, sum or "
          "interpolate");
  opt.add("gaps", &a.gaps, "WAY",
          "treatment of missing numbers: cut (no window has them, the "
          "default), interpolate, previous or fail");
  opt.add("lags", &a.lags, "ROWS",
          "add what is predicted so many rows before as features, such as "
          "24,168");
  opt.add("difference", &a.difference, "N",
          "predict differences from N rows before; forecasts are of the "
          "numbers themselves");
  opt.add("season", &a.season, "N",
          "rows of a season, for the naive forecast to compare with");
}

inline void declare_others(dl::cli::Options& opt, Args& a) {
  declare_series(opt, a);
  opt.section("Options for table, series and csv");
  opt.add("label", &a.csv.label, "COLUMNS",
          "columns to predict, separated by commas: names, or numbers from 1 "
          "(-1: the last); none: no label");
  opt.flag("header", &a.csv.header, "the first row names the columns");
  opt.add("delimiter", &a.csv.delimiter, "CHAR",
          "character that separates fields");
  opt.add("decimal", &a.decimal, "CHAR",
          "table: decimal separator of numbers, . or , (default: as the rows "
          "show)");
  opt.add("encoding", &a.csv.encoding, "NAME",
          "encoding of the text, such as latin1, windows-1252 or utf-16le "
          "(default: utf-8, or as a byte order mark says)");
  opt.add("widths", &a.widths, "LIST",
          "widths of columns in characters, as 10,3, of a first line with "
          "names, or as name:10,age:3");
  opt.add("query", &a.query, "SQL",
          "table: query of an SQLite database, whose rows are the table");
  opt.add("table", &a.table, "NAME",
          "table: table of an SQLite database, in place of a query");
  opt.add(
      "drop", &a.csv.drop, "COLUMNS",
      "columns to leave out, separated by commas: names, or numbers from 1");
  opt.add("missing", &a.csv.missing, "RULE",
          "treatment of missing values: fail, skip (the row) or fill:NUMBER");
  opt.add("na", &a.csv.na, "WORDS",
          "words that count as missing values, beside the empty field");
  opt.add(
      "sequence", &a.csv.sequence, "COLUMN",
      "rows with one value in this column are the steps of one example; "
      "or file: those of a file, lines:N so many of a file, line:TEXT those "
      "up to a line TEXT, line: up to an empty one");
  opt.add("label-files", &a.csv.label_files, "FOLDER",
          "with --sequence file: labels of each file are in the file of its "
          "name in FOLDER");
  opt.add("align", &a.csv.align, "WAY",
          "with --label-files and --per-step: steps that have labels where "
          "these are fewer, from the start or up to the end");
  opt.add("steps", &a.csv.steps, "N",
          "length of the longest sequence of csv, required with --sequence, or "
          "of ts; shorter ones are padded, for longer ones see --longer");
  opt.add("longer", &a.csv.longer, "RULE",
          "treatment of sequences of more than --steps: fail, truncate or skip "
          "(the sequence)");
  opt.flag("per-step", &a.csv.per_step,
           "with --sequence: each step has a label; without it the last row's "
           "label is that of the sequence");
  opt.add(
      "id", &a.csv.id, "COLUMN",
      "column with the name of each example, kept beside features and labels");
  opt.add("weight", &a.csv.weight, "COLUMN",
          "column with the weight of each row in the loss");
  opt.section("Options for fit");
  opt.flag("merge", &a.merge,
           "merge recipes that were each fitted on a part of the data, given "
           "as inputs, into one");
  opt.section("Options for compare");
  opt.add("bound", &a.bound, "PSI",
          "population stability index above which a column has drifted");
  opt.section("Options for svmlight");
  opt.add("features", &a.svmlight.features, "N",
          "number of features of an example");
  opt.flag("zero-based", &a.svmlight.zero_based,
           "indices of features start at 0 instead of 1");
  opt.flag("multilabel", &a.svmlight.multilabel,
           "labels are lists of classes, as 1,3");
  opt.section("Options for cifar");
  opt.add("variant", &a.variant, "NAME",
          "CIFAR variant: 10, 100, or 100-coarse with its 20 superclasses");
  opt.section("Options for raw");
  opt.add("targets", &a.raw.targets, "N",
          "with --regression: numbers to predict for each example");
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

// "2/3" as {2, 3}.
inline std::pair<std::int64_t, std::int64_t> part_of(const std::string& text) {
  std::int64_t part = 1, parts = 1;
  const auto numbers = dl::vectorize::split(text, '/');
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
  constexpr const char* kAll =
      "images, table, series, csv, ts, idx, svmlight, cifar or raw";
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
  a.options->refuse_section("Options for compare", "is for compare");
  for (const std::string format : {"svmlight", "cifar", "raw"})
    if (wanted != format)
      a.options->refuse_section("Options for " + format, "is for " + format);
  const bool is_table = wanted == "table" || wanted == "series";
  if (wanted == "ts")
    refuse({"label", "header", "delimiter", "decimal", "encoding", "widths",
            "drop", "missing", "na", "sequence", "longer", "per-step", "id",
            "weight", "label-files", "align"},
           "is for table, series and csv");
  else if (!is_table && wanted != "csv")
    a.options->refuse_section("Options for table, series and csv",
                              "is for table, series and csv");
  if (wanted != "series")
    a.options->refuse_section("Options for series", "is for series");
  if (wanted != "series" && a.recipe.empty())
    refuse({"folds", "split-by"}, "is for series");
  if (!a.decimal.empty() && a.decimal != "." && a.decimal != ",")
    dl::bad_usage("--decimal: want . or , got '" + a.decimal + "'");
  if (wanted == "csv") refuse({"decimal", "widths"}, "is for table and series");
  if (wanted == "csv" || wanted == "series")
    refuse({"query", "table"}, "is for table");
  if (wanted == "series")
    refuse({"id", "regression", "part"}, "is not for series");
  if (is_table) {
    refuse({"header", "missing", "sequence", "steps", "longer", "per-step",
            "weight", "label-files", "align"},
           "is for csv");
    refuse({"shape", "dtype", "id-bytes"}, "is not for table and series");
  }
  if (wanted == "series") {
    refuse({"size",
            "fit",
            "shorter",
            "interpolation",
            "color",
            "max-pixels",
            "scaled-decoding",
            "quality",
            "label-from",
            "labels",
            "label-pattern",
            "webdataset",
            "group",
            "list",
            "null",
            "ledger",
            "by",
            "retries",
            "recipe",
            "preview"},
           "is for images");
  } else if (wanted != "images") {
    a.options->refuse_section("Options for images, and recipes",
                              "is for images");
  }
  if (wanted != "images" && wanted != "csv" && !is_table)
    refuse({"print-recipe"}, "is for images, table, series and csv");
  if (wanted != "csv" && !is_table && a.recipe.empty())
    refuse({"network"}, "is for table, series, csv and --recipe");
  if (wanted == "images") refuse({"shape", "dtype"}, "is not for images");
  if (wanted == "ts") refuse({"shape", "dtype", "part"}, "is not for ts");
  if (!a.preview.empty())
    refuse({"output", "force", "json", "network"},
           "does not go with --preview");
  if (a.print_recipe) refuse({"network"}, "does not go with --print-recipe");
  if (a.reader.regression)
    refuse({"label-pattern"}, "does not go with --regression");
  if (a.reader.store != "jpeg" && a.reader.store != "smart")
    refuse({"quality"}, "is for --store jpeg and smart");
  if (wanted != "images" && a.csv.sequence.empty())
    refuse({"store"}, "is for images, and for csv with --sequence");
  if (a.images.webdataset) refuse({"labels"}, "does not go with --webdataset");
  if (!a.recipe.empty())
    refuse({"size", "fit", "shorter", "interpolation", "color", "max-pixels",
            "scaled-decoding", "store", "quality", "classes", "id-bytes",
            "label-from", "label-pattern", "webdataset", "regression"},
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
  if (a.reader.store == "jpeg" && a.images.color == "bgr")
    dl::bad_usage("--store jpeg is for --color rgb and grey");
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
