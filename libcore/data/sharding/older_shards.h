// The shards that an earlier dl-shard left under a prefix.

#ifndef DL_LIBCORE_DATA_SHARDING_OLDER_SHARDS_H_
#define DL_LIBCORE_DATA_SHARDING_OLDER_SHARDS_H_

#include <optional>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/data/format/shard_names.h"

namespace dl::data {

// The prefix that dl-shard was given: "q" of q-train-000.dls if it says that
// it is of part "train" of a split, "q-train" if it does not.
std::string given_prefix(const ShardName& name,
                         const std::optional<SetPlace>& place);

// The shards that would be mixed with a new set of `prefix`, sorted: those with
// names that its parts may have, and those of an older set of `prefix`, however
// that one was split.
// parts: the prefixes of the new set's files, `prefix` itself without a split.
// Throws Error: kCantCreate, the folder is missing or cannot be read.
std::vector<std::string> older_shards(const std::string& prefix,
                                      const std::vector<std::string>& parts);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_OLDER_SHARDS_H_
