// Of sequences, steps by where their padding is.

#include "libcore/base/error.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layer_type.h"
#include "libcore/nn/layers/rows.h"
#include "libcore/nn/layers/step_index.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

// The first where there is none.
void find_last(std::span<std::int32_t> rows, std::span<const double> real) {
  rows[0] = 0;
  for (std::size_t t = 0; t < real.size(); ++t)
    if (real[t] != 0) rows[0] = static_cast<std::int32_t>(t);
}

// Padding stays where it is.
void turn(std::span<std::int32_t> rows, std::span<const double> real) {
  std::size_t end = real.size();
  for (std::size_t t = 0; t < real.size(); ++t) {
    rows[t] = static_cast<std::int32_t>(t);
    if (real[t] == 0) continue;
    do --end;
    while (real[end] == 0);
    rows[t] = static_cast<std::int32_t>(end);
  }
}

class LastStep final : public Layer {
 public:
  LastStep(const LayerSite& site, Memory& memory)
      : device_(site.device), index_(site, 1, memory) {}

  void forward(const Flow& flow, const Step&) override {
    chosen_ = index_.choose(find_last, flow.masks[0], flow.y.shape[0]);
    device_->gather(flow.y, as_rows(flow.x[0]), chosen_);
  }

  void backward(const Flow& flow, const Step&) override {
    device_->fill(flow.dx[0], 0);
    device_->scatter_add(as_rows(flow.dx[0]), flow.dy, chosen_, -1);
  }

 private:
  tensor::Device* device_;
  StepIndex index_;
  View chosen_;
};

class Reverse final : public Layer {
 public:
  Reverse(const LayerSite& site, Memory& memory)
      : device_(site.device), index_(site, site.input()[0], memory) {}

  void forward(const Flow& flow, const Step&) override {
    chosen_ = index_.choose(turn, flow.masks[0], flow.y.shape[0]);
    device_->gather(as_rows(flow.y), as_rows(flow.x[0]), chosen_);
  }

  // Turned twice, they are as they were.
  void backward(const Flow& flow, const Step&) override {
    device_->gather(as_rows(flow.dx[0]), as_rows(flow.dy), chosen_);
  }

 private:
  tensor::Device* device_;
  StepIndex index_;
  View chosen_;
};

template <bool last>
Blueprint plan(const Settings&, std::span<const Form> inputs) {
  const Form& input = inputs[0];
  if (input.shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    input.shape.to_string()};
  return {.output = last ? Form{{input.shape[1]}, false, input.copies} : input,
          .manners = {.keeps_inputs = false, .keeps_output = false}};
}

}  // namespace

const LayerType& last_step() {
  static const LayerType type{
      .name = "last_step",
      .words =
          "The last step of a sequence that is not padding; the first where "
          "all are.",
      .other_names = {"lasttimestep"},
      .reads_sequences = true,
      .plan = plan<true>,
      .make = make<LastStep>};
  return type;
}

const LayerType& reverse() {
  static const LayerType type{
      .name = "reverse",
      .words =
          "The steps of a sequence from the last to the first; padding stays "
          "in its place.",
      .other_names = {"reversetimeseries", "flip"},
      .reads_sequences = true,
      .plan = plan<false>,
      .make = make<Reverse>};
  return type;
}

}  // namespace dl::nn::layers
