#include "libcore/vectorize/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kMostTexts = 1 << 20;
constexpr int kLowest = -1074, kDigitBits = 32;
// Values between two carries.
constexpr std::int64_t kMostOpen = 1 << 28;

}  // namespace

void check_different(std::size_t values) {
  if (values > kMostTexts)
    bad_config("a column has more than " + std::to_string(kMostTexts) +
               " different values to learn: for numbers \"mean\" has no such "
               "limit, for categories \"encode\": \"hashed\"");
}

void TextCounts::add(std::string_view text, std::int64_t times) {
  if (const auto found = counts_.find(text); found != counts_.end()) {
    found->second += times;
    return;
  }
  counts_.emplace(text, times);
  check_different(counts_.size());
}

std::map<std::string, std::int64_t> TextCounts::counts() const {
  return {counts_.begin(), counts_.end()};
}

void TextCounts::merge(const JsonView& state, std::int64_t records) {
  if (!state.raw().is_object()) state.fail("an object of counts");
  std::int64_t left = records;
  for (const auto& [text, times] : state.raw().items()) {
    const std::int64_t own = state.at(text).integer(1, records);
    left -= own;
    if (left < 0)
      state.fail("counts of " + std::to_string(records) + " records");
    add(text, own);
  }
}

void FixedSum::add(double value, std::int64_t times) {
  count_ += times;
  for (; times > 0; times -= kMostOpen) put(value, std::min(times, kMostOpen));
}

// The product and what its rounding took.
void FixedSum::add_product(double a, double b) {
  const double product = a * b;
  put(product);
  put(std::fma(a, b, -product));
  ++count_;
}

void FixedSum::add_multiple(const FixedSum& other, double factor) {
  FixedSum own = other;
  if (own.make_positive()) factor = -factor;
  for (std::size_t i = 0; i < kDigits; ++i) {
    if (own.digits_[i] == 0) continue;
    const double digit = std::ldexp(static_cast<double>(own.digits_[i]),
                                    static_cast<int>(i) * kDigitBits + kLowest);
    const double product = digit * factor;
    put(product);
    put(std::fma(digit, factor, -product));
  }
}

// times: up to kMostOpen.
void FixedSum::put(double value, std::int64_t times) {
  if (open_ + times > kMostOpen) carry();
  open_ += times;
  int exponent = 0;
  // value = whole * 2^exponent
  const auto whole =
      static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  // Denormal numbers have zeros at their end.
  std::int64_t rest = whole;
  for (; exponent < kLowest; ++exponent) rest /= 2;
  const auto place = static_cast<std::size_t>(exponent - kLowest);
  const bool is_negative = rest < 0;
  const std::int64_t factor = is_negative ? -times : times;
  const auto bits = static_cast<std::uint64_t>(is_negative ? -rest : rest);
  constexpr std::uint64_t kDigit = 0xffffffff;
  const std::size_t shift = place % kDigitBits;
  const std::uint64_t low = (bits & kDigit) << shift;
  const std::uint64_t high = (bits >> kDigitBits) << shift;
  std::int64_t* digits = &digits_[place / kDigitBits];
  digits[0] += factor * static_cast<std::int64_t>(low & kDigit);
  digits[1] +=
      factor * static_cast<std::int64_t>((low >> kDigitBits) + (high & kDigit));
  digits[2] += factor * static_cast<std::int64_t>(high >> kDigitBits);
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

// Whether it was negative.
bool FixedSum::make_positive() {
  carry();
  if (digits_.back() >= 0) return false;
  for (std::int64_t& digit : digits_) digit = -digit;
  carry();
  return true;
}

double FixedSum::mean() const {
  FixedSum own = *this;
  const bool negative = own.make_positive();
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

void FixedSum::merge(const JsonView& state, std::int64_t records, double most) {
  state.only({"count", "first", "digits"});
  const std::int64_t count = state.at("count").integer(0, records);
  const std::int64_t first =
      state.at("first").integer(0, std::int64_t{kDigits});
  // As state() writes them: the last digit of all alone has a sign.
  constexpr std::int64_t kMost = (std::int64_t{1} << kDigitBits) - 1;
  FixedSum other;
  other.count_ = count;
  const JsonView digits = state.at("digits");
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(first) + i;
    if (place >= kDigits) digits.fail("fewer digits");
    other.digits_[place] =
        digits.at(i).integer(place + 1 == kDigits ? -kMost : 0, kMost);
  }
  const bool is_empty = count == 0;
  if (is_empty ? digits.size() > 0 : std::abs(other.mean()) > most)
    state.fail("the sum of " + std::to_string(count) + " numbers");
  carry();
  for (std::size_t i = 0; i < kDigits; ++i) digits_[i] += other.digits_[i];
  count_ += count;
  carry();
}

void Moments::add(double value) {
  sum_.add(value);
  squares_.add_product(value, value);
}

// The sum of (x - mean)^2 is that of x^2, less 2 mean x, and mean^2.
double Moments::variance() const {
  const double mean = sum_.mean(), count = static_cast<double>(sum_.count());
  FixedSum about = squares_;
  about.add_multiple(sum_, -2 * mean);
  FixedSum square;
  square.add_product(mean, mean);
  about.add_multiple(square, count);
  return std::max(about.mean(), 0.0);
}

Json Moments::state() const {
  return {{"sum", sum_.state()}, {"squares", squares_.state()}};
}

void Moments::merge(const JsonView& state, std::int64_t records) {
  state.only({"sum", "squares"});
  constexpr double kMost = std::numeric_limits<float>::max();
  FixedSum sum, squares;
  sum.merge(state.at("sum"), records);
  squares.merge(state.at("squares"), records, kMost * kMost);
  if (sum.count() != squares.count()) state.fail("sums of as many numbers");
  sum_.merge(state.at("sum"), records);
  squares_.merge(state.at("squares"), records, kMost * kMost);
}

}  // namespace dl::vectorize
