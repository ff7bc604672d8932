// Cutting of sequences for truncated backpropagation.

#include "libcore/nn/time_segments.h"

#include <algorithm>
#include <cstring>

#include "libcore/nn/predict/carried.h"

namespace dl::nn {

using tensor::Shape;
using tensor::Tensor;

namespace {

std::int64_t steps_of(const Layout& layout) {
  return layout.inputs.at(0).shape[0];
}

bool is_cut(const ValueSpec& form, std::int64_t steps) {
  return form.steps && form.shape[0] == steps;
}

// Rows of `steps` pieces each: their pieces from `first` on, `length` of them,
// zeros where there are no more.
void cut_rows(std::span<std::byte> to, std::span<const std::byte> from,
              std::int64_t rows, std::int64_t steps, std::int64_t first,
              std::int64_t length) {
  const auto n = static_cast<std::size_t>(rows);
  const std::size_t row = from.size() / n, piece = row / steps;
  const std::size_t count =
      static_cast<std::size_t>(std::min(length, steps - first)) * piece;
  const std::size_t wanted = static_cast<std::size_t>(length) * piece;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* at = to.data() + i * wanted;
    std::memcpy(at,
                from.data() + i * row + static_cast<std::size_t>(first) * piece,
                count);
    std::memset(at + count, 0, wanted - count);
  }
}

}  // namespace

std::vector<std::string> check_segments(const NetworkConfig& config,
                                        const Layout& layout) {
  std::vector<std::string> problems;
  const auto refuse = [&](const std::string& place, const std::string& why) {
    problems.push_back(place + ": " + why +
                       ", so that \"tbptt_update\" cannot "
                       "cut the sequence into segments");
  };
  const std::int64_t steps =
      layout.inputs[0].steps ? layout.inputs[0].shape[0] : 0;
  for (std::size_t i = 0; i < config.inputs.size(); ++i)
    if (!is_cut(layout.inputs[i], steps))
      refuse(
          config.inputs[i].name.empty()
              ? "input"
              : "inputs[" + std::to_string(i) + "] ('" + config.inputs[i].name +
                    "')",
          "it is no sequence" +
              std::string(steps > 0 ? " of " + std::to_string(steps) + " steps"
                                    : ""));
  if (!problems.empty()) return problems;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerConfig& layer = config.layers[i];
    const LayerLayout& own = layout.layers[i];
    const std::string place = layer.place + " ('" + layer.name + "')";
    if (!std::ranges::all_of(
            layer.from, [&](Value v) { return is_cut(layout.form(v), steps); }))
      continue;  // one before it is refused
    if (const std::string why = whole_alone(layer, own); !why.empty())
      refuse(place, "it " + why);
    else if (!is_cut(own.output, steps))
      refuse(place, "it does not give a value for each step");
    else if (steps % config.tbptt_length != 0 && !own.mask &&
             std::ranges::count(config.outputs, i) > 0)
      refuse(place, "it does not know which steps count, and " +
                        std::to_string(steps) + " steps are no multiple of " +
                        std::to_string(config.tbptt_length));
  }
  return problems;
}

bool TimeSegments::has(const NetworkConfig& config, const Layout& layout) {
  return config.tbptt_update && steps_of(layout) > config.tbptt_length;
}

TimeSegments::TimeSegments(const NetworkConfig& whole, const Layout& layout)
    : steps_(steps_of(layout)),
      length_(whole.tbptt_length),
      count_((steps_ + length_ - 1) / length_),
      config_(whole),
      inputs_(whole.inputs.size()),
      outputs_(whole.outputs.size()) {
  for (InputConfig& input : config_.inputs)
    input.shape = input.shape.without_first().with_first(length_);
  batch_.inputs.resize(inputs_.size());
  batch_.outputs.resize(outputs_.size());
}

// A mask of the steps; that of examples, [n], holds for every segment.
const Tensor* TimeSegments::cut_mask(const Tensor* mask, Tensor& room,
                                     std::int64_t examples,
                                     std::int64_t s) const {
  if (mask != nullptr && mask->shape().rank() < 2) return mask;
  const std::int64_t first = s * length_;
  if (mask != nullptr) {
    const Shape row = mask->shape().without_first().without_first();
    room.resize(mask->dtype(),
                row.with_first(length_).with_first(mask->shape()[0]));
    cut_rows(room.bytes(), mask->bytes(), examples, steps_, first, length_);
    return &room;
  }
  if (first + length_ <= steps_) return nullptr;
  room.resize(tensor::DType::kF32, {examples, length_});
  const auto counts = room.as<float>();
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = first + static_cast<std::int64_t>(i) % length_ < steps_;
  return &room;
}

void TimeSegments::cut(const Part& from, Part& to, Room& room, std::int64_t s,
                       bool is_input) const {
  to = {};
  if (from.values == nullptr) return;  // an output with a target
  const Shape& all = from.values->shape();
  const std::int64_t n = all[0];
  // Inputs may come as flat rows; those of labels with a class each, too.
  const Shape row =
      all.rank() > 1 && all[1] == steps_
          ? all.without_first().without_first().with_first(length_)
          : Shape{all.without_first().elements() / steps_ * length_};
  room.values.resize(from.values->dtype(), row.with_first(n));
  cut_rows(room.values.bytes(), from.values->bytes(), n, steps_, s * length_,
           length_);
  to.values = &room.values;
  to.mask = is_input || from.mask != nullptr
                ? cut_mask(from.mask, room.mask, n, s)
                : nullptr;
}

const Batch& TimeSegments::cut(const Batch& batch, std::int64_t s) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    cut(batch.inputs[i], batch_.inputs[i], inputs_[i], s, true);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (i < batch.outputs.size())
      cut(batch.outputs[i], batch_.outputs[i], outputs_[i], s, false);
  return batch_;
}

void TimeSegments::put(const Prediction& from, std::int64_t s,
                       Prediction& to) const {
  const auto paste = [&](const Tensor& part, Tensor& all) {
    const auto n = static_cast<std::size_t>(all.shape()[0]);
    const std::size_t row = all.bytes().size() / n,
                      piece = row / static_cast<std::size_t>(steps_);
    const auto first = static_cast<std::size_t>(s * length_);
    const std::size_t count =
        std::min(static_cast<std::size_t>(length_),
                 static_cast<std::size_t>(steps_) - first) *
        piece;
    for (std::size_t i = 0; i < n; ++i)
      std::memcpy(
          all.bytes().data() + i * row + first * piece,
          part.bytes().data() + i * static_cast<std::size_t>(length_) * piece,
          count);
  };
  paste(from.values, to.values);
  if (from.masked) paste(from.steps, to.steps);
}

}  // namespace dl::nn
