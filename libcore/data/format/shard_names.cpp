// Formatting and parsing of shard names.

#include "libcore/data/format/shard_names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/temporary_name.h"

namespace dl::data {
namespace {

constexpr std::string_view kSuffix = ".dls";
constexpr std::size_t kLeastDigits = 3;

}  // namespace

std::optional<ShardName> parse_shard_name(const std::string& path) {
  if (!path.ends_with(kSuffix)) return std::nullopt;
  const std::size_t end = path.size() - kSuffix.size();
  const std::size_t dash = path.substr(0, end).rfind('-');
  if (dash == std::string::npos || end - dash - 1 < kLeastDigits)
    return std::nullopt;
  ShardName name{path.substr(0, dash), 0};
  const auto [rest, error] =
      std::from_chars(path.data() + dash + 1, path.data() + end, name.number);
  if (error != std::errc() || rest != path.data() + end || name.number < 0)
    return std::nullopt;
  return name;
}

std::string shard_name(const std::string& prefix, std::int64_t i,
                       std::int64_t count) {
  const std::size_t digits =
      std::max(kLeastDigits, std::to_string(count - 1).size());
  const std::string number = std::to_string(i);
  return prefix + "-" + std::string(digits - number.size(), '0') + number +
         std::string(kSuffix);
}

std::vector<std::string> existing_shards(const std::string& prefix) {
  const std::size_t slash = prefix.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
  const std::string base = prefix.substr(folder.size());
  std::error_code error;
  std::filesystem::directory_iterator entries(folder.empty() ? "." : folder,
                                              error);
  std::vector<std::string> found;
  for (; !error && entries != std::filesystem::directory_iterator();
       entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    const auto parsed = parse_shard_name(name);
    if (parsed &&
        (parsed->prefix == base || parsed->prefix.starts_with(base + "-")))
      found.push_back(folder + name);
  }
  if (error)
    throw Error{Code::kCantCreate, "cannot create " +
                                       in_quotes(shard_name(prefix, 0, 1)) +
                                       ": " + error.message()};
  std::sort(found.begin(), found.end());
  return found;
}

void remove_abandoned_shards(const std::string& prefix) {
  const std::string base = prefix.substr(prefix.rfind('/') + 1);
  io::remove_abandoned(io::folder_of(prefix), [&](const std::string& name) {
    const auto parsed = parse_shard_name(name);
    // A name that was cut has no number any more, and is a little shorter at
    // most.
    constexpr std::size_t kCut = io::kLongestName - 3;
    return parsed
               ? parsed->prefix == base
               : name.size() >= kCut && name.starts_with(base.substr(0, kCut));
  });
}

}  // namespace dl::data
