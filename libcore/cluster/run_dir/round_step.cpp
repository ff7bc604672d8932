// The step of one averaging round.

#include "libcore/cluster/run_dir/round_step.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "libcore/exchange/codec/delta.h"

namespace dl::cluster {

namespace {

// Elements at a time, so that no vector as large as the network is copied.
constexpr std::size_t kBlock = 4096;

std::span<float> part_of(std::vector<float>& values, std::size_t at,
                         std::size_t count) {
  return values.empty() ? std::span<float>()
                        : std::span(values).subspan(at, count);
}

void constrain_if(const exchange::OuterOptimizer& outer,
                  const nn::Constrainer& constrain,
                  std::vector<float>& parameters) {
  // A replica's own parameters are constrained, and stay what they are.
  if (outer.kind != exchange::OuterOptimizer::Kind::kReplace)
    constrain(parameters);
}

}  // namespace

void apply_average(std::span<const std::byte> delta,
                   const exchange::OuterOptimizer& outer,
                   const nn::Constrainer& constrain,
                   std::vector<float>& parameters,
                   std::vector<float>& velocity) {
  if (!exchange::is_plain_delta(delta)) {
    std::vector<float> average(parameters.size());
    exchange::read_delta(delta, average);
    apply_average(average, outer, constrain, parameters, velocity);
    return parameters.swap(average);
  }
  exchange::check_plain_delta(delta, parameters.size());
  const std::span<const std::byte> floats = exchange::plain_floats(delta);
  if (outer.has_velocity()) velocity.resize(parameters.size());
  std::array<float, kBlock> block;
  for (std::size_t at = 0; at < parameters.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, parameters.size() - at);
    std::memcpy(block.data(), floats.data() + sizeof(float) * at,
                sizeof(float) * count);
    outer.step(part_of(parameters, at, count), std::span(block).first(count),
               part_of(velocity, at, count));
  }
  constrain_if(outer, constrain, parameters);
}

void apply_average(std::vector<float>& average,
                   const exchange::OuterOptimizer& outer,
                   const nn::Constrainer& constrain,
                   std::span<const float> parameters,
                   std::vector<float>& velocity) {
  if (outer.has_velocity()) velocity.resize(parameters.size());
  std::array<float, kBlock> block;
  for (std::size_t at = 0; at < average.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, average.size() - at);
    const auto values = std::span(block).first(count);
    std::ranges::copy(parameters.subspan(at, count), values.begin());
    const auto part = std::span(average).subspan(at, count);
    outer.step(values, part, part_of(velocity, at, count));
    std::ranges::copy(values, part.begin());
  }
  constrain_if(outer, constrain, average);
}

}  // namespace dl::cluster
