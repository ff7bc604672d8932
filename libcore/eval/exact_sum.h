// A sum of doubles without rounding: the same value, to the bit, for any order
// and any grouping of the terms.
//
// Rounded sums depend on the order of the terms, so two halves of a data set
// evaluated apart would differ from the whole in the last digits.  This is a
// fixed-point number wide enough for every double (Kulisch's accumulator):
// digits of 32 bits, each in a 64-bit word, whose upper half collects carries
// that are passed on once in 2^29 additions.  An addition touches three words.

#ifndef DL_LIBCORE_EVAL_EXACT_SUM_H_
#define DL_LIBCORE_EVAL_EXACT_SUM_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dl::eval {

// A value of about 550 bytes.  Not thread-safe.
class ExactSum {
 public:
  // The term must be finite (kBug otherwise).
  void add(double term);
  // a * b without rounding.  a * b must not overflow, and is exact unless it
  // has bits under 2^-1074.
  void add_product(double a, double b);
  void add(const ExactSum& other);
  void subtract(const ExactSum& other);

  // The nearest double; infinite if the sum is too large for one.
  double value() const;
  // Doubles, largest first, whose sum is exactly this.
  std::vector<double> parts() const;

  // A hexadecimal floating-point number, "-0x1a2bp-64", one spelling a value.
  std::string to_string() const;
  // Throws Error: kData, `text` is none that to_string() writes.
  static ExactSum from_string(std::string_view text);

 private:
  static constexpr int kDigits = 68;  // 2176 bits: 1088 before the point,
  static constexpr int kPoint = 34;   // and 34 digits after it
  using Digits = std::array<std::int64_t, kDigits>;

  // Digits of the absolute value, each in 0..2^32-1.
  Digits magnitude(bool& negative) const;
  void settle();  // passes the carries on

  Digits digits_{};
  std::uint32_t pending_ = 0;  // additions since the last settle()
};

// n * sum(a b) - sum(a) * sum(b), rounded once: the numerators of variance and
// correlation, which lose everything when computed in doubles.
double centred(std::int64_t n, const ExactSum& ab, const ExactSum& a,
               const ExactSum& b);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_EXACT_SUM_H_
