// Sums without rounding, in a wide fixed-point accumulator.

#include "libcore/eval/exact_sum.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::eval {
namespace {

constexpr std::uint64_t kMask = 0xffffffff;
constexpr std::int64_t kBase = std::int64_t{1} << 32;
constexpr std::uint32_t kMaxPending = 1U << 29;
constexpr std::string_view kHex = "0123456789abcdef";

template <typename Digits>
void carry(Digits& digits) {
  for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
    const std::int64_t up = digits[i] >> 32;  // rounds towards minus infinity
    digits[i] -= up * kBase;
    digits[i + 1] += up;
  }
}

[[noreturn]] void no_sum(std::string_view text) {
  throw Error{Code::kData, in_quotes(text.substr(0, 40)) +
                               " is no exact sum (want 0x1a2bp-64)"};
}

}  // namespace

void ExactSum::settle() {
  carry(digits_);
  pending_ = 0;
}

void ExactSum::add(double term) {
  require(std::isfinite(term), "a sum needs finite terms");
  if (term == 0) return;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const auto field = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (field != 0) mantissa |= std::uint64_t{1} << 52;
  // term = +-mantissa * 2^(max(field, 1) - 1075)
  const int place = (field != 0 ? field : 1) - 1075 + 32 * kPoint;
  const auto at = static_cast<std::size_t>(place / 32);
  const int shift = place % 32;
  const std::uint64_t low = (mantissa & kMask) << shift;
  const std::uint64_t high = (mantissa >> 32) << shift;
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  digits_[at] += sign * static_cast<std::int64_t>(low & kMask);
  digits_[at + 1] +=
      sign * static_cast<std::int64_t>((low >> 32) + (high & kMask));
  digits_[at + 2] += sign * static_cast<std::int64_t>(high >> 32);
  if (++pending_ >= kMaxPending) settle();
}

void ExactSum::add_product(double a, double b) {
  const double product = a * b;
  add(product);
  add(std::fma(a, b, -product));
}

void ExactSum::add(const ExactSum& other) {
  ExactSum settled = other;
  settled.settle();
  settle();
  for (int i = 0; i < kDigits; ++i) digits_[i] += settled.digits_[i];
  settle();
}

void ExactSum::subtract(const ExactSum& other) {
  ExactSum settled = other;
  settled.settle();
  settle();
  for (int i = 0; i < kDigits; ++i) digits_[i] -= settled.digits_[i];
  settle();
}

ExactSum::Digits ExactSum::magnitude(bool& negative) const {
  Digits digits = digits_;
  carry(digits);
  negative = digits.back() < 0;
  if (negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    carry(digits);
  }
  return digits;
}

double ExactSum::value() const {
  bool negative = false;
  const Digits digits = magnitude(negative);
  int top = kDigits - 1;
  while (top >= 0 && digits[top] == 0) --top;
  if (top < 0) return 0;
  // The leading 64 bits, the last of them set if any bit was left behind:
  // converting them rounds as the whole would.
  const auto digit = [&](int i) {
    return i < 0 ? 0 : static_cast<std::uint64_t>(digits[i]);
  };
  const int spare = std::countl_zero(digit(top)) - 32;
  std::uint64_t lead = digit(top) << 32 | digit(top - 1);
  std::uint64_t rest = digit(top - 2);
  if (spare > 0) {
    lead = lead << spare | rest >> (32 - spare);
    rest = (rest << spare) & kMask;
  }
  bool sticky = rest != 0;
  for (int i = top - 3; i >= 0 && !sticky; --i) sticky = digits[i] != 0;
  if (sticky) lead |= 1;
  const int exponent = 32 * (top - 1 - kPoint) - spare;
  const double size = std::ldexp(static_cast<double>(lead), exponent);
  return negative ? -size : size;
}

std::vector<double> ExactSum::parts() const {
  std::vector<double> parts;
  ExactSum rest = *this;
  while (true) {
    const double part = rest.value();
    if (part == 0) break;
    require(std::isfinite(part), "the sum is too large to be taken apart");
    parts.push_back(part);
    rest.add(-part);
  }
  return parts;
}

std::string ExactSum::to_string() const {
  bool negative = false;
  const Digits digits = magnitude(negative);
  std::string hex;  // least significant first
  for (const std::int64_t digit : digits)
    for (int shift = 0; shift < 32; shift += 4)
      hex += kHex[static_cast<std::size_t>(digit >> shift) & 15];
  const std::size_t first = hex.find_first_not_of('0');
  if (first == std::string::npos) return "0x0p+0";
  const std::size_t last = hex.find_last_not_of('0');
  const int exponent = static_cast<int>(first) * 4 - 32 * kPoint;
  return (negative ? "-0x" : "0x") +
         std::string(hex.rbegin() + static_cast<long>(hex.size() - 1 - last),
                     hex.rbegin() + static_cast<long>(hex.size() - first)) +
         (exponent < 0 ? "p" : "p+") + std::to_string(exponent);
}

ExactSum ExactSum::from_string(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const std::size_t p = rest.find('p');
  if (!rest.starts_with("0x") || p == std::string_view::npos || p < 3)
    no_sum(text);
  const std::string_view hex = rest.substr(2, p - 2);
  std::string_view power = rest.substr(p + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] =
      std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (error != std::errc{} || end != power.data() + power.size()) no_sum(text);
  if (exponent < -32 * kPoint || exponent % 4 != 0) no_sum(text);
  std::size_t place = static_cast<std::size_t>(exponent + 32 * kPoint) / 4;
  // The uppermost digit stays free for the carries of later additions.
  if (place + hex.size() > std::size_t{kDigits - 1} * 8 ||
      exponent > 32 * kPoint)
    no_sum(text);
  ExactSum sum;
  for (auto c = hex.rbegin(); c != hex.rend(); ++c, ++place) {
    const std::size_t nibble = kHex.find(*c);
    if (nibble == std::string_view::npos) no_sum(text);
    sum.digits_[place / 8] += static_cast<std::int64_t>(nibble)
                              << (place % 8 * 4);
  }
  if (negative)
    for (std::int64_t& digit : sum.digits_) digit = -digit;
  sum.settle();
  if (sum.to_string() != text) no_sum(text);
  return sum;
}

double centred(std::int64_t n, const ExactSum& ab, const ExactSum& a,
               const ExactSum& b) {
  ExactSum result;
  for (const double part : ab.parts())
    result.add_product(static_cast<double>(n), part);
  const std::vector<double> right = b.parts();
  for (const double left : a.parts())
    for (const double part : right) result.add_product(-left, part);
  return result.value();
}

}  // namespace dl::eval
