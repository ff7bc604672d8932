// Recipes of dl-preprocess, and what they have to learn from data first.

#ifndef DL_TOOLS_DL_PREPROCESS_FIT_H_
#define DL_TOOLS_DL_PREPROCESS_FIT_H_

#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/parallel.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/repeated.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/recipe/fitting.h"
#include "libcore/vectorize/recipe/images.h"
#include "tools/dl-preprocess-options.h"

// The JSON that a file holds, of a recipe or a fit of one.
inline dl::Json recipe_json(const std::string& file, dl::Code code) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  const auto source = dl::io::open_source(file);
  const std::string name = source->name();
  return dl::parse_json(dl::io::read_all(*source, kMost), name, code);
}

// How pictures and rows become examples: by options, or as a file says.
inline dl::vectorize::Recipe recipe_of(const Args& a) {
  if (a.made_recipe) return *a.made_recipe;
  if (a.recipe.empty()) {
    dl::vectorize::ImageOptions images = a.images;
    images.labels = !a.no_labels;
    images.table = !a.labels.empty();
    images.regression = a.reader.regression;
    images.classes = a.reader.classes;
    images.id_bytes = a.reader.id_bytes;
    images.store = a.reader.store;
    return dl::vectorize::recipe_of(images);
  }
  const std::string name =
      a.recipe == "-" ? "standard input" : "'" + a.recipe + "'";
  const dl::Json json = recipe_json(a.recipe, dl::Code::kConfig);
  dl::vectorize::Recipe recipe =
      dl::vectorize::Recipe::from_json(json, name, dl::Code::kConfig);
  dl::vectorize::check_fit(json, a.recipe);
  return recipe;
}

// The recipe that the options for a table say.
inline dl::Json known_recipe(dl::Json recipe) {
  if (recipe.is_null())
    dl::bad_usage(
        "a recipe cannot say these options: of tables with --sequence, "
        "--weight, --shape or --dtype, with more than 4096 columns, or with "
        "names that are empty or there twice");
  return recipe;
}

inline bool is_fit(const Args& a) {
  return a.recipe.empty() && !a.operands.empty() && a.operands[0] == "fit";
}

inline void run_fit(const Args& a, dl::vectorize::BadRecords& bad) {
  constexpr const char* kWhy = "does not go with fit";
  for (const std::string formats :
       {"series", "table, series and csv", "svmlight", "cifar", "raw"})
    a.options->refuse_section("Options for " + formats, kWhy);
  a.options->refuse_section("Options for images, and recipes", kWhy);
  a.options->refuse(
      {"force", "batch", "classes", "regression", "shape", "dtype", "bad-list",
       "examples", "id-bytes", "part", "threads", "print-recipe", "json",
       "no-provenance", "no-labels", "network"},
      kWhy);
  const std::vector<std::string> operands =
      dl::io::expand_operands({a.operands.begin() + 1, a.operands.end()});
  if (operands.empty())
    dl::bad_usage(a.merge ? "want fitted recipes to merge"
                          : "fit wants a recipe, and data to learn from");
  dl::io::refuse_overwriting(a.output, operands);
  if (const std::string again = dl::io::repeated(operands); !again.empty())
    dl::bad_usage(again + ", and would count twice");
  dl::Json fitted;
  if (a.merge) {
    std::vector<dl::Json> all;
    all.reserve(operands.size());
    for (const std::string& file : operands)
      all.push_back(recipe_json(file, dl::Code::kData));
    fitted = dl::vectorize::merge_fits(all, operands);
  } else {
    const std::string name = "'" + operands[0] + "'";
    const dl::Json given = recipe_json(operands[0], dl::Code::kConfig);
    const auto recipe =
        dl::vectorize::Recipe::from_json(given, name, dl::Code::kConfig);
    const bool learns = dl::vectorize::is_to_be_fitted(recipe);
    if (!learns)
      dl::cli::log()(
          dl::Level::kInfo,
          name + " has nothing to learn: the fit is the same recipe");
    // One that is fitted stays as it is.
    fitted = !learns && given.contains("fit")
                 ? given
                 : dl::vectorize::fit_recipe(
                       recipe, {operands.begin() + 1, operands.end()}, bad,
                       dl::available_cores());
  }
  const std::string text = fitted.dump(2) + "\n";
  dl::io::write_whole(a.output, text);
}

#endif  // DL_TOOLS_DL_PREPROCESS_FIT_H_
