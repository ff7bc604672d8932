// The recipe that a table asks for, by what its columns hold.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_H_

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/table_profile.h"

namespace dl::vectorize {

// Choices of the user, as the options of these names have them.
struct TableChoices {
  std::string label = "none";  // columns to predict, or none
  std::string id;              // or ""
  std::string drop;
  std::string classes;      // as ClassLabels has them, or ""
  bool regression = false;  // labels are numbers
};

struct ProposedRecipe {
  Json recipe;  // unfitted
  // For each column its name, and a sentence about what becomes of it.
  std::vector<std::pair<std::string, std::string>> columns;
};

// Whether a label of these choices is a number to predict, not a class.
bool is_number_to_predict(const ColumnProfile& label,
                          const TableChoices& choices);

// source: the object of the recipe.
// Throws Error: kUsage, the label cannot be learnt so, or a column is not
// there; kData, no column is left to learn from.
ProposedRecipe propose_recipe(const TableProfile& table,
                              const TableChoices& choices, const Json& source);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_H_
