// Finding and removing shards of an earlier run.

#include "libcore/data/sharding/older_shards.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/data/format/shard.h"

namespace dl::data {
namespace {

// One that cannot be read, or says nothing, is known by its name alone.
std::optional<SetPlace> place_of(const std::string& path) {
  try {
    return Shard(path).metadata().place;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string given_prefix(const ShardName& name,
                         const std::optional<SetPlace>& place) {
  const std::string end = place ? "-" + place->part : "-";
  return end != "-" && name.prefix.ends_with(end)
             ? name.prefix.substr(0, name.prefix.size() - end.size())
             : name.prefix;
}

std::vector<std::string> older_shards(const std::string& prefix,
                                      const std::vector<std::string>& parts) {
  std::vector<std::string> older;
  for (std::string& path : existing_shards(prefix)) {
    const ShardName name = *parse_shard_name(path);
    if (std::ranges::find(parts, name.prefix) != parts.end() ||
        given_prefix(name, place_of(path)) == prefix)
      older.push_back(std::move(path));
  }
  return older;
}

}  // namespace dl::data
