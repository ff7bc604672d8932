#include "libcore/vectorize/learner.h"

#include <cmath>

#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kMostTexts = 1 << 20;
constexpr int kLowest = -1074, kDigitBits = 32;

[[noreturn]] void refuse_state() {
  bad_data("it is no fitted recipe, or a damaged one");
}

}  // namespace

void TextCounts::add(const std::string& text, std::int64_t times) {
  counts_[text] += times;
  if (counts_.size() > kMostTexts)
    bad_config("a column has more than " + std::to_string(kMostTexts) +
               " different values to learn");
}

void TextCounts::merge(const Json& state) {
  if (!state.is_object()) refuse_state();
  for (const auto& [text, times] : state.items()) {
    if (!times.is_number_integer()) refuse_state();
    add(text, times.get<std::int64_t>());
  }
}

void FixedSum::add(double value) {
  int exponent = 0;
  // value = whole * 2^exponent
  const auto whole =
      static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  // Denormal numbers have zeros at their end.
  std::int64_t rest = whole;
  for (; exponent < kLowest; ++exponent) rest /= 2;
  const auto place = static_cast<std::size_t>(exponent - kLowest);
  const std::int64_t sign = rest < 0 ? -1 : 1;
  const auto bits = static_cast<std::uint64_t>(rest * sign);
  constexpr std::uint64_t kDigit = 0xffffffff;
  const std::size_t shift = place % kDigitBits;
  const std::uint64_t low = (bits & kDigit) << shift;
  const std::uint64_t high = (bits >> kDigitBits) << shift;
  std::int64_t* digits = &digits_[place / kDigitBits];
  digits[0] += sign * static_cast<std::int64_t>(low & kDigit);
  digits[1] +=
      sign * static_cast<std::int64_t>((low >> kDigitBits) + (high & kDigit));
  digits[2] += sign * static_cast<std::int64_t>(high >> kDigitBits);
  ++count_;
  constexpr int kMost = 1 << 28;
  if (++open_ == kMost) carry();
}

// Brings every digit but the last into 0..2^32-1.
void FixedSum::carry() {
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    const std::int64_t up = digits_[i] >> kDigitBits;
    digits_[i] -= up * (std::int64_t{1} << kDigitBits);
    digits_[i + 1] += up;
  }
  open_ = 0;
}

double FixedSum::mean() const {
  FixedSum own = *this;
  own.carry();
  const bool negative = own.digits_.back() < 0;
  if (negative) {
    for (std::int64_t& digit : own.digits_) digit = -digit;
    own.carry();
  }
  // Enough digits from the first one on that is not zero.
  long double sum = 0;
  int taken = 0;
  for (std::size_t i = kDigits; i-- > 0 && taken < 4;) {
    if (own.digits_[i] == 0 && taken == 0) continue;
    sum += std::ldexp(static_cast<long double>(own.digits_[i]),
                      static_cast<int>(i) * kDigitBits + kLowest);
    ++taken;
  }
  const auto mean = static_cast<double>(sum / static_cast<long double>(count_));
  return negative ? -mean : mean;
}

// Without the zeros at both ends: the place of the first digit, and the digits.
Json FixedSum::state() const {
  FixedSum own = *this;
  own.carry();
  std::size_t first = 0, end = kDigits;
  while (first < kDigits && own.digits_[first] == 0) ++first;
  while (end > first && own.digits_[end - 1] == 0) --end;
  Json digits = Json::array();
  for (std::size_t i = first; i < end; ++i) digits.push_back(own.digits_[i]);
  return {{"count", count_}, {"first", first}, {"digits", digits}};
}

void FixedSum::merge(const Json& state) {
  const auto whole = [&](const char* key) {
    if (!state.is_object() || !state.contains(key) ||
        !state.at(key).is_number_integer())
      refuse_state();
    return state.at(key).get<std::int64_t>();
  };
  const std::int64_t count = whole("count"), first = whole("first");
  if (count < 0 || first < 0 || first > std::int64_t{kDigits} ||
      !state.contains("digits") || !state.at("digits").is_array() ||
      static_cast<std::size_t>(first) + state.at("digits").size() > kDigits)
    refuse_state();
  carry();
  auto at = static_cast<std::size_t>(first);
  for (const Json& digit : state.at("digits")) {
    if (!digit.is_number_integer()) refuse_state();
    const auto value = digit.get<std::int64_t>();
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (value > kMost || value < -kMost) refuse_state();
    digits_[at++] += value;
  }
  count_ += count;
  carry();
}

}  // namespace dl::vectorize
