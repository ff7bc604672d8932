// Checks that shards belong to the same set.

#include "libcore/data/sharding/set_check.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/shard.h"
#include "libcore/data/format/shard_names.h"
#include "libcore/data/sharding/older_shards.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"

namespace dl::data {
namespace {

constexpr std::int64_t kMostMissing = 10;  // that are listed, of a set

// The files of one prefix.
struct Group {
  std::string first;  // its path
  std::optional<SetPlace> set;
  std::map<std::int64_t, std::string> given;  // by the number that they say
  bool renamed = false;  // a number in a name is not the one inside
};

// All that one run of dl-shard wrote, by the prefix that it was given.
struct Run {
  std::string first;  // its path
  SetPlace set;
};

// An input that could be opened as a shard.
struct Given {
  std::string path;
  std::optional<SetPlace> place;
  std::uint64_t digest;
  std::int64_t examples;
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

// Its examples would count twice.
void refuse_twice(const std::vector<std::string>& specs) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& spec : specs) {
    struct stat info {};
    if (!io::is_regular(spec, info)) continue;
    const auto [at, is_new] =
        seen.emplace(std::pair<dev_t, ino_t>(info.st_dev, info.st_ino), spec);
    if (!is_new)
      throw Error{Code::kData, at->second == spec
                                   ? in_quotes(spec) + " is given twice"
                                   : in_quotes(spec) + " and " +
                                         in_quotes(at->second) +
                                         " are the same file"};
  }
}

std::vector<Given> open_all(const std::vector<std::string>& specs) {
  std::vector<Given> given;
  for (const std::string& path : specs) {
    struct stat info {};
    if (!io::is_regular(path, info)) continue;
    try {
      const Shard shard(path);
      given.push_back(
          {path, shard.metadata().place, shard.digest(), shard.examples()});
    } catch (const Error&) {
      continue;
    }
  }
  return given;
}

// A copy under another name would count twice, too.  Shards say which one of
// their set they are; of what says nothing, it is the contents.
void refuse_copies(const std::vector<Given>& all) {
  std::map<std::string, std::string> seen;
  for (const Given& given : all) {
    const auto& place = given.place;
    if (!place && given.examples == 0) continue;
    const std::string key = place ? place->id + '\n' + place->part + '\n' +
                                        std::to_string(place->of) + '\n' +
                                        std::to_string(place->shard)
                                  : io::hex(given.digest);
    const auto [first, is_new] = seen.emplace(key, given.path);
    if (!is_new)
      throw Error{Code::kData, in_quotes(given.path) + " and " +
                                   in_quotes(first->second) +
                                   (place ? " are the same shard of one set"
                                          : " hold the same data")};
  }
}

// Without the number.
bool same_set(const std::optional<SetPlace>& a,
              const std::optional<SetPlace>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->id == b->id && a->part == b->part && a->of == b->of;
}

void add(Group& group, const ShardName& name, const std::string& path,
         const std::optional<SetPlace>& set) {
  if (group.first.empty()) {
    group.first = path;
    group.set = set;
  }
  if (!same_set(group.set, set))
    throw Error{Code::kData,
                in_quotes(path) + " is not of one set with " +
                    in_quotes(group.first) +
                    ": a run of dl-shard was cut off, or one file was copied "
                    "over another; deal the data again, or rename what belongs "
                    "together"};
  if (!set) return;
  const auto [at, is_new] = group.given.emplace(set->shard, path);
  if (!is_new && !same_file(at->second, path))
    throw Error{Code::kData, in_quotes(path) + " and " + in_quotes(at->second) +
                                 " are the same shard of one set"};
  group.renamed = group.renamed || set->shard != name.number;
}

void add(std::map<std::string, Run>& runs, const std::string& prefix,
         const std::string& path, const SetPlace& set) {
  const auto [at, is_new] = runs.emplace(prefix, Run{path, set});
  const Run& run = at->second;
  if (is_new || run.set.id == set.id) return;
  const bool split = !set.part.empty() && !run.set.part.empty();
  throw Error{Code::kData,
              in_quotes(path) + " is not of one " +
                  (split ? "--split" : "set") + " with " +
                  in_quotes(run.first) +
                  ", so they may share examples; deal the data again, or "
                  "rename what belongs together"};
}

void find_missing(const std::string& prefix, const Group& group,
                  std::vector<MissingShard>& missing) {
  if (!group.set || group.renamed) return;
  const std::int64_t of = group.set->of;
  std::int64_t listed = 0;
  for (std::int64_t i = 0; i < of && listed < kMostMissing; ++i) {
    if (group.given.contains(i)) continue;
    const std::string path = shard_name(prefix, i, of);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) continue;
    missing.push_back({path, "missing, as " + in_quotes(group.first) +
                                 " is one of " + std::to_string(of) +
                                 " shards"});
    ++listed;
  }
}

}  // namespace

std::vector<MissingShard> check_sets(const std::vector<std::string>& specs,
                                     const std::vector<std::string>& beside) {
  refuse_twice(specs);
  refuse_twice(beside);
  const std::vector<Given> given = open_all(specs), others = open_all(beside);
  std::map<std::string, Group> groups;
  std::map<std::string, Run> runs;
  for (const auto* list : {&given, &others})
    for (const auto& [path, set, digest, examples] : *list) {
      const auto name = parse_shard_name(path);
      if (!name) continue;
      add(groups[name->prefix], *name, path, set);
      if (set) add(runs, given_prefix(*name, set), path, *set);
    }
  refuse_copies(given);
  refuse_copies(others);
  std::vector<MissingShard> missing;
  for (const auto& [prefix, group] : groups)
    find_missing(prefix, group, missing);
  return missing;
}

void warn_of_missing(const std::vector<std::string>& specs, const Log& log,
                     const std::vector<std::string>& beside) {
  for (const MissingShard& shard : check_sets(specs, beside))
    log(Level::kWarning,
        in_quotes(shard.path) + ": " + shard.why + "; going on without it");
}

}  // namespace dl::data
