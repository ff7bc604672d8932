// The fit of a recipe: its vectorizers learn from data before the first record
// is made.  Fits of parts of the data merge to the bytes of one over all.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_FITTING_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_FITTING_H_

#include <functional>
#include <string>
#include <vector>

#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/recipe/recipe.h"

namespace dl::vectorize {

// Whether the recipe has something to learn.
bool is_to_be_fitted(const Recipe& recipe);

// The recipe with all that its vectorizers learn from these records written
// out, and in "fit" all that merge_fits() wants; where there is nothing to
// learn, the same recipe with the number of records alone.  takes: whether it
// learns from a record; none: from all.
// Throws Error: kData, kNoInput.
Json fit_recipe(const Recipe& recipe, const std::vector<std::string>& operands,
                BadRecords& bad, int threads,
                const std::function<bool(const Record&)>& takes = {});

// The same without "fit", of a recipe for the rows of CSV that were profiled:
// what the profile knows of them is not read once more.
// Throws Error: kData, kNoInput.
Json fit_recipe(const Recipe& recipe, const std::vector<std::string>& operands,
                const TableProfile& profile, BadRecords& bad, int threads);

// The same of all parts: of what fit_recipe() gave, at least one; names: of the
// files.  Throws Error: kData, one is no fitted recipe, or of another one.
Json merge_fits(const std::vector<Json>& fitted,
                const std::vector<std::string>& names);

// Throws Error: kData, a recipe has a fit that is damaged, or that says other
// "fills" and "classes".  One that lost or got a vectorizer since has them
// alone.
void check_fit(const Json& recipe, const std::string& name);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_FITTING_H_
