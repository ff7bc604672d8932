// Assignment of values to shared memory.

#include "libcore/nn/plan/value_memory.h"

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
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

std::string heaviest_layer(const NetworkConfig& config, const Layout& layout,
                           std::int64_t batch) {
  std::string name;
  double most = -1;
  for (const LayerSummary& layer : summarise(config, layout)) {
    const double bytes = 4 * (static_cast<double>(layer.output.elements()) *
                                  static_cast<double>(batch) +
                              static_cast<double>(layer.parameters));
    if (bytes <= most) continue;
    most = bytes;
    name = layer.name;
  }
  return "with mini-batches of " + std::to_string(batch) + " the layer " +
         in_quotes(name) + " takes the most, " +
         format(most < 1e12 ? "%.3g" : "%.0f", most / 1e9) + " GB";
}

}  // namespace dl::nn
