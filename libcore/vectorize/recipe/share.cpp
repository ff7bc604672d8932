#include "libcore/vectorize/recipe/share.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/sharding/split.h"
#include "libcore/io/digest.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// 0 to below 1, from the upper 53 bits.
double point_of(const std::string& text) {
  const std::uint64_t hash = io::digest(std::as_bytes(std::span(text)));
  return std::ldexp(static_cast<double>(hash >> 11), -53);
}

bool is_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

[[noreturn]] void refuse_split(const std::string& why) {
  bad_usage("--split: " + why + "; want NAME=SHARE,... as train=0.8,test=0.2");
}

}  // namespace

bool Share::has(Record& record) const {
  if (low <= 0 && high >= 1 && !group) return true;
  std::string name(record.at("path;key"));
  if (group) try {
      name = group->part_of(name);
    } catch (const Error& e) {
      if (record.problem.empty())
        record.problem = std::string("--group: ") + e.what();
    }
  const double place = point_of(name);
  return low <= place && place < high;
}

std::vector<NamedShare> parse_split(const std::string& text,
                                    const std::string& pattern, SeriesCut cut) {
  std::shared_ptr<const Pattern> group;
  if (!pattern.empty()) try {
      group = std::make_shared<const Pattern>(pattern, Code::kUsage);
    } catch (Error& e) {
      e.add_context("--group");
      throw;
    }
  std::vector<NamedShare> all;
  double sum = 0;
  for (const std::string& item : split(text, ',')) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string name = item.substr(0, equals);
    double share = 0;
    if (equals == item.size() ||
        !parse_number(item.substr(equals + 1), share) || !is_name(name))
      refuse_split(in_quotes(item) + " is no share");
    if (!(share > 0)) refuse_split("the share " + in_quotes(item) + " is none");
    for (const NamedShare& other : all)
      if (other.name == name) refuse_split(in_quotes(name) + " is there twice");
    all.push_back({name, {sum, sum + share, cut, group}});
    sum += share;
  }
  constexpr double kRounding = 1e-6;
  if (all.size() < 2 || std::abs(sum - 1) > kRounding)
    refuse_split("the shares of two parts or more are 1 together");
  all.back().share.high = 1;
  return all;
}

std::vector<NamedShare> folds_of(std::int64_t count, SeriesCut cut) {
  std::vector<NamedShare> all;
  double low = 0;
  for (const data::SplitPart& part : data::folds_of(count)) {
    all.push_back({part.name, {low, part.end, cut}});
    low = part.end;
  }
  return all;
}

std::string output_of_share(const std::string& output,
                            const std::string& name) {
  const std::size_t slash = output.rfind('/') + 1;
  const std::size_t dot = output.rfind('.');
  const std::size_t end =
      dot == std::string::npos || dot <= slash ? output.size() : dot;
  return output.substr(0, end) + "-" + name + output.substr(end);
}

}  // namespace dl::vectorize
