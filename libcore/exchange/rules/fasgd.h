// Odena's FASGD (arXiv:1601.04033, 2016) for coded updates: each element's step
// is divided by the moving size of what was applied to it, so that elements
// which move much take smaller steps.
//
// His code keeps m = 0.9 m + 0.1 |g| for each parameter and applies
// lr g / (c (staleness + 1) (m + eps)).  Here g is an update; the staleness is
// part of the caller's scale; and c is 1 / (size + eps), `size` being the mean
// of m where updates have quanta, over a long time: so updates of even size are
// applied as they are.
//
// A quantum has gathered in a residual since the element was last touched, k
// updates ago, so it counts as |q| / k for each of these; the cost follows the
// quanta.  eps is a tenth of `size`: no step grows more than elevenfold.
//
// Deterministic: replicas that apply the same messages keep the same state.

#ifndef DL_LIBCORE_EXCHANGE_RULES_FASGD_H_
#define DL_LIBCORE_EXCHANGE_RULES_FASGD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dl::exchange {

class Fasgd {
 public:
  explicit Fasgd(std::size_t elements);

  // decode_threshold() with a step of its own for each element.
  void apply(std::span<const std::byte> message, float scale,
             std::span<float> target);

  // State for a replica that joins during a run; values are finite.
  std::vector<float> state() const;
  // Throws Error: kProtocol, the state is not one for so many elements.
  void restore(std::span<const float> state);

 private:
  // Number of updates since the element's last quantum.
  std::uint32_t age(std::size_t element) const;

  // Number of updates; may wrap, as only ages count.
  std::uint32_t updates_ = 0;
  float weight_ = 0;  // 1 - 0.9^updates, the total weight of sizes
  float level_ = 0, level_weight_ = 0;  // moving mean of sizes, and its weight
  std::vector<float> size_;
  std::vector<std::uint32_t> touched_;
};

// No step by the rule is larger than this times that without it.
constexpr double kFasgdGrowth = 11;

// target += scale * (the update in `message`), by `rule` if there is one; an
// empty message says nothing.  Throws as decode_threshold().
void apply_update(std::span<const std::byte> message, float scale,
                  std::optional<Fasgd>& rule, std::span<float> target);
// apply_update() for a message that was checked, as add_quanta().
void add_update(std::span<const std::byte> message, float scale,
                std::optional<Fasgd>& rule, std::span<float> target);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_FASGD_H_
