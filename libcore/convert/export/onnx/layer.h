// A layer on its way to ONNX: what goes in, its settings and weights, and what
// it gives.
//
// Images, volumes and series lie with channels last here and with channels
// first where ONNX convolves and pools.  Each value is had in either order, the
// other being made when somebody asks, once: no transpose undoes another.

#ifndef DL_LIBCORE_CONVERT_EXPORT_ONNX_LAYER_H_
#define DL_LIBCORE_CONVERT_EXPORT_ONNX_LAYER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/convert/export/onnx/graph.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

// [batch, ...], by name; "" where it is not.
struct OnnxValue {
  std::string last, first;  // channels last, and first
  std::string mask;         // [batch, steps], 1 where a step counts
  // Name of an input of the network: before it is normalized.
  std::string stored;
};

// The order of axes [batch, ...] from channels last to first, and back.
Ints channels_first(int rank);
Ints channels_last(int rank);
// [batch, ...shape], as Reshape has it; batch: 0 leaves the number as it is.
Ints batch_of(const tensor::Shape& shape, std::int64_t batch = 0);

class OnnxLayer {
 public:
  OnnxGraph& graph;
  const nn::LayerConfig& config;
  const nn::LayerSettings& settings;
  std::vector<nn::ValueSpec> inputs;  // as its type sees them
  nn::ValueSpec output;

  // x: by input; these learn of orders that are made for this layer.
  OnnxLayer(OnnxGraph& graph_, const nn::Model& model, const nn::Layout& layout,
            std::size_t index, std::vector<OnnxValue*> x);

  // Input i, with channels last; with channels first.
  std::string x(std::size_t i = 0);
  std::string x_first(std::size_t i = 0);
  // Whether that is there already; of all inputs.
  bool is_first() const;
  // "" where all steps count.
  const std::string& mask(std::size_t i = 0) const { return x_[i]->mask; }
  const std::string& stored() const { return x_[0]->stored; }

  void give(const std::string& y) { y_.last = y; }
  void give_first(const std::string& y) { y_.first = y; }
  // In the order that the inputs have, which f is told: whether channels are
  // first.
  template <typename F>
  void give_in_order(const F& f) {
    is_first() ? give_first(f(true)) : give(f(false));
  }
  void give_mask(const std::string& mask) { y_.mask = mask; }
  const OnnxValue& given() const { return y_; }
  // The given, or made of it, with channels last.
  std::string given_last();

  // A key that may not be there, and is false then.
  bool is_on(std::string_view key) const {
    return settings.has(key) && settings.flag(key);
  }

  // Tensor i of the blueprint: its values, shape and name in the model.
  std::span<const float> values(std::size_t i) const;
  const tensor::Shape& shape(std::size_t i) const {
    return segments_[i]->shape;
  }
  const std::string& name(std::size_t i) const { return segments_[i]->name; }
  std::span<const float> statistics(std::size_t i) const;
  // As it is, in another shape, or with its axes in another order.
  std::string weight(std::size_t i) const { return weight_as(i, {}); }
  std::string weight_as(std::size_t i, const Ints& shape) const;
  std::string turned_weight(std::size_t i, const Ints& order) const;

  // One node over input 0 in the order that it has.
  void give_unary(const std::string& type,
                  const OnnxAttributes& attributes = {});

  // Throws Error: kData, "layer 'lstm1' (lstm): " and what.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const nn::Model& model_;
  const nn::Layout& layout_;
  const nn::LayerLayout& own_;
  std::vector<OnnxValue*> x_;
  OnnxValue y_;
  // The first segment of tied weights is the owner's.
  std::vector<const nn::Segment*> segments_;
};

// How a type of layers is said in ONNX.
struct OnnxRule {
  std::string_view type;
  void (*write)(OnnxLayer&);
};

// By family, each in a file FAMILY.cpp.
std::span<const OnnxRule> onnx_dense();
std::span<const OnnxRule> onnx_convolution();
std::span<const OnnxRule> onnx_pool();
std::span<const OnnxRule> onnx_norm();
std::span<const OnnxRule> onnx_recurrent();
std::span<const OnnxRule> onnx_attention();
std::span<const OnnxRule> onnx_combine();
std::span<const OnnxRule> onnx_shape();
std::span<const OnnxRule> onnx_sequence();

// f(x), channels being on axis `channels` of [batch, ...].
std::string onnx_activation(OnnxGraph& graph, const device::ActivationSpec& f,
                            const std::string& x, std::int64_t channels);
void give_activated(OnnxLayer& layer, const std::string& y, bool first);

// Real steps of a sequence, by its mask [batch, steps].
struct OnnxSteps {
  // [batch, steps], integers: where the steps that count are, in their order,
  // and then the others; of each step, how many that count are before it.
  std::string order, rank;
  std::string count;  // [batch, 1], a real
};
OnnxSteps onnx_steps(OnnxGraph& graph, const std::string& mask,
                     std::int64_t steps);
// x [batch, steps, features] by steps [batch, n]: [batch, n, features].
std::string take_steps(OnnxGraph& graph, const std::string& x,
                       const std::string& steps, std::int64_t features);
// x [batch, steps, ...] or, with channels first, [batch, channels, steps] with
// zeros where the mask is 0.
std::string clear_steps(OnnxGraph& graph, const std::string& x,
                        const std::string& mask, int rank, bool first);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_ONNX_LAYER_H_
