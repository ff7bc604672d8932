// Which part of a split an example belongs to.

#include <charconv>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/data/deal.h"
#include "libcore/io/digest.h"

namespace dl::data {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error{
      Code::kUsage,
      "--split: want NAME=FRACTION,... that add up to 1, got '" + text + "'"};
}

bool is_word(std::string_view name) {
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
          (c >= '0' && c <= '9') || c == '_'))
      return false;
  return !name.empty();
}

}  // namespace

std::vector<SplitPart> parse_split(const std::string& text) {
  std::vector<SplitPart> parts;
  double sum = 0;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) refuse(text);
    const std::string name = item.substr(0, equals);
    double fraction = 0;
    const char* last = item.data() + item.size();
    const auto [end, error] =
        std::from_chars(item.data() + equals + 1, last, fraction);
    if (error != std::errc() || end != last || !(fraction > 0) ||
        !is_word(name))
      refuse(text);
    for (const SplitPart& part : parts)
      if (part.name == name) refuse(text);
    parts.push_back({name, sum += fraction});
    at = comma + 1;
  }
  if (!(std::abs(sum - 1) < 1e-9)) refuse(text);
  parts.back().end = 1;
  return parts;
}

std::size_t part_of(std::span<const std::byte> row, std::uint64_t seed,
                    const std::vector<SplitPart>& parts) {
  if (parts.size() == 1) return 0;
  io::Digest digest;
  digest.add(std::as_bytes(std::span(&seed, 1)));
  digest.add(row);
  const double place = static_cast<double>(digest.value() >> 11) * 0x1p-53;
  std::size_t i = 0;
  while (i + 1 < parts.size() && !(place < parts[i].end)) ++i;
  return i;
}

}  // namespace dl::data
