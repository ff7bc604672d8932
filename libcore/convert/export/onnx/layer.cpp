// Common parts of the exporters of layers to ONNX.

#include "libcore/convert/export/onnx/layer.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::convert {

Ints channels_first(int rank) {
  Ints order{0, rank};
  for (int k = 1; k < rank; ++k) order.push_back(k);
  return order;
}

Ints channels_last(int rank) {
  Ints order{0};
  for (int k = 2; k <= rank; ++k) order.push_back(k);
  order.push_back(1);
  return order;
}

Ints batch_of(const tensor::Shape& shape, std::int64_t batch) {
  Ints all{batch};
  all.insert(all.end(), shape.extents().begin(), shape.extents().end());
  return all;
}

OnnxLayer::OnnxLayer(OnnxGraph& graph_, const nn::Model& model,
                     const nn::Layout& layout, std::size_t index,
                     std::vector<OnnxValue*> x)
    : graph(graph_),
      config(model.config.layers[index]),
      settings(config.settings),
      inputs(layout.layers[index].inputs),
      output(layout.layers[index].output),
      model_(model),
      layout_(layout),
      own_(layout.layers[index]),
      x_(std::move(x)) {
  if (own_.each_of > 0) {
    output.shape = output.shape.without_first();
    output.steps = false;
  }
  if (own_.tied) segments_.push_back(&layout.parameters[*own_.tied]);
  for (std::size_t s = own_.parameters_begin; s < own_.parameters_end; ++s)
    segments_.push_back(&layout.parameters[s]);
}

std::string OnnxLayer::x(std::size_t i) {
  OnnxValue& value = *x_[i];
  if (value.last.empty())
    value.last =
        graph.transpose(value.first, channels_last(inputs[i].shape.rank()));
  return value.last;
}

std::string OnnxLayer::x_first(std::size_t i) {
  OnnxValue& value = *x_[i];
  if (value.first.empty())
    value.first =
        graph.transpose(value.last, channels_first(inputs[i].shape.rank()));
  return value.first;
}

bool OnnxLayer::is_first() const {
  return std::ranges::all_of(x_,
                             [](const auto* v) { return !v->first.empty(); });
}

std::string OnnxLayer::given_last() {
  if (y_.last.empty())
    y_.last = graph.transpose(y_.first, channels_last(output.shape.rank()));
  return y_.last;
}

std::span<const float> OnnxLayer::values(std::size_t i) const {
  const nn::Segment& s = *segments_[i];
  return model_.weights().subspan(static_cast<std::size_t>(s.offset),
                                  static_cast<std::size_t>(s.elements()));
}

std::span<const float> OnnxLayer::statistics(std::size_t i) const {
  const nn::Segment& s = layout_.statistics[own_.statistics_begin + i];
  return std::span(model_.statistics)
      .subspan(static_cast<std::size_t>(s.offset),
               static_cast<std::size_t>(s.elements()));
}

std::string OnnxLayer::weight_as(std::size_t i, const Ints& wanted) const {
  const auto own = shape(i).extents();
  const Ints stored(own.begin(), own.end());
  const auto all = values(i);
  const bool same = wanted.empty() || wanted == stored;
  std::string called = name(i);
  if (!same) {
    called += ".as";
    for (const std::int64_t extent : wanted)
      called += "_" + std::to_string(extent);
  }
  return graph.weight(called, same ? stored : wanted, {all.begin(), all.end()});
}

std::string OnnxLayer::turned_weight(std::size_t i, const Ints& order) const {
  const tensor::Shape& from = shape(i);
  const std::size_t rank = order.size();
  Ints extents(rank), strides(rank), step(rank);
  std::int64_t stride = 1;
  for (std::size_t k = rank; k-- > 0; stride *= from[static_cast<int>(k)])
    strides[k] = stride;
  std::string called = name(i) + ".turned";
  for (std::size_t k = 0; k < rank; ++k) {
    extents[k] = from[static_cast<int>(order[k])];
    step[k] = strides[static_cast<std::size_t>(order[k])];
    called += "_" + std::to_string(order[k]);
  }
  const auto all = values(i);
  std::vector<float> turned;
  turned.reserve(all.size());
  Ints at(rank, 0);
  std::int64_t place = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    turned.push_back(all[static_cast<std::size_t>(place)]);
    for (std::size_t k = rank; k-- > 0;) {
      place += step[k];
      if (++at[k] < extents[k]) break;
      place -= step[k] * extents[k];
      at[k] = 0;
    }
  }
  return graph.weight(called, extents, turned);
}

void OnnxLayer::give_unary(const std::string& type,
                           const OnnxAttributes& attributes) {
  give_in_order([&](bool first) {
    return graph.node(type, {first ? x_first() : x()}, attributes);
  });
}

void OnnxLayer::refuse(const std::string& what) const {
  throw Error{Code::kData, "layer '" + config.name + "' (" +
                               std::string(config.type->name) + "): " + what};
}

}  // namespace dl::convert
