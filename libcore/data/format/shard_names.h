// The names of shards: PREFIX-000.dls, PREFIX-001.dls, ...

#ifndef DL_LIBCORE_DATA_FORMAT_SHARD_NAMES_H_
#define DL_LIBCORE_DATA_FORMAT_SHARD_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dl::data {

// At least three digits, and as many as the last of `count` shards needs, so
// that the order of names is that of numbers.
std::string shard_name(const std::string& prefix, std::int64_t i,
                       std::int64_t count);

// Parts of a name made by shard_name(): "a/train-003.dls" is {"a/train", 3}.
struct ShardName {
  std::string prefix;
  std::int64_t number = 0;
};
// Nothing if the file is not called like a shard.
std::optional<ShardName> parse_shard_name(const std::string& path);

// The shards that exist of this prefix and of all that begin with it and a
// dash, sorted.  Throws Error: kCantCreate, the folder is missing or cannot be
// read.
std::vector<std::string> existing_shards(const std::string& prefix);

// Removes what a dl-shard that was killed left of shards of this prefix.
void remove_abandoned_shards(const std::string& prefix);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_SHARD_NAMES_H_
