// The vectorizer category with "encode": "one_hot".

#ifndef DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_
#define DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_

#include <memory>

#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

inline constexpr std::string_view kUnknownWords[] = {"error", "other", "zeros"};

// Throws Error: kConfig, the classes are not known.
std::unique_ptr<Vectorizer> make_one_hot(const RecipeSettings& settings);
std::unique_ptr<Learner> fit_one_hot(const RecipeSettings& settings);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_
