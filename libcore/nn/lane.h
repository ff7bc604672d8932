// One lane of a network: its layers, its part of the mini-batch, its
// activations and gradients.

#ifndef DL_LIBCORE_NN_LANE_H_
#define DL_LIBCORE_NN_LANE_H_

#include <memory>
#include <vector>

#include "libcore/data/normalizer.h"
#include "libcore/nn/batch.h"
#include "libcore/nn/lane_team.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// The examples [first, first + count) of a mini-batch of `total`.
struct Share {
  std::int64_t first = 0, count = 0, total = 0;
};
// As even as can be, in the order of the examples, so that the first lane has
// one whenever there is one.
Share share_of(int lane, int lanes, std::int64_t total);

class Lane final : private LaneSum {
 public:
  // What all lanes of a network have in common.
  struct Common {
    const NetworkConfig* config;
    const Layout* layout;
    const data::Normalizers* normalizers;
    std::int64_t max_batch;  // of the network
    bool training;
    tensor::View parameters, statistics;  // on the first lane's device
    LaneTeam* team;
  };

  Lane(const Common& common, int index, tensor::Device& device);

  // Forward and backward over this lane's share; the sum of its losses, scaled
  // as its gradient is, 1 / total.  Within LaneTeam::run(), on every lane.
  double train(const Batch& batch, const Position& at);
  // Tells the layers that the parameters are in place.  `first` is the first
  // lane, frozen already unless it is this one.
  void freeze(Lane& first);
  // Outputs of this lane's share, into their rows of `outputs`
  // [n, ...output], kF32.
  void predict(const tensor::Tensor& features,
               const tensor::Tensor* features_mask, tensor::Tensor& outputs);

  tensor::Device& device() { return *device_; }
  tensor::View gradient() const { return gradient_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  void all_reduce(tensor::View mine) override;

  void build_layers();
  // Layer i, with the next one, is a convolution that pools at once.
  bool pools_at_once(std::size_t i) const;
  std::unique_ptr<Layer> make(std::size_t i);
  bool has_result(std::size_t i) const;
  const tensor::Shape& result_of(std::size_t i) const;
  // Layer i sums over the lanes, so it runs without examples as well.
  bool sums(std::size_t i) const {
    return common_.layout->layers[i].summed > 0;
  }
  LayerSite site(std::size_t i);
  tensor::View result_room(std::size_t i);
  Share share(std::int64_t total) const;
  void load_features(const tensor::Tensor& features, Share rows);
  tensor::View load_steps(const tensor::Tensor* features_mask, Share rows);
  void load_labels(const tensor::Tensor& labels, Share rows);
  tensor::View load_mask(const Batch& batch, tensor::View steps, Share rows);
  tensor::View forward(const Step& step);
  void backward(const Step& step);

  Common common_;
  int index_;
  std::int64_t max_batch_;  // of the lane
  std::int64_t units_ = 0;  // of the output
  tensor::Device* device_;
  Memory memory_;
  tensor::View gradient_, features_, target_, mask_;
  tensor::View steps_;  // mask of the features, where they are sequences
  // Of the normalizers; empty: nothing to do.
  tensor::View shift_, scale_, target_shift_, target_scale_;
  tensor::View flow_[2];  // gradients on their way back
  tensor::View sum_scratch_;
  std::vector<std::unique_ptr<Layer>> layers_;
  OutputLayer* output_ = nullptr;
  std::size_t first_trained_ = 0;  // no gradients are needed below it
  tensor::View room_[2];           // of results, outside training
  tensor::Tensor staged_features_, staged_labels_, staged_mask_, staged_steps_;
  tensor::Tensor staged_outputs_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_H_
