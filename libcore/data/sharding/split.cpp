// The hash rule of --split.

#include "libcore/data/sharding/split.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/data/rows.h"
#include "libcore/data/sharding/balance.h"
#include "libcore/io/digest.h"

namespace dl::data {
namespace {

constexpr std::uint64_t kClassStream = 4;  // use of the seed

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

std::vector<SplitPart> folds_of(std::int64_t count) {
  std::vector<SplitPart> parts;
  for (std::int64_t i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    const std::size_t zeros = std::to_string(count).size() - number.size();
    parts.push_back({"fold" + std::string(zeros, '0') + number,
                     static_cast<double>(i) / static_cast<double>(count)});
  }
  return parts;
}

Splitter::Splitter(std::vector<SplitPart> parts, std::uint64_t seed,
                   const SplitRule& rule, const Metadata& data,
                   std::int64_t total)
    : parts_(std::move(parts)), seed_(seed), rule_(rule), total_(total) {
  if (rule.stratify) check_class_numbers(data, "--stratify");
  if (!rule.group.empty()) group_.emplace(rule.group, data);
  schema_ = data.schema;
}

std::size_t Splitter::part_of(const DataSet& set, std::int64_t i,
                              std::span<const std::byte> row) {
  if (parts_.size() == 1) return 0;
  if (rule_.in_order) return in_order();
  if (group_) return by_group(set, i);
  if (rule_.folds) return fold_of(rule_.stratify ? class_of(set, i) : 0);
  return rule_.stratify ? by_class(class_of(set, i)) : by_hash(row);
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
  std::vector<SystematicSample>& shares = classes_[label];
  shares.resize(parts_.size());
  double begin = 0;
  for (std::size_t p = 0; p + 1 < parts_.size(); ++p) {
    const double fraction = (parts_[p].end - begin) / (1 - begin);
    const auto words =
        philox(mix({seed_, kClassStream, static_cast<std::uint64_t>(label)}),
               static_cast<std::uint64_t>(shares[p].seen()), p);
    if (shares[p].takes(fraction, words[0] * 0x1p-32)) return p;
    begin = parts_[p].end;
  }
  return parts_.size() - 1;
}

// As many examples of a class as there are folds go to one fold each, to the
// smallest first; of those of a size, in an order by chance.
std::size_t Splitter::fold_of(std::int64_t label) {
  ClassFolds& own = folds_[label];
  const auto count = static_cast<std::int64_t>(parts_.size());
  const std::int64_t place = own.seen++ % count;
  if (place == 0) {
    own.order.resize(parts_.size());
    std::iota(own.order.begin(), own.order.end(), std::size_t{0});
    for (std::size_t left = parts_.size(); left > 1; --left) {  // Fisher, Yates
      const auto words =
          philox(mix({seed_, kClassStream, static_cast<std::uint64_t>(label)}),
                 static_cast<std::uint64_t>(own.seen), left);
      std::swap(own.order[left - 1],
                own.order[static_cast<std::size_t>(
                    std::uint64_t{words[0]} * left >> 32)]);
    }
    sizes_.resize(parts_.size());
    std::ranges::stable_sort(own.order, {},
                             [&](std::size_t fold) { return sizes_[fold]; });
  }
  const std::size_t fold = own.order[static_cast<std::size_t>(place)];
  ++sizes_[fold];
  return fold;
}

}  // namespace dl::data
