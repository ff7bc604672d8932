// A layer of a compiled network, on one lane.
//
// A layer is built once for the largest mini-batch of its lane, with views of
// its parameters (shared by all lanes) and of its gradients (the lane's own),
// and then runs without allocating.  The lane drives it along the plan
// (plan.h), which says where values and their gradients lie.

#ifndef DL_LIBCORE_NN_LAYER_H_
#define DL_LIBCORE_NN_LAYER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/api/device.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/config/settings.h"
#include "libcore/nn/layers/parts/fold.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"

namespace dl::nn {

// All lanes, for layers whose result depends on the whole mini-batch.  Every
// lane calls these, also one without examples.
class LaneGroup {
 public:
  virtual ~LaneGroup() = default;
  // `mine` becomes the sum over the lanes, added in their order, so that all
  // get the same bits.
  virtual void all_reduce(tensor::View mine) = 0;
  // Waits for the others.
  virtual void barrier() = 0;
  virtual bool alone() const = 0;  // there are no others
};

// One pass over the layers, as a lane sees it.
struct Step {
  bool training = false;
  std::int64_t examples = 0;  // of this lane; 0: see PlannedLayer::meets()
  std::int64_t first = 0;     // place of its first one in the mini-batch
  std::int64_t total = 0;     // examples of the mini-batch
  double share = 1;           // of a whole mini-batch
  Position at;
  LaneGroup* lanes = nullptr;
};

// Values that flow through a layer in a step: [n, ...] of inputs and output, n
// the examples times the form's copies.
struct Flow {
  std::vector<tensor::View> x;
  tensor::View y;
  // The masks of inputs that are sequences, [n, steps]: steps with 0 are
  // padding.  Empty: none is.
  std::vector<tensor::View> masks;
  // The state of types that carry one and go on from it, as the blueprint lists
  // it: [n, ...] before the steps, after forward() behind them.  Without
  // elements: it starts at 0 and is not kept.
  std::vector<tensor::View> state = {};
  // Where the gradients of the inputs go, empty where nobody needs one, and the
  // gradient of the output.
  std::vector<tensor::View> dx;
  tensor::View dy;
};

// Further parts of a layer that the lanes compute jointly: each lane
// computes its slice of the units, and of the inputs' gradients, for the whole
// mini-batch.  The gradients of parameters are not the lane's own then.
struct Joint {
  device::Slice slice;
  // Room that all lanes share.  Each lane writes its rows to `given`; they
  // meet; each writes its slice of all rows to `made`; they meet, and each
  // reads its rows there.
  tensor::View given, made;
};

// The parts that a layer is built from.
struct LayerSite {
  device::Device* device = nullptr;
  const LayerSettings* settings = nullptr;
  int index = 0;           // place in the network
  std::uint64_t seed = 0;  // of the network
  std::vector<ValueSpec> inputs;
  ValueSpec output;
  std::int64_t truncate = 0;   // tbptt_length
  std::int64_t max_batch = 0;  // of the lane, times the copies of inputs
  bool training = false;       // else backward() is never called
  // Parameters and statistics stay as they are; what backward() writes to
  // gradients is of no use.
  bool frozen = false;
  bool keeps_statistics = false;  // true for one of the lanes, unless frozen
  // The normalization of the input that a layer reads, if that is one of the
  // network, (x - shift) * scale by column or all alike; else empty.
  tensor::View shift = {}, scale = {};
  bool mixed = false;  // then columns were made anew of all of them
  // Whether the loss alone reads the output of a layer with one.
  bool read_by_loss_alone = false;
  // In training, a number on the device: the lane's share of the mini-batch's
  // loss, 1 / step.total of the sum over examples.  A layer with one of its own
  // adds it in forward(), and its gradient to dx in backward().
  tensor::View loss = {};

  // In the order of the blueprint.
  std::vector<tensor::View> parameters, gradients, statistics;
  std::optional<Joint> joint = {};

  // Empty where the layer has none, as a bias may be; gradients, outside
  // training and of what is not trained.
  tensor::View parameter(std::size_t i) const {
    return i < parameters.size() ? parameters[i] : tensor::View{};
  }
  tensor::View gradient(std::size_t i) const {
    return i < gradients.size() ? gradients[i] : tensor::View{};
  }
  const tensor::Shape& input() const { return inputs[0].shape; }
};

// Device memory of a network; says how much it is.
class Memory {
 public:
  explicit Memory(device::Device& device) : device_(&device) {}
  // Zeros; they live as long as this.  Without elements: an empty view.
  tensor::View allocate(tensor::Shape shape);
  tensor::View allocate(tensor::Shape shape, tensor::DType dtype);
  std::size_t bytes() const { return bytes_; }
  device::Device& device() const { return *device_; }

 private:
  device::Device* device_;
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
  std::size_t bytes_ = 0;
};

class Layer {
 public:
  virtual ~Layer() = default;

  // Computes y, and in training keeps what backward() needs besides x and y.
  // With buffers.in_place, y may be x[0].
  virtual void forward(const Flow& flow, const Step& step) = 0;

  // After forward(), with the x and y that buffers keep: sets the gradients of
  // the parameters, and dx where it is not empty.  With
  // buffers.gradient_in_place, dx[0] may be dy.
  virtual void backward(const Flow& flow, const Step& step) = 0;

  // The mask of the output, where the blueprint says that the layer makes one;
  // after forward().
  virtual tensor::View mask(const Flow& flow) {
    static_cast<void>(flow);
    return {};
  }

  // Outside training, when the parameters are in place and again when they have
  // changed: prepares what forward() would otherwise do at each call.
  virtual void freeze() {}

  // The same on another lane: may share what freeze() of `twin`, this layer on
  // the first lane, has prepared.
  virtual void freeze_like(Layer& twin) {
    static_cast<void>(twin);
    freeze();
  }

  // Before freeze(), of types that absorb: from then on, until the next
  // freeze(), forward() gives f(factor[c] * y[.., c] + offset[c]).
  virtual void absorb(const Scaling& scaling) {
    static_cast<void>(scaling);
    throw Error{Code::kBug, "internal error: a layer that absorbs nothing"};
  }
};

// A layer with a loss, for sequences at each step.  In training, forward() may
// leave what loss() starts from, where the output is read by the loss alone,
// and backward() takes what loss() made.
class OutputLayer : public Layer {
 public:
  // Adds scale times the sum over the examples (of sequences: over all their
  // steps, n being as many) of mask[i] times the loss of y against target [n,
  // units] to the site's loss; grad = its gradient, or is empty.
  virtual void loss(tensor::View grad, tensor::View y, tensor::View target,
                    tensor::View mask, double scale) = 0;
};

// The `make` of a type of layers whose class is L.
template <typename L>
std::unique_ptr<Layer> make(const LayerSite& site, Memory& memory) {
  return std::make_unique<L>(site, memory);
}

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYER_H_
