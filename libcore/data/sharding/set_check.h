// Checks that shards belong together.
//
// The shards that one run of dl-shard wrote to one prefix are a set, and each
// shard says which one (Metadata::set).  A run that was killed while it renamed
// its shards, or files copied over each other, mix two sets under one prefix; a
// copy that failed leaves a set without a shard.

#ifndef DL_LIBCORE_DATA_SHARDING_SET_CHECK_H_
#define DL_LIBCORE_DATA_SHARDING_SET_CHECK_H_

#include <string>
#include <vector>

#include "libcore/base/log.h"

namespace dl::data {

// A shard that is neither given nor beside the ones given.
struct MissingShard {
  std::string path;
  std::string why;  // "missing, as 'x-000.dls' is one of 4 shards"
};

// Looks at those of specs that are files; of a prefix, at those called
// PREFIX-NNN.dls.  Some shards of a set may be left out: only what is not there
// is missing. Files that cannot be read as shards are passed over; who reads
// them will say why. beside: given with them for another use, such as held-out
// data; a file may be among both. Throws Error: kData, files of one prefix,
// with the parts of its --split, are of different sets; of all files, the same
// one or the same shard twice, also as a copy under another name.
std::vector<MissingShard> check_sets(
    const std::vector<std::string>& specs,
    const std::vector<std::string>& beside = {});

// The same for a tool that reads the shards: what is missing is a warning.
void warn_of_missing(const std::vector<std::string>& specs, const Log& log,
                     const std::vector<std::string>& beside = {});

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_SET_CHECK_H_
