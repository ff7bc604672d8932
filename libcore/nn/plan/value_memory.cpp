#include "libcore/nn/plan/value_memory.h"

#include "libcore/nn/plan/plan.h"

namespace dl::nn {

ValueMemory value_memory(const NetworkConfig& config, const Layout& layout,
                         std::int64_t batch, bool training) {
  constexpr auto kReal = static_cast<std::int64_t>(sizeof(float));
  const Plan plan = plan_of(config, layout, training);
  const Places places = place(plan.buffers, batch);
  ValueMemory memory;
  memory.values.resize(plan.values.size());
  memory.bytes = kReal * places.elements;
  for (const PlannedBuffer& buffer : plan.buffers)
    memory.apart += kReal * place({&buffer, 1}, batch).elements;
  const auto begin = [&](Value v) { return places.offsets[plan.values[v]]; };
  const auto end = [&](Value v) {
    return begin(v) + plan.buffers[plan.values[v]].elements * batch;
  };
  for (Value v = 0; v < plan.values.size(); ++v) {
    if (plan.values[v] == kNoBuffer) continue;
    ValueMemory::Place& own = memory.values[v];
    own.bytes = kReal * (end(v) - begin(v));
    for (Value other = v; other-- > 0 && own.shares.size() < kMostShares;)
      if (plan.values[other] != kNoBuffer && begin(other) < end(v) &&
          begin(v) < end(other))
        own.shares.push_back(other);
  }
  return memory;
}

}  // namespace dl::nn
