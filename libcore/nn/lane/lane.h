// One lane of a network: its layers, its part of the mini-batch, its
// activations and gradients.

#ifndef DL_LIBCORE_NN_LANE_LANE_H_
#define DL_LIBCORE_NN_LANE_LANE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/lane/lane_input.h"
#include "libcore/nn/lane/lane_output.h"
#include "libcore/nn/lane/lane_team.h"
#include "libcore/nn/lane/weight_noise.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/plan/plan.h"
#include "libcore/nn/watch.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// Treatment of carried states in a mini-batch.
enum class Carry { kNothing, kAfresh, kOn };

class Lane final : private LaneGroup {
 public:
  // State that all lanes of a network share.
  struct Common {
    const NetworkConfig* config;
    const Layout* layout;
    const Plan* plan;
    const data::Normalizers* normalizers;
    std::int64_t max_batch;  // of the network
    bool training;
    // On the first lane's device; of lanes apart, others have their own
    // parameters and statistics.  `gradient` is that lane's, and of the joint
    // layers all lanes'; `given` and `made` see Joint.
    tensor::View parameters, statistics, gradient, given, made;
    LaneTeam* team;
  };

  Lane(const Common& common, int index, device::Device& device);

  // Forward and backward over this lane's share.  Within LaneTeam::run(), on
  // every lane.  found: told after each step back from where on this lane's
  // gradient is whole, as an element of the flat one.
  using GradientReady = std::function<void(std::int64_t from)>;
  void train(const Batch& batch, const Position& at, Carry carry,
             const GradientReady& found);
  // For lanes on separate devices, on every lane within LaneTeam::run():
  // parameters and statistics become the first lane's; that one's gradient and
  // loss become the sums over the lanes.
  void take_from_first();
  void give_to_first(std::int64_t examples);
  // Tells the layers that the parameters are in place.  `first` is the first
  // lane, frozen already unless it is this one; of lanes apart, this one.
  void freeze(Lane& first);
  // Outputs of this lane's share, or of all where it works alone, into their
  // rows of `outputs`, which have room for all; state: as Network::predict().
  void predict(std::span<const Part> inputs, std::span<Prediction> outputs,
               std::span<tensor::Tensor> state, bool alone);

  // As Network::watch().
  void watch(const Watch* watch) { watch_ = watch; }

  device::Device& device() { return *device_; }
  // Results of train(): the gradient, of lanes but the first as LaneGradients
  // says, and a number, the share of the loss.
  tensor::View gradient() const { return gradient_; }
  tensor::View loss() const { return loss_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  // A layer where it stands in the plan, and the way back through it.
  struct Node {
    std::unique_ptr<Layer> layer;  // null: an alias
    Flow flow;
    tensor::View shared_gradient;     // of parameters that others set
    tensor::View tied_gradient;       // of another layer's weight
    tensor::View joined;              // room for a product of masks
    std::vector<tensor::View> state;  // room for what is carried, if it is
    std::optional<NoisyWeights> noise;
  };

  void all_reduce(tensor::View mine) override;
  void barrier() override;
  bool alone() const override;

  void build_layers();
  LayerSite site(std::size_t step, bool is_read);
  void disturb_weights(std::size_t step);
  void tie(LayerSite& site, std::size_t step);
  void give_own(LayerSite& site, std::size_t step);
  tensor::View gradient_of(const LayerSite& site, std::size_t step,
                           std::span<const Segment> parameters);
  // From the beginning of a parameter segment on, in that shape.
  tensor::View gradient_from(std::size_t segment, tensor::Shape shape) const;
  void add_tied_gradients();
  tensor::View value(Value v, std::int64_t examples) const;
  tensor::View in_buffer(BufferIndex buffer, tensor::Shape shape) const;
  tensor::View in_buffer(BufferIndex buffer, Value v,
                         std::int64_t examples) const;
  Share share(std::int64_t total) const;

  void load(std::span<const Part> inputs, Share rows);
  void forward(const Step& step);
  void show(std::size_t layer, tensor::View outputs) const;
  void load_target(const Batch& batch, Share rows, std::size_t output);
  void losses(const Batch& batch, Share rows);
  void average_over_steps(LaneOutput& output, std::int64_t rows);
  void backward(const Step& step, const GradientReady& found);
  void backward(const BackwardStep& back, const Step& step);
  void backward_and_sum(const BackwardStep& back, const Step& step);
  tensor::View mask_of(Value v) const;
  tensor::View join_masks(const Node& node) const;
  void make_room_for_state();
  void carry_state(std::int64_t examples, Carry carry);
  void move_state(Share rows, std::span<tensor::Tensor> state, bool in);

  Common common_;
  int index_;
  std::int64_t max_batch_;  // of the lane
  device::Device* device_;
  Memory memory_;
  tensor::View gradient_, loss_, arena_, sum_scratch_;
  Places places_;
  std::vector<LaneInput> inputs_;
  std::vector<LaneOutput> outputs_;
  std::vector<OutputLayer*> losses_;  // by output
  std::vector<Node> nodes_;           // as the plan's steps
  std::vector<tensor::View> made_;    // masks that layers made, by value
  const Watch* watch_ = nullptr;
  bool has_room_for_state_ = false;
  tensor::Tensor staged_state_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_LANE_H_
