// Assignment of values to shared memory.

#include "libcore/nn/plan/value_memory.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/nn/plan/plan.h"

namespace dl::nn {

namespace {

// The last values that lay in each stretch of memory.
class Tenants {
 public:
  // The value lies in [begin, end) now; returns those of before, the last
  // kMostShares.
  std::vector<Value> move_in(Value value, std::int64_t begin,
                             std::int64_t end) {
    if (begin >= end) return {};
    const auto to = cut(end), from = cut(begin);
    std::set<Value, std::greater<>> before;
    for (auto stretch = from; stretch != to; ++stretch) {
      std::vector<Value>& own = stretch->second;
      before.insert(own.begin(), own.end());
      own.insert(own.begin(), value);
      if (own.size() > kMostShares) own.pop_back();
    }
    std::vector<Value> last(before.begin(), before.end());
    last.resize(std::min(last.size(), kMostShares));
    return last;
  }

 private:
  using Stretches = std::map<std::int64_t, std::vector<Value>>;
  // A stretch begins there.
  Stretches::iterator cut(std::int64_t at) {
    const auto next = stretches_.upper_bound(at);
    if (next == stretches_.begin())
      return stretches_.emplace(at, Stretches::mapped_type()).first;
    const auto here = std::prev(next);
    return here->first == at ? here
                             : stretches_.emplace(at, here->second).first;
  }

  Stretches stretches_;  // by where they begin; each ends where the next does
};

}  // namespace

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
  Tenants tenants;
  for (Value v = 0; v < plan.values.size(); ++v) {
    if (plan.values[v] == kNoBuffer) continue;
    ValueMemory::Extent& own = memory.values[v];
    own.bytes = kReal * (end(v) - begin(v));
    own.shares = tenants.move_in(v, begin(v), end(v));
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
