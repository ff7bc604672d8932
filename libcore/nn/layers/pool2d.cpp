// Max and average pooling.

#include "libcore/nn/keys.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layer_type.h"
#include "libcore/nn/layers/window.h"

namespace dl::nn::layers {
namespace {

using tensor::Pooling;
template <Pooling kind>
class Pool2d final : public Layer {
 public:
  Pool2d(const LayerSite& site, Memory&)
      : kernel_(site.device->pool2d(
            pool2d_spec(window_of(*site.settings), site.input(), kind),
            site.max_batch)) {}

  void forward(const Flow& flow, const Step& step) override {
    kernel_->forward(flow.y, flow.x[0], step.training);
  }

  void backward(const Flow& flow, const Step&) override {
    kernel_->backward(flow.dx[0], flow.dy);
  }

 private:
  std::unique_ptr<tensor::Pool2d> kernel_;
};

void complete(Settings& settings) {
  if (!settings.has("stride")) settings.set("stride", settings.at("kernel"));
}

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  const Window window = window_of(settings);
  const tensor::Shape& input = inputs[0].shape;
  const tensor::Shape output =
      slide(window, input, input.rank() == 3 ? input[2] : 0);
  return {.output = {output, false, inputs[0].copies},
          .flops = static_cast<double>(window.kernel[0]) *
                   static_cast<double>(window.kernel[1]) * numbers_in(output),
          .manners = {.keeps_inputs = false, .keeps_output = false}};
}

template <Pooling kind>
LayerType pooling(std::string_view name, std::string_view words,
                  const std::vector<std::string_view>& other_names) {
  return {.name = name,
          .words = words,
          .other_names = other_names,
          .keys = {key::pair("kernel", "[2, 2]",
                             "Size of the window, [height, width]."),
                   key::pair("stride", "(the kernel)", "Steps of the window."),
                   padding_key()},
          .complete = complete,
          .plan = plan,
          .make = make<Pool2d<kind>>};
}

}  // namespace

const LayerType& max_pool2d() {
  static const LayerType type = pooling<Pooling::kMax>(
      "max_pool2d",
      "The largest number of each window, channel by channel.\n"
      "Padding is never the largest.",
      {"maxpooling2d", "maxpooling", "maxpool"});
  return type;
}

const LayerType& average_pool2d() {
  static const LayerType type = pooling<Pooling::kAverage>(
      "average_pool2d",
      "The mean of each window, channel by channel; padding does not count.",
      {"averagepooling2d", "avgpool2d"});
  return type;
}

}  // namespace dl::nn::layers
