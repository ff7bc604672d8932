// A TransformProcess of DataVec, as a recipe.

#ifndef DL_LIBCORE_VECTORIZE_DATAVEC_DATAVEC_H_
#define DL_LIBCORE_VECTORIZE_DATAVEC_DATAVEC_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::vectorize {

struct DataVecRecipe {
  Json recipe;
  std::vector<std::string> notes;  // of all that a user should know
};

// process: of version 0.x, whose objects name their class by a key around
// them, or of 1.0, in which they have "@class".
// Throws Error: kData, "'p.json': actionList[3]: ...", a line for each action
// that has no step of ours.
DataVecRecipe recipe_of_datavec(const Json& process, const std::string& name);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_DATAVEC_DATAVEC_H_
