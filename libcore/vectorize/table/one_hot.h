// The vectorizer category with "encode": "one_hot", and with "hashed".

#ifndef DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_
#define DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

inline constexpr std::string_view kUnknownWords[] = {"error", "other", "zeros"};

// Throws Error: kConfig, the classes are not known.
std::unique_ptr<Vectorizer> make_one_hot(const RecipeSettings& settings);
std::unique_ptr<Learner> fit_one_hot(const RecipeSettings& settings);

// The texts that occur most often, of several as often the first ones, in byte
// order.
std::vector<std::string> most_frequent(const TextCounts& counts,
                                       std::int64_t most);

// With "encode": "hashed".
std::unique_ptr<Vectorizer> make_hashed(const RecipeSettings& settings);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_ONE_HOT_H_
