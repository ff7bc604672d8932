// Scaling of updates by FASGD.

#include "libcore/exchange/rules/fasgd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange {

namespace {

constexpr float kKeep = 0.9F;        // of a size, from update to update
constexpr float kSlowKeep = 0.999F;  // of their mean
constexpr float kFloor = 0.1F;       // eps, of their mean
// Older than this is as good as never; a float holds it exactly.
constexpr std::uint32_t kOldest = std::uint32_t{1} << 24;
constexpr std::size_t kHead = 3;  // values of the state before the elements'

// Powers by multiplication: the same everywhere.
constexpr auto kPowersOfKeep = [] {
  std::array<float, 256> powers{};
  powers[0] = 1;
  for (std::size_t k = 1; k < powers.size(); ++k)
    powers[k] = powers[k - 1] * kKeep;
  return powers;
}();

// How much of a size is left after k updates.
float kept(std::uint32_t k) {
  return k < kPowersOfKeep.size() ? kPowersOfKeep[k] : 0;
}

}  // namespace

Fasgd::Fasgd(std::size_t elements) : size_(elements), touched_(elements) {}

std::uint32_t Fasgd::age(std::size_t element) const {
  return std::min(updates_ - touched_[element], kOldest);
}

void Fasgd::apply(std::span<const std::byte> message, float scale,
                  std::span<float> target) {
  require(target.size() == size_.size(), "size of the parameters");
  if (const auto info = inspect_threshold(message);
      info.elements != size_.size())
    throw Error{Code::kProtocol,
                "damaged update: it is for " + std::to_string(info.elements) +
                    " elements, not " + std::to_string(size_.size())};
  ++updates_;
  weight_ = kKeep * weight_ + (1 - kKeep);
  double sum = 0;
  std::int64_t quanta = 0;
  for_each_quantum(message, [&](std::uint64_t i, float quantum) {
    const std::uint32_t k = age(i);
    const float left = kept(k);
    size_[i] = left * size_[i] +
               (1 - left) * std::fabs(quantum) / static_cast<float>(k);
    touched_[i] = updates_;
    sum += static_cast<double>(size_[i]);
    ++quanta;
  });
  if (quanta == 0) return;
  const float mean =
      static_cast<float>(sum / static_cast<double>(quanta)) / weight_;
  level_ = kSlowKeep * level_ + (1 - kSlowKeep) * mean;
  level_weight_ = kSlowKeep * level_weight_ + (1 - kSlowKeep);
  const float level = level_ / level_weight_;
  for_each_quantum(message, [&](std::uint64_t i, float quantum) {
    target[i] += scale * quantum * ((1 + kFloor) * level) /
                 (size_[i] / weight_ + kFloor * level);
  });
}

void apply_update(std::span<const std::byte> message, float scale,
                  std::optional<Fasgd>& rule, std::span<float> target) {
  if (message.empty()) return;
  if (rule)
    rule->apply(message, scale, target);
  else
    decode_threshold(message, scale, target);
}

void add_update(std::span<const std::byte> message, float scale,
                std::optional<Fasgd>& rule, std::span<float> target) {
  if (message.empty()) return;
  if (rule)
    rule->apply(message, scale, target);
  else
    add_quanta(message, scale, target);
}

std::vector<float> Fasgd::state() const {
  std::vector<float> state = {weight_, level_, level_weight_};
  state.insert(state.end(), size_.begin(), size_.end());
  for (std::size_t i = 0; i < touched_.size(); ++i)
    state.push_back(static_cast<float>(age(i)));
  return state;
}

void Fasgd::restore(std::span<const float> state) {
  const std::size_t n = size_.size();
  const bool sound = std::ranges::all_of(
      state, [](float v) { return v >= 0 && std::isfinite(v); });
  if (state.size() != kHead + 2 * n || !sound ||
      !std::ranges::all_of(state.last(n), [](float age) {
        return age <= static_cast<float>(kOldest);
      }))
    throw Error{Code::kProtocol, "damaged state of the staleness rule"};
  weight_ = state[0];
  level_ = state[1];
  level_weight_ = state[2];
  updates_ = kOldest;
  for (std::size_t i = 0; i < n; ++i) {
    size_[i] = state[kHead + i];
    touched_[i] = updates_ - static_cast<std::uint32_t>(state[kHead + n + i]);
  }
}

}  // namespace dl::exchange
