// Names of numbered files: formatting and parsing.

#include "libcore/cluster/run_dir/numbered_name.h"

#include <charconv>

namespace dl::cluster {

namespace {

constexpr std::size_t kMostDigits = 18;

}  // namespace

std::string NumberedName::of(std::int64_t number) const {
  std::string text = std::to_string(number);
  const auto least = static_cast<std::size_t>(digits);
  if (text.size() < least) text.insert(0, least - text.size(), '0');
  return std::string(prefix) + text + std::string(suffix);
}

std::optional<std::int64_t> NumberedName::parse(std::string_view name) const {
  if (name.size() <= prefix.size() + suffix.size() ||
      !name.starts_with(prefix) || !name.ends_with(suffix))
    return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (name.front() == '-' || name.size() > kMostDigits ||
      error != std::errc{} || stop != end)
    return std::nullopt;
  return number;
}

}  // namespace dl::cluster
