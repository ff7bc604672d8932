// A layer of a compiled network, on one lane.
//
// A layer is built once for the largest mini-batch of its lane, with views of
// its parameters (shared by all lanes) and of its gradients (the lane's own),
// and then runs without allocating.  The lane drives it: forward() through all
// layers, then backward() from the last one to the first that has parameters.

#ifndef DL_LIBCORE_NN_LAYER_H_
#define DL_LIBCORE_NN_LAYER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "libcore/nn/layers/fold.h"
#include "libcore/nn/network.h"
#include "libcore/nn/settings.h"
#include "libcore/tensor/device.h"

namespace dl::nn {

// Sums small vectors over all lanes, for layers whose result depends on the
// whole mini-batch.
class LaneSum {
 public:
  virtual ~LaneSum() = default;
  // `mine` becomes the sum over the lanes, added in their order, so that all
  // get the same bits.  Every lane calls it, also one without examples.
  virtual void all_reduce(tensor::View mine) = 0;
};

// One pass over the layers, as a lane sees it.
struct Step {
  bool training = false;
  std::int64_t examples = 0;  // of this lane; 0 only for layers that sum
  std::int64_t first = 0;     // place of its first one in the mini-batch
  std::int64_t total = 0;     // examples of the mini-batch
  Position at;
  LaneSum* lanes = nullptr;
  // Of sequences, [examples, steps]: steps with 0 are padding.  Empty: none is.
  tensor::View mask;
};

// What a layer is built from.
struct LayerSite {
  tensor::Device* device = nullptr;
  const Settings* settings = nullptr;
  int index = 0;                  // place in the network
  std::uint64_t seed = 0;         // of the network
  tensor::Shape input, output;    // of one example
  std::int64_t steps = 1;         // of the input, where dense goes through them
  std::int64_t truncate = 0;      // tbptt_length
  std::int64_t max_batch = 0;     // of the lane
  bool training = false;          // else backward() is never called
  bool keeps_statistics = false;  // true for one of the lanes

  tensor::View result;  // room for the output, [max_batch, ...output]
  // In the order of the blueprint.
  std::vector<tensor::View> parameters, gradients, statistics;

  // Empty where the layer has none, as a bias may be; gradients, outside
  // training.
  tensor::View parameter(std::size_t i) const {
    return i < parameters.size() ? parameters[i] : tensor::View{};
  }
  tensor::View gradient(std::size_t i) const {
    return i < gradients.size() ? gradients[i] : tensor::View{};
  }
  tensor::View result_of(std::int64_t n) const {
    return result.at(0, output.with_first(n));
  }
};

// Device memory of a network; says how much it is.
class Memory {
 public:
  explicit Memory(tensor::Device& device) : device_(&device) {}
  // Zeros; they live as long as this.  Of no elements: an empty view.
  tensor::View allocate(tensor::Shape shape);
  std::size_t bytes() const { return bytes_; }

 private:
  tensor::Device* device_;
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
  std::size_t bytes_ = 0;
};

class Layer {
 public:
  virtual ~Layer() = default;

  // Returns the output for x [n, ...input]: the site's result, or x itself,
  // reshaped, where there is nothing to compute.  What backward() needs of x
  // must stay as it is until then.
  virtual tensor::View forward(tensor::View x, const Step& step) = 0;

  // After forward(): sets the gradients of the parameters for dy, the gradient
  // of the output, and returns that of the input, computed into dx (shaped as
  // x was) or into dy, which is free to be overwritten.  dx is empty for the
  // first layer with parameters: nobody needs it.
  virtual tensor::View backward(tensor::View dx, tensor::View dy,
                                const Step& step) = 0;

  // Outside training, when the parameters are in place and again when they have
  // changed: prepares what forward() would otherwise do at each call.  Layers
  // are frozen from the last to the first; `before` is the one whose output
  // this one takes, null for the first.
  virtual void freeze(Layer* before) { static_cast<void>(before); }

  // The same on another lane: may share what freeze() of `twin`, this layer on
  // the first lane, has prepared.
  virtual void freeze_like(Layer& twin, Layer* before) {
    static_cast<void>(twin);
    freeze(before);
  }

  // Within freeze() of the layer behind: takes the scaling over, so that
  // forward() returns factor[c] * y[.., c] + offset[c] from this layer's own
  // freeze() on, until the next.  false: cannot.
  virtual bool absorb(const Scaling& scaling) {
    static_cast<void>(scaling);
    return false;
  }
};

// A layer with a loss, for sequences at each step.  In
// training, forward() leaves what loss() starts from, and backward() takes what
// loss() made.
class OutputLayer : public Layer {
 public:
  // The sum over the examples (of sequences: over all their steps, n being as
  // many) of mask[i] times the loss against target [n, units]; grad = scale
  // times its gradient.
  virtual double loss(tensor::View grad, tensor::View target, tensor::View mask,
                      double scale) = 0;
};

// What a type of layers whose class is L has for `make`.
template <typename L>
std::unique_ptr<Layer> make(const LayerSite& site, Memory& memory) {
  return std::make_unique<L>(site, memory);
}

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYER_H_
