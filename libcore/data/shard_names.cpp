#include "libcore/data/shard_names.h"

#include <algorithm>
#include <filesystem>

#include "libcore/base/error.h"

namespace dl::data {
namespace {

constexpr std::string_view kSuffix = ".dls";
constexpr std::size_t kLeastDigits = 3;

// "BASE-000.dls"
bool is_shard(const std::string& name, const std::string& base) {
  if (!name.starts_with(base + "-") || !name.ends_with(kSuffix)) return false;
  const std::size_t begin = base.size() + 1;
  if (name.size() < begin + kSuffix.size() + kLeastDigits) return false;
  return std::all_of(name.begin() + static_cast<long>(begin),
                     name.end() - static_cast<long>(kSuffix.size()),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
    if (is_shard(name, base)) found.push_back(folder + name);
  }
  if (error)
    throw Error{
        Code::kCantCreate,
        "cannot create '" + shard_name(prefix, 0, 1) + "': " + error.message()};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace dl::data
