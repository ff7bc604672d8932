// Measure of what updates computed without each other have in common.
//
// k updates that say the same are worth one of them; k that have nothing in
// common are worth all k.  The worth of k of them is k times their gradient
// diversity, sum |u|^2 / |sum u|^2 (Yin et al., AISTATS 2018), which is what
// AdaScale multiplies the learning rate of a k times larger mini-batch with
// (Johnson et al., ICML 2020).  With rho, the mean correlation of two of them,
// the diversity is 1 / (1 + (k - 1) rho).
//
// A single example that is predicted very wrongly may make an update that is
// several times as large as others, and such updates of several workers, none
// of which has seen the others, end a network though they have little in
// common: what is larger than usual by a factor counts by its inverse square.
//
// rho is measured on the messages themselves: each update is compared with a
// sum of those before it that it has not seen.  A pass over the quanta; a real
// number an element.  Not thread-safe.

#ifndef DL_LIBCORE_EXCHANGE_RULES_GRADIENT_DIVERSITY_H_
#define DL_LIBCORE_EXCHANGE_RULES_GRADIENT_DIVERSITY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

class GradientDiversity {
 public:
  explicit GradientDiversity(std::size_t elements) : sum_(elements) {}

  // The next update, as threshold coded, which has not seen `others` of those
  // before it.
  // Throws Error: kProtocol, as decode_threshold().
  void add(std::span<const std::byte> message, std::uint64_t others);
  // Forgets everything and starts anew.
  void forget();

  // Number of updates that were compared with others.
  std::uint64_t compared() const { return compared_; }
  // rho, 0..1; 1 before anything was compared.
  double correlation() const;

  // 0..1: what the update added last counts beside those before it, by its
  // size.
  double share_of_size() const { return share_of_size_; }

  // 1 / (1 + others rho).
  static double of(double correlation, std::uint64_t others) {
    return 1 / (1 + static_cast<double>(others) * correlation);
  }

 private:
  void scale_down(double factor);
  void compare_size(double square, double unseen);

  // The sum over updates, older ones counting less, is scale_ * sum_, and
  // weight_ the sum of what they count.
  std::vector<float> sum_;
  double scale_ = 1, weight_ = 0;
  std::uint64_t compared_ = 0;
  double product_ = 0, square_ = 0;  // means of <u, v> and <u, u>
  // Mean of <u, u> over more updates, in which none counts for many.
  double usual_ = 0, share_of_size_ = 1;
  std::uint64_t added_ = 0;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_GRADIENT_DIVERSITY_H_
