// The hash rule of --split.

#include "libcore/data/sharding/split.h"

#include <charconv>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/data/rows.h"
#include "libcore/io/digest.h"

namespace dl::data {
namespace {

constexpr std::uint64_t kClassStream = 4;  // use of the seed
constexpr double kRounding = 1e-9;

[[noreturn]] void refuse_split(const std::string& text) {
  throw Error{Code::kUsage,
              "--split: want NAME=FRACTION,... that add up to 1, got '" +
                  displayed(text) + "'"};
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
    if (equals == std::string::npos) refuse_split(text);
    const std::string name = item.substr(0, equals);
    double fraction = 0;
    const char* last = item.data() + item.size();
    const auto [end, error] =
        std::from_chars(item.data() + equals + 1, last, fraction);
    if (error != std::errc() || end != last || !(fraction > 0) ||
        !is_word(name))
      refuse_split(text);
    for (const SplitPart& part : parts)
      if (part.name == name) refuse_split(text);
    parts.push_back({name, sum += fraction});
    at = comma + 1;
  }
  if (!(std::abs(sum - 1) < 1e-9)) refuse_split(text);
  parts.back().end = 1;
  return parts;
}

Splitter::Splitter(std::vector<SplitPart> parts, std::uint64_t seed,
                   const SplitRule& rule, const Metadata& data,
                   std::int64_t total)
    : parts_(std::move(parts)), seed_(seed), rule_(rule), total_(total) {
  const auto labels = data.schema.find("labels");
  if (rule.stratify &&
      (labels == data.schema.end() || tensor::is_real(labels->second.dtype) ||
       labels->second.shape.rank() > 0))
    throw Error{Code::kUsage,
                "--stratify needs a class number for each example, which the "
                "input does not have"};
  if (!rule.group.empty()) group_.emplace(rule.group, data);
  schema_ = data.schema;
}

std::size_t Splitter::part_of(const DataSet& set, std::int64_t i,
                              std::span<const std::byte> row) {
  if (parts_.size() == 1) return 0;
  if (rule_.in_order) return in_order();
  if (group_) return by_group(set, i);
  if (!rule_.stratify) return by_hash(row);
  const tensor::Tensor& labels = set.get("labels");
  return tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    return by_class(
        static_cast<std::int64_t>(labels.as<T>()[static_cast<std::size_t>(i)]));
  });
}

std::size_t Splitter::by_hash(std::span<const std::byte> row) const {
  io::Digest digest;
  digest.add(std::as_bytes(std::span(&seed_, 1)));
  each_part(row, schema_, [&](const std::string& name, auto bytes) {
    if (!names_example(name)) digest.add(bytes);
  });
  return at(digest.value());
}

std::size_t Splitter::by_group(const DataSet& set, std::int64_t i) const {
  io::Digest digest;
  digest.add(std::as_bytes(std::span(&seed_, 1)));
  digest.add_text(group_->of(set, i));
  return at(digest.value());
}

std::size_t Splitter::at(std::uint64_t hash) const {
  const double place = static_cast<double>(hash >> 11) * 0x1p-53;
  std::size_t i = 0;
  while (i + 1 < parts_.size() && !(place < parts_[i].end)) ++i;
  return i;
}

std::size_t Splitter::in_order() {
  const std::int64_t example = seen_++;
  const auto end = [&](std::size_t p) {
    return std::llround(parts_[p].end * static_cast<double>(total_));
  };
  std::size_t p = 0;
  while (p + 1 < parts_.size() && example >= end(p)) ++p;
  return p;
}

// The first part takes its share, the second one its share of the rest, and so
// on.
std::size_t Splitter::by_class(std::int64_t label) {
  std::vector<Share>& shares = classes_[label];
  shares.resize(parts_.size());
  double begin = 0;
  for (std::size_t p = 0; p + 1 < parts_.size(); ++p) {
    const double fraction = (parts_[p].end - begin) / (1 - begin);
    const auto words =
        philox(mix({seed_, kClassStream, static_cast<std::uint64_t>(label)}),
               static_cast<std::uint64_t>(shares[p].seen), p);
    if (takes(shares[p], fraction, words[0] * 0x1p-32)) return p;
    begin = parts_[p].end;
  }
  return parts_.size() - 1;
}

// Every example has the chance `fraction`, and after k of them k * fraction
// have been taken, rounded up or down (Deville's systematic sampling).
// chance: uniform in [0, 1).
bool Splitter::takes(Share& share, double fraction, double chance) const {
  const double before = static_cast<double>(share.seen++) * fraction;
  const double whole = std::floor(before + kRounding);
  const double part = std::max(0.0, before - whole);
  const double over = before + fraction - (whole + 1);
  const bool ahead = static_cast<double>(share.taken) > whole;
  bool take = false;
  if (over < -kRounding)
    take = !ahead && chance < fraction / (1 - part);
  else
    take = !ahead || chance * part < over - kRounding;
  share.taken += take ? 1 : 0;
  return take;
}

}  // namespace dl::data
