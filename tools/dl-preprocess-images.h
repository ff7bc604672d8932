// The inputs of dl-preprocess that a recipe makes examples of.

#ifndef DL_TOOLS_DL_PREPROCESS_IMAGES_H_
#define DL_TOOLS_DL_PREPROCESS_IMAGES_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/recipe/recipe_reader.h"
#include "libcore/vectorize/source/ledger.h"
#include "tools/dl-preprocess-fit.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-outputs.h"

// Null without --ledger.
inline std::unique_ptr<dl::vectorize::Ledger> open_ledger(const Args& a) {
  if (a.ledger.empty()) return nullptr;
  using dl::vectorize::LedgerBy;
  auto ledger = std::make_unique<dl::vectorize::Ledger>(
      a.ledger, a.by == "name" ? LedgerBy::kName : LedgerBy::kDigest, a.output);
  ledger->check_recipe(recipe_of(a).to_json());
  if (!a.reader.classes.empty() && !ledger->classes().empty() &&
      dl::vectorize::ClassLabels(a.reader.classes).names() != ledger->classes())
    throw dl::Error{dl::Code::kConfig,
                    "--classes: the outputs of the ledger '" + a.ledger +
                        "' have other classes; give those, or another "
                        "--ledger"};
  return ledger;
}

// Says what a ledger found beside what is new.
inline void report_ledger(dl::vectorize::Ledger& ledger) {
  for (const std::string& remark : ledger.remarks())
    dl::cli::log()(dl::Level::kWarning, remark);
}

// Whether all that is new is bad, and may be: it is entered then, and not read
// again.
inline bool enter_bad(const Args& a, dl::vectorize::Ledger* ledger,
                      const dl::vectorize::Reader* reader,
                      const dl::vectorize::BadRecords& bad) {
  if (ledger == nullptr || reader == nullptr || ledger->taken() == 0 ||
      bad.count() == 0 || bad.count() > a.max_bad ||
      bad.count() != reader->examples())
    return false;
  ledger->enter_without_output(reader->metadata());
  return true;
}

// The examples that there will be, with the bad ones, for the time that is
// left; 0: it is not known.
inline std::int64_t total_of(const Args& a,
                             const std::vector<std::string>& inputs) {
  if (a.examples > 0 || a.format != "images") return a.examples;
  const auto is_picture = [](const std::string& input) {
    return dl::io::names_file(input) &&
           !dl::vectorize::suffix_of(input).empty() &&
           dl::vectorize::has_suffix(
               input, dl::vectorize::find_vectorizer("image")->suffixes);
  };
  const bool is_known =
      a.list.empty() && !a.null && std::ranges::all_of(inputs, is_picture);
  return is_known ? static_cast<std::int64_t>(inputs.size()) : 0;
}

// By a recipe.
inline std::unique_ptr<dl::vectorize::Reader> open_by_recipe(
    const Args& a, const std::vector<std::string>& operands,
    const Output& output, dl::vectorize::Ledger* ledger,
    dl::vectorize::BadRecords& bad) {
  const dl::vectorize::Recipe recipe = recipe_of(a);
  for (const std::string& doubt : recipe.doubts())
    dl::cli::log()(dl::Level::kWarning, doubt);
  if (recipe.is_of_tables()) {
    const bool is_series = !recipe.series.is_null();
    if (is_series)
      a.options->refuse({"group"}, "is for images");
    else
      a.options->refuse({"split", "folds", "split-by", "group"},
                        "is for images and series; rows are split by dl-shard");
    a.options->refuse({"ledger", "by", "list", "null", "retries", "labels",
                       "webdataset", "preview"},
                      "is for images, not for recipes of tables");
  } else {
    a.options->refuse({"folds", "split-by"}, "is for series");
  }
  dl::vectorize::Inputs inputs;
  inputs.operands = operands;
  inputs.list = a.list.empty() && a.null ? "-" : a.list;
  if (a.null) inputs.separator = '\0';
  for (const std::string& file : {output.path, a.bad_list, a.preview, a.ledger})
    if (!file.empty() && file != "-") inputs.outputs.push_back(file);
  inputs.ledger = ledger;
  inputs.retries = a.retries;
  inputs.log = dl::cli::log();
  // A table that was looked at was told of.
  if (!a.made_recipe) inputs.tell_encoding = dl::cli::log();
  if (operands.empty() && inputs.list.empty() && !recipe.is_of_tables())
    dl::bad_usage("want a folder of pictures, pictures, or a tar archive");
  dl::vectorize::RecipeOptions options;
  options.batch = a.reader.batch;
  if (!recipe.series.is_null() && !a.options->given("batch"))
    options.batch = 0;  // as rows are shared best
  options.threads = a.threads;
  options.labels = !a.no_labels;
  options.table = a.labels;
  options.index = bad.tolerant() && recipe.series.is_null();
  options.share = output.examples;
  options.preview = !a.preview.empty();
  if (ledger != nullptr) options.classes["labels"] = ledger->classes();
  std::tie(options.part, options.parts) = part_of(a.part);
  return open_recipe(recipe, inputs, options, bad);
}

#endif  // DL_TOOLS_DL_PREPROCESS_IMAGES_H_
