// The outputs of dl-preprocess, and what is between them and the inputs.

#ifndef DL_TOOLS_DL_PREPROCESS_OUTPUTS_H_
#define DL_TOOLS_DL_PREPROCESS_OUTPUTS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/label_files.h"
#include "libcore/vectorize/recipe/share.h"
#include "libcore/vectorize/source/record_source.h"
#include "tools/dl-preprocess-options.h"

// Whether each part of the examples has an output of its own.
inline bool has_parts(const Args& a) { return !a.split.empty() || a.folds > 0; }

inline void check_parts(const Args& a) {
  constexpr std::int64_t kMostFolds = 1000;
  if (a.options->given("folds") && (a.folds < 2 || a.folds > kMostFolds))
    dl::bad_usage("--folds: want 2.." + std::to_string(kMostFolds));
  if (a.folds > 0) a.options->refuse({"split"}, "does not go with --folds");
  if (a.split.empty()) a.options->refuse({"group"}, "is for --split");
  if (!has_parts(a))
    a.options->refuse({"split-by"}, "is for --split and --folds");
  if (a.split_by != "time" && a.split_by != "key")
    dl::bad_usage("--split-by: want time or key, got " +
                  dl::in_quotes(a.split_by));
  if (!has_parts(a)) return;
  const std::string option = a.folds > 0 ? "--folds" : "--split";
  if (a.output == "-")
    dl::bad_usage(option + " wants -o FILE, for FILE-NAME of each share");
  if (a.null || a.list == "-" ||
      !std::ranges::all_of(a.operands, dl::io::names_file))
    dl::bad_usage(option +
                  " reads its inputs once for each share: want files and "
                  "folders, no command or standard input");
}

// Options that tell inputs and outputs apart.
inline void check_outputs(const Args& a) {
  check_parts(a);
  if (a.ledger.empty()) a.options->refuse({"by"}, "is for --ledger");
  if (!a.ledger.empty() && a.output == "-")
    dl::bad_usage("--ledger wants -o FILE, which is known to be complete");
  if (a.by != "name" && a.by != "digest")
    dl::bad_usage("--by: want name or digest, got '" + a.by + "'");
  if (!a.ledger.empty())
    a.options->refuse({"split", "folds", "part"}, "does not go with --ledger");
}

// Files of labels that are read beside these inputs.
inline std::vector<std::string> label_files_of(
    const Args& a, const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  if (a.csv.label_files.empty()) return files;
  for (const std::string& input : inputs)
    if (dl::io::names_file(input))
      files.push_back(
          dl::vectorize::LabelFiles::file_of(a.csv.label_files, input));
  return files;
}

// One that a run writes, and the examples that go there.
struct Output {
  std::string path, share;  // share: its name, or ""
  dl::vectorize::Share examples = {};
};

inline std::vector<dl::vectorize::NamedShare> shares_of(const Args& a) {
  using dl::vectorize::SeriesCut;
  const bool by_key = a.split_by == "key";
  if (a.folds > 0)
    return dl::vectorize::folds_of(
        a.folds, by_key ? SeriesCut::kKey : SeriesCut::kBlock);
  return dl::vectorize::parse_split(
      a.split, a.group, by_key ? SeriesCut::kKey : SeriesCut::kTime);
}

inline void tell_of_folds(const Args& a) {
  if (a.folds == 0) return;
  dl::cli::log()(
      dl::Level::kInfo,
      a.split_by == "key"
          ? "each fold has series of its own, drawn by a hash of their keys"
          : "folds follow one another in time and have no row in common: "
            "windows across a border are left out");
}

inline std::vector<Output> outputs_of(const Args& a) {
  if (!has_parts(a)) return {{a.output, ""}};
  std::vector<Output> all;
  for (const auto& [name, share] : shares_of(a))
    all.push_back(
        {dl::vectorize::output_of_share(a.output, name), name, share});
  return all;
}

// No output may be an input, nor another one.
inline void refuse_overwriting(const Args& a, std::vector<std::string> inputs) {
  const std::vector<std::string> labels = label_files_of(a, inputs);
  inputs.insert(inputs.end(), labels.begin(), labels.end());
  if (inputs.empty()) inputs.emplace_back("-");
  for (const std::string& input : {a.labels, a.recipe, a.list})
    if (!input.empty()) inputs.push_back(input);
  std::vector<std::string> outputs;
  for (const Output& output : outputs_of(a)) {
    dl::io::refuse_overwriting(output.path, inputs);
    outputs.push_back(output.path);
  }
  const auto refuse_beside = [&](const std::string& file, const char* option) {
    if (file.empty()) return;
    const std::string what = std::string("is the ") + option + " and also";
    for (const std::string& output : outputs)
      if (file == output)
        dl::bad_usage(std::string(option) + " and --output are the same file");
    dl::io::refuse_overwriting(file, inputs, what.c_str());
    dl::io::refuse_overwriting(file, outputs, what.c_str());
    outputs.push_back(file);
  };
  refuse_beside(a.bad_list, "--bad-list");
  refuse_beside(a.ledger, "--ledger");
  refuse_beside(a.network, "--network");
  if (!a.preview.empty()) {
    dl::io::refuse_overwriting(a.preview, inputs);
    outputs.push_back(a.preview);
  }
  if (a.format == "images")
    for (const std::string& output : outputs)
      dl::vectorize::refuse_picture_of(output, inputs);
}

#endif  // DL_TOOLS_DL_PREPROCESS_OUTPUTS_H_
