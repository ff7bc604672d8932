// Attention, which ONNX spells out: a product of queries and keys, a softmax, a
// product with values, and projections before and behind, which here are one
// layer.

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

using Side = Attention::Side;
using Stage = Attention::Stage;

// Without axes of 1, which lie anywhere.
Axis solid(const Flow& flow, Axis axis) {
  std::erase_if(axis, [&](int part) {
    return part != kBatch && flow.shape()[part] == 1;
  });
  return axis;
}

// Roles of a value's axes: heads (maybe none), and two more.
struct Sides {
  std::vector<std::size_t> leading;  // axes of ONNX's before the last two
  Axis heads;
};

std::optional<Sides> sides_of(const Flow& flow) {
  if (flow.axes.size() < 3) return std::nullopt;
  Sides sides;
  bool batch = false;
  for (std::size_t k = 0; k + 2 < flow.axes.size(); ++k) {
    sides.leading.push_back(k);
    for (const int part : solid(flow, flow.axes[k]))
      if (part == kBatch)
        batch = true;
      else
        sides.heads.push_back(part);
  }
  if (!batch) return std::nullopt;
  return sides;
}

// A value whose numbers at a step are those of heads, one behind the other:
// which weights made them, or itself.
std::optional<Side> side_of(Site& site, const Flow& flow, const Axis& steps,
                            const Axis& heads, const Axis& size) {
  Axis numbers = heads;
  numbers.insert(numbers.end(), size.begin(), size.end());
  if (std::ranges::count(numbers, kBatch) > 0 ||
      std::ranges::count(steps, kBatch) > 0)
    return std::nullopt;
  Side side;
  if (flow.linear && steps == Axis{0}) {
    // Unit of each number, with the axes in this order.
    side.linear = flow.linear;
    side.source = flow.linear->source;
    const int rank = flow.shape().rank();
    Sizes stride(static_cast<std::size_t>(rank), 1);
    for (int k = rank - 1; k-- > 1;)
      stride[static_cast<std::size_t>(k)] =
          stride[static_cast<std::size_t>(k) + 1] * flow.shape()[k + 1];
    std::vector<std::int64_t> places = {0};
    for (const int part : numbers) {
      std::vector<std::int64_t> more;
      for (const std::int64_t place : places)
        for (std::int64_t i = 0; i < flow.shape()[part]; ++i)
          more.push_back(place + i * stride[static_cast<std::size_t>(part)]);
      places = std::move(more);
    }
    for (const std::int64_t place : places) {
      if (static_cast<std::size_t>(place) >= flow.linear->rows.size())
        return std::nullopt;
      side.rows.push_back(flow.linear->rows[static_cast<std::size_t>(place)]);
    }
    return side;
  }
  side.source = site.shaped(flow, {steps, numbers});
  for (std::int64_t i = 0; i < side.source.shape()[1]; ++i)
    side.rows.push_back(i);
  return side;
}

std::int64_t count(const Flow& flow, const Axis& parts) {
  std::int64_t product = 1;
  for (const int part : parts) product *= flow.shape()[part];
  return product;
}

// The parts of the heads of `from`, as axes of the attention's.
std::vector<Axis> leading(const Flow& from, int heads) {
  std::vector<Axis> axes;
  bool given = false;
  for (std::size_t k = 0; k + 2 < from.axes.size(); ++k) {
    axes.emplace_back();
    for (const int part : solid(from, from.axes[k]))
      if (part == kBatch) {
        axes.back().push_back(kBatch);
      } else if (!given) {
        axes.back().push_back(heads);
        given = true;
      }
  }
  // One head has no axis there.
  for (Axis& axis : axes)
    if (!given && std::ranges::count(axis, kBatch) > 0) {
      axis.push_back(heads);
      given = true;
    }
  return axes;
}

std::optional<Flow> scores(Site& site, const Flow& q, const Flow& k) {
  const auto a = sides_of(q), b = sides_of(k);
  if (!a || !b || q.axes.size() != k.axes.size()) return std::nullopt;
  const std::size_t last = q.axes.size() - 1;
  const Axis steps = solid(q, q.axes[last - 1]), size = solid(q, q.axes[last]),
             keys = solid(k, k.axes[last]), other = solid(k, k.axes[last - 1]);
  if (std::ranges::count(size, kBatch) + std::ranges::count(steps, kBatch) +
          std::ranges::count(keys, kBatch) + std::ranges::count(other, kBatch) >
      0)
    return std::nullopt;
  Attention attention;
  attention.heads = count(q, a->heads);
  attention.size = count(q, size);
  if (count(k, b->heads) != attention.heads ||
      count(k, other) != attention.size)
    return std::nullopt;
  const auto query = side_of(site, q, steps, a->heads, size),
             key = side_of(site, k, keys, b->heads, other);
  if (!query || !key) return std::nullopt;
  attention.query = *query;
  attention.key = *key;
  Flow made;
  made.form.shape = {attention.heads, count(q, steps), count(k, keys)};
  made.axes = leading(q, 0);
  made.axes.push_back({1});
  made.axes.push_back({2});
  made.attention = std::make_shared<const Attention>(std::move(attention));
  return made;
}

std::optional<Flow> mixed(Site& site, const Flow& weights, const Flow& v) {
  const auto b = sides_of(v);
  const std::size_t last = v.axes.size() - 1;
  if (!b || weights.axes.size() != v.axes.size() ||
      weights.axes[last] != Axis{2} || weights.axes[last - 1] != Axis{1})
    return std::nullopt;
  Attention attention = *weights.attention;
  if (count(v, b->heads) != attention.heads) return std::nullopt;
  const std::int64_t size = count(v, v.axes[last]);
  if (size != attention.size)
    site.refuse(
        "its values are not as wide as its keys; the same would be "
        "needed");
  const auto value = side_of(site, v, solid(v, v.axes[last - 1]), b->heads,
                             solid(v, v.axes[last]));
  if (!value) return std::nullopt;
  attention.value = *value;
  attention.stage = Stage::kMixed;
  Flow made;
  made.form.shape = {weights.shape()[1], attention.heads, attention.size};
  for (std::size_t k = 0; k + 2 < weights.axes.size(); ++k) {
    Axis axis = weights.axes[k];
    for (int& part : axis)
      if (part != kBatch) part = 1;
    made.axes.push_back(std::move(axis));
  }
  made.axes.push_back({0});
  made.axes.push_back({2});
  made.attention = std::make_shared<const Attention>(std::move(attention));
  return made;
}

// Rows of a projection; of none those of the identity.
void fill_side(Site& site, const std::string& node, const std::string& name,
               const Side& side, double factor, bool bias) {
  const std::int64_t width = side.source.shape()[1];
  const double own = factor * (side.linear ? side.linear->factor : 1);
  site.fill(node, name + "_weight", [side, width, own](std::span<float> to) {
    const auto columns = static_cast<std::size_t>(width);
    std::ranges::fill(to, 0.0F);
    std::vector<float> all;
    if (side.linear) {
      all.resize(static_cast<std::size_t>(side.linear->units) * columns);
      side.linear->weight(all);
    }
    for (std::size_t r = 0; r < side.rows.size(); ++r) {
      const auto row = static_cast<std::size_t>(side.rows[r]);
      if (!side.linear) {
        to[r * columns + row] = static_cast<float>(own);
        continue;
      }
      for (std::size_t c = 0; c < columns; ++c)
        to[r * columns + c] = static_cast<float>(own * all[row * columns + c]);
    }
  });
  if (!bias) return;
  site.fill(node, name + "_bias", [side, own](std::span<float> to) {
    std::ranges::fill(to, 0.0F);
    if (!side.linear || !side.linear->bias) return;
    std::vector<float> all(static_cast<std::size_t>(side.linear->units));
    side.linear->bias(all);
    for (std::size_t r = 0; r < side.rows.size(); ++r)
      to[r] =
          static_cast<float>(own * all[static_cast<std::size_t>(side.rows[r])]);
  });
}

}  // namespace

std::optional<Flow> attended(Site& site, const Flow& a, const Flow& b) {
  if (b.attention && b.attention->stage != Stage::kMixed) return std::nullopt;
  const Flow second = site.real(b);
  if (a.attention && a.attention->stage == Stage::kWeights)
    return mixed(site, a, second);
  if (a.attention && a.attention->stage == Stage::kScores) return std::nullopt;
  return scores(site, site.real(a), second);
}

Flow attention_layer(Site& site, const Flow& flow, const Linear* output) {
  const Attention& attention = *flow.attention;
  const Value &queries = attention.query.source, &keys = attention.key.source;
  if (attention.value.source.node != keys.node)
    site.refuse(
        "its keys and its values are made of two values; one would be needed");
  const std::int64_t width = attention.heads * attention.size;
  if (output == nullptr && width != queries.shape()[1])
    site.refuse(
        "what is attended to is not projected to the width of its "
        "queries");
  const auto has_bias = [](const Side& side) {
    return side.linear && side.linear->bias;
  };
  const bool bias = has_bias(attention.query) || has_bias(attention.key) ||
                    has_bias(attention.value) || (output && output->bias);
  Json layer{{"type", "multi_head_attention"},
             {"heads", attention.heads},
             {"head_size", attention.size},
             {"causal", attention.causal},
             {"bias", bias}};
  std::vector<Value> from = {queries};
  if (keys.node != queries.node) from.push_back(keys);
  Flow made;
  static_cast<Value&>(made) = site.add("attention", std::move(layer), from);
  // Here scores are divided by the root of the size.
  const double scale =
      attention.scale * std::sqrt(static_cast<double>(attention.size));
  fill_side(site, made.node, "query", attention.query, scale, bias);
  fill_side(site, made.node, "key", attention.key, 1, bias);
  fill_side(site, made.node, "value", attention.value, 1, bias);
  Side out;
  out.source.form.shape = {1, width};
  if (output != nullptr) out.linear = std::make_shared<const Linear>(*output);
  for (std::int64_t i = 0; i < queries.shape()[1]; ++i) out.rows.push_back(i);
  fill_side(site, made.node, "output", out, 1, bias);
  return made;
}

Flow Site::real(const Flow& flow) {
  if (!flow.attention) return flow;
  if (flow.attention->stage != Stage::kMixed)
    refuse(
        "it reads a product of two computed matrices, or weights of an "
        "attention, which no layer gives");
  const Flow layer = attention_layer(*this, flow, nullptr);
  Flow made;
  made.axes = flow.axes;
  const auto extents = flow.shape().extents();
  static_cast<Value&>(made) =
      reshaped(layer, {extents.begin(), extents.end()}, "heads");
  return made;
}

}  // namespace dl::convert::onnx
