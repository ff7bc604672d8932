#include "libcore/cluster/worker/step_watch.h"

#include <iterator>
#include <utility>

namespace dl::cluster {

StepWatch::StepWatch(nn::Network& network, std::int64_t every, dl::Clock& clock)
    : network_(network),
      every_(every),
      clock_(clock),
      watch_{[this](std::size_t layer, std::span<const float> values) {
               take_outputs(layer, values);
             },
             [this](std::span<const float> values) { take_gradient(values); }},
      began_(clock.seconds()) {}

StepWatch::~StepWatch() {
  if (watching_) network_.watch(nullptr);
}

void StepWatch::before_step() {
  const bool is_due =
      every_ > 0 && steps_++ % every_ == 0 &&
      (spent_ == 0 || spent_ < kMostShare * (clock_.seconds() - began_));
  if (is_due == watching_) return;
  watching_ = is_due;
  network_.watch(is_due ? &watch_ : nullptr);
}

std::optional<Spreads> StepWatch::after_step(bool sound) {
  if (!watching_) return std::nullopt;
  const double now = clock_.seconds();
  for (const auto& [name, layer] : std::exchange(step_, {})) {
    if (!sound) continue;
    all_[name].gradients.add(layer.gradients);
    all_[name].activations.add(layer.activations);
  }
  std::optional<Spreads> due;
  if (!all_.empty() && (sent_ == 0 || now >= sent_ + kSecondsBetween)) {
    due.emplace(Spreads{std::exchange(all_, {})});
    while (due->layers.size() > Spreads::kMostLayers)
      due->layers.erase(std::prev(due->layers.end()));
    sent_ = now;
  }
  spent_ += clock_.seconds() - now;
  return due;
}

void StepWatch::take_outputs(std::size_t layer, std::span<const float> values) {
  const Stopwatch watch(clock_, spent_);
  const auto& layers = network_.config().layers;
  if (layer < layers.size()) step_[layers[layer].name].activations.add(values);
}

void StepWatch::take_gradient(std::span<const float> values) {
  const Stopwatch watch(clock_, spent_);
  const auto& layers = network_.config().layers;
  for (const nn::Segment& segment : network_.parameter_segments()) {
    const auto first = static_cast<std::size_t>(segment.offset);
    const auto count = static_cast<std::size_t>(segment.elements());
    if (segment.layer < layers.size() && first + count <= values.size())
      step_[layers[segment.layer].name].gradients.add(
          values.subspan(first, count));
  }
}

}  // namespace dl::cluster
