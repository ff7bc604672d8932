// Reading of normalizer.bin.

#include "libcore/convert/import/dl4j/normalizer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/nd4j_array.h"

namespace dl::convert::dl4j {
namespace {

using data::Normalizer;

constexpr double kLeast = 1e-5;  // DL4J's, for ranges of nothing
constexpr std::uint64_t kMostArrays = 10'000;

// The target range of MIN_MAX.
struct Range {
  double low = 0, high = 1;
};

Normalizer standard(const Nd4jArray& mean, const Nd4jArray& deviation) {
  if (mean.values.size() != deviation.values.size() || mean.values.empty())
    throw Error{Code::kData, "its means and deviations are not as many"};
  Normalizer normalizer{.kind = "standardize", .shift = {}, .scale = {}};
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    const double by = deviation.values[i];
    normalizer.shift.push_back(mean.values[i]);
    normalizer.scale.push_back(by == 0 ? 1 : 1 / by);
  }
  return normalizer;
}

// (x - min) / (max - min) (high - low) + low
Normalizer min_max(const Nd4jArray& min, const Nd4jArray& max,
                   const Range& to) {
  if (min.values.size() != max.values.size() || min.values.empty())
    throw Error{Code::kData, "its least and largest values are not as many"};
  Normalizer normalizer{.kind = "minmax", .shift = {}, .scale = {}};
  for (std::size_t i = 0; i < min.values.size(); ++i) {
    const double range =
        std::max(static_cast<double>(max.values[i]) - min.values[i], kLeast);
    const double scale = (to.high - to.low) / range;
    normalizer.scale.push_back(scale);
    normalizer.shift.push_back(min.values[i] -
                               (scale != 0 ? to.low / scale : 0));
  }
  return normalizer;
}

Normalizer image(Bytes& bytes) {
  const double low = bytes.real(), high = bytes.real(), most = bytes.real();
  const double scale = (high - low) / most;
  if (!std::isfinite(scale) || scale == 0)
    throw Error{Code::kData, "its range is of nothing"};
  return {.kind = "scale", .shift = {-low / scale}, .scale = {scale}};
}

Json of(std::vector<Normalizer> inputs, std::vector<Normalizer> outputs) {
  for (const auto* all : {&inputs, &outputs})
    for (const Normalizer& one : *all)
      for (const auto* numbers : {&one.shift, &one.scale})
        for (const double x : *numbers)
          if (!std::isfinite(x))
            throw Error{Code::kData, "it has numbers that are not finite"};
  Json json;
  json["inputs"] = json["outputs"] = Json::array();
  for (const Normalizer& one : inputs) json["inputs"].push_back(one.to_json());
  for (const Normalizer& one : outputs)
    json["outputs"].push_back(one.to_json());
  return json;
}

// Strategies of MULTI_HYBRID: kinds by the index of an input, or an output.
enum class Strategy { kNone, kStandard, kMinMax };

Strategy strategy_of(Bytes& bytes) {
  const std::uint64_t which = bytes.integer(4);
  if (which > 2) throw Error{Code::kData, "it has a strategy that is none"};
  return static_cast<Strategy>(which);
}

std::uint64_t count_of(Bytes& bytes) {
  const std::uint64_t count = bytes.integer(4);
  if (count > kMostArrays) throw Error{Code::kData, "it is of too many inputs"};
  return count;
}

struct Numbers {
  Strategy strategy;
  Nd4jArray first, second;  // mean and deviation, or least and largest
};

std::map<std::uint64_t, Numbers> numbers_of(Bytes& bytes) {
  std::map<std::uint64_t, Numbers> all;
  for (std::uint64_t left = count_of(bytes); left > 0; --left) {
    const std::uint64_t index = bytes.integer(4);
    Numbers numbers{strategy_of(bytes), {}, {}};
    numbers.first = read_nd4j_array(bytes);
    numbers.second = read_nd4j_array(bytes);
    all[index] = std::move(numbers);
  }
  return all;
}

// The range of a strategy; of the others none is meant.
Range range_of(Bytes& bytes) {
  if (strategy_of(bytes) != Strategy::kMinMax) return {};
  const double low = bytes.real();
  return {low, bytes.real()};
}

std::map<std::uint64_t, Range> ranges_of(Bytes& bytes) {
  std::map<std::uint64_t, Range> all;
  for (std::uint64_t left = count_of(bytes); left > 0; --left) {
    const std::uint64_t index = bytes.integer(4);
    all[index] = range_of(bytes);
  }
  return all;
}

std::vector<Normalizer> normalizers(
    const std::map<std::uint64_t, Numbers>& numbers, const Range& usual,
    const std::map<std::uint64_t, Range>& own) {
  std::vector<Normalizer> all;
  for (const auto& [index, one] : numbers) {
    if (index >= kMostArrays)
      throw Error{Code::kData, "it is of too many inputs"};
    all.resize(static_cast<std::size_t>(index) + 1);
    const auto range = own.find(index);
    all.back() = one.strategy == Strategy::kMinMax
                     ? min_max(one.first, one.second,
                               range == own.end() ? usual : range->second)
                     : standard(one.first, one.second);
  }
  return all;
}

Json of_hybrid(Bytes& bytes) {
  const auto inputs = numbers_of(bytes), outputs = numbers_of(bytes);
  const Range of_inputs = range_of(bytes), of_outputs = range_of(bytes);
  const auto own_inputs = ranges_of(bytes), own_outputs = ranges_of(bytes);
  return of(normalizers(inputs, of_inputs, own_inputs),
            normalizers(outputs, of_outputs, own_outputs));
}

// One input and one output, or as many as are said.
Json of_data(Bytes& bytes, bool many, bool ranged) {
  const bool labels = bytes.flag();
  std::uint64_t inputs = 1, outputs = labels ? 1 : 0;
  if (many) {
    inputs = bytes.integer(4);
    outputs = bytes.integer(4);
    if (!labels) outputs = 0;
    if (inputs > kMostArrays || outputs > kMostArrays)
      throw Error{Code::kData, "it is of too many inputs"};
  }
  Range range;
  if (ranged) range = {bytes.real(), bytes.real()};
  const auto read = [&](std::uint64_t count) {
    std::vector<Normalizer> all;
    for (; count > 0; --count) {
      const Nd4jArray first = read_nd4j_array(bytes);
      const Nd4jArray second = read_nd4j_array(bytes);
      all.push_back(ranged ? min_max(first, second, range)
                           : standard(first, second));
    }
    return all;
  };
  std::vector<Normalizer> of_inputs = read(inputs);
  return of(std::move(of_inputs), read(outputs));
}

}  // namespace

Json read_normalizer(std::span<const std::byte> member) {
  // Up to 0.7.
  if (member.size() > 1 && member[0] == std::byte{0xac} &&
      member[1] == std::byte{0xed})
    return {{"unread", "it is an object of Java"}};
  Bytes bytes(member);
  if (bytes.text() != "NORMALIZER" || bytes.integer(4) != 1)
    return {{"unread", "it is not of the one version that is known"}};
  const std::string type = bytes.text();
  if (type == "STANDARDIZE") return of_data(bytes, false, false);
  if (type == "MIN_MAX") return of_data(bytes, false, true);
  if (type == "MULTI_STANDARDIZE") return of_data(bytes, true, false);
  if (type == "MULTI_MIN_MAX") return of_data(bytes, true, true);
  if (type == "MULTI_HYBRID") return of_hybrid(bytes);
  if (type == "IMAGE_MIN_MAX") return of({image(bytes)}, {});
  return {{"unread", "it is of the type " + in_quotes(type)}};
}

}  // namespace dl::convert::dl4j
