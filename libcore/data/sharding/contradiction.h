// Reasons why two DataSet streams cannot be taken as one.

#ifndef DL_LIBCORE_DATA_SHARDING_CONTRADICTION_H_
#define DL_LIBCORE_DATA_SHARDING_CONTRADICTION_H_

#include <string>

#include "libcore/data/format/metadata.h"

namespace dl::data {

// Two sources, as a message calls them.
struct Sides {
  std::string next, before;
};

// "'b.dls' has classes 'cow'; 'a.dls' has 'cat', 'dog'", or "" if they go
// together: what either says nothing of does not contradict.
std::string contradiction(const Metadata& before, const Metadata& next,
                          const Sides& names);

// "'b.dls' was made by another recipe than 'a.dls', with another
// tensors/features/fit"; "" if they are the same but for the libraries that
// they were used with, or one is none.
std::string difference_of_recipes(Json before, Json next, const Sides& names);

// "U8[28,28,1]"
std::string describe(const Field& field);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_CONTRADICTION_H_
