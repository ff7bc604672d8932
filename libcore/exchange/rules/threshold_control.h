// Thresholds that follow a rule, one for each part of the vector.
//
// fixed, adaptive, target: ThresholdRule::next() with the density of the part's
// last message.  For target a part that would send only a few quanta a message
// is moved by so small a step that the mean of the steps is 0 at the target, as
// one message of it says next to nothing.  For adaptive, if it finds its first
// threshold, a small vector is sent more densely: some quanta are as good as
// free.  A part of less than 100 elements, of which one quantum is too many,
// sends in about every other message, which costs nothing.
//
// quantile: the threshold is what the largest of a sample of |residual +
// update| reach, as many of them as make up the density.  Messages that are too
// large or too small are made up for by the next ones.  A part that is to send
// less than one quantum a message sends its largest every few messages.
//
// Warm-up (Lin et al. 2018): the density of target and quantile falls
// geometrically from 1/4 to the target; both find it as quantile does.
//
// Deterministic: the sample depends on the number of the message alone.

#ifndef DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_CONTROL_H_
#define DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/exchange/rules/threshold_rule.h"

namespace dl::exchange {

class ThresholdControl {
 public:
  // parts: number of elements of each, >= 1.  warmup: number of messages, >= 0.
  ThresholdControl(const ThresholdRule& rule,
                   std::span<const std::size_t> parts, std::int64_t warmup);

  // Whether the next thresholds depend on a sample of the values to be sent.
  bool samples() const;
  // Takes a sample, of this size, of the values to be sent, from the `elements`
  // from `at` on, as sample_magnitudes() does.
  using Look = std::function<std::size_t(
      std::size_t at, std::size_t elements, std::size_t size, float floor,
      Philox& random, std::vector<float>& magnitudes)>;
  // Thresholds for the next message; calls look if samples().
  std::span<const float> next(const Look& look);
  // The same with residual + update as the values to be sent; update may be
  // empty.
  std::span<const float> next(std::span<const float> residual,
                              std::span<const float> update);
  // Takes the numbers of quanta that were sent: ThresholdEncoder::quanta().
  void sent(std::span<const std::int64_t> quanta);

  // Scales the threshold of a part by this factor, > 0, as updates were scaled.
  // Leaves a fixed threshold as it is.
  void scale(std::size_t part, double factor);

  double mean() const;  // mean threshold, weighted by elements
  // Begins with the threshold of other workers; before the first message.
  void start_from(double threshold);

 private:
  struct Part {
    std::size_t elements = 0;
    double threshold = 0;
    double owed = 0;  // for quantile: target less sent quanta
  };

  double target() const;  // density to reach with this message
  std::size_t sample_size() const;
  void estimate(Part& part, std::size_t at, const Look& look,
                std::uint64_t stream);
  double find(const Part& part, double wanted, double looked_at);
  double owed_at_most(const Part& part) const;
  void judge(Part& part, double density) const;

  ThresholdRule rule_;
  std::int64_t warmup_;
  bool finds_first_;
  std::int64_t messages_ = 0;
  std::vector<Part> parts_;
  std::vector<float> thresholds_;
  std::vector<float> sample_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_CONTROL_H_
