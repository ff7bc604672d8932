// run.json, dl-run(5): what a run was asked to do, and what of it may differ
// where it goes on.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RUN_JSON_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RUN_JSON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::cluster {

// Greatest number of bytes of run.json.
constexpr std::size_t kMaxRunJson = std::size_t{64} << 20;

// The part of run.json that shapes each epoch: it must not change. The rest
// says how many epochs there are, how they are judged and which model is kept.
Json fixed_part(Json configuration);

// Whether the rest differs.
bool wants_otherwise(const Json& before, const Json& now);

// Instructions of all workers so far. Throws Error: kData.
std::vector<std::string> instructions_in(const Json& configuration);

// Whether the scores of the epochs before do not compare with those to come.
bool judges_otherwise(const Json& before, const Json& now);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RUN_JSON_H_
