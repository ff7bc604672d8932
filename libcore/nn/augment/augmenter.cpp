// The order of things in augmentation.

#include "libcore/nn/augment/augmenter.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::uint64_t kAugmentation = 0x6175676D;  // a use of the seed

double chance_of(const LayerSettings& settings) {
  return settings.has("p") ? settings.number("p") : 1;
}

[[noreturn]] void refuse_numbers(const std::string& name, DType dtype) {
  throw Error{Code::kData,
              "'" + name + "' is " + std::string(tensor::name_of(dtype)) +
                  R"(, and "augment" wants pictures of bytes, U8)"};
}

// The tensor's first example as a picture, an element being as many channels as
// it has bytes.
Picture first_of(Tensor& tensor, std::int64_t height, std::int64_t width) {
  const auto bytes = static_cast<std::int64_t>(tensor.bytes().size());
  return {reinterpret_cast<std::uint8_t*>(tensor.bytes().data()), height, width,
          bytes / tensor.shape()[0] / (height * width)};
}

}  // namespace

void Canvas::finish() {
  if (now_.at != home_) std::memcpy(home_, now_.at, now_.bytes());
}

std::uint64_t name_of_example(std::uint32_t shard, std::uint32_t record,
                              std::uint32_t example) {
  return mix({shard, record, example});
}

void check_augmented(const NetworkConfig& config, const data::Metadata& data) {
  if (config.augment.empty()) return;
  const Wanted wanted = wanted_by(config, layout_of(config));
  for (const WantedInput& input : wanted.inputs) {
    if (input.shape.rank() != 3) continue;
    const auto field = data.schema.find(input.tensor);
    if (field != data.schema.end() && field->second.dtype != DType::kU8)
      refuse_numbers(input.tensor, field->second.dtype);
  }
}

Augmenter::Augmenter(const NetworkConfig& config) : seed_(config.seed) {
  std::uint64_t number = 0;
  for (const auto& [type, settings] : config.augment) {
    const double chance = chance_of(settings);
    if (type->make != nullptr)
      steps_.push_back({type->make(settings), chance, number});
    else
      mixing_.push_back({type->make_mixing(settings), chance, number});
    ++number;
  }
  use_threads(1);
  if (!any()) return;
  wanted_ = wanted_by(config, layout_of(config));
  const auto picture = std::ranges::find_if(
      wanted_.inputs,
      [](const WantedInput& input) { return input.shape.rank() == 3; });
  input_ = static_cast<std::size_t>(picture - wanted_.inputs.begin());
}

Augmenter::~Augmenter() = default;

void Augmenter::use_threads(int threads) {
  team_ = std::make_unique<ThreadTeam>(threads);
  rooms_.resize(static_cast<std::size_t>(threads));
}

int Augmenter::threads() const { return team_->size(); }

Philox Augmenter::random(std::uint64_t epoch, std::uint64_t example,
                         std::uint64_t step) const {
  return {seed_, mix({kAugmentation, epoch, example, step})};
}

// Features, and those labels and masks of labels that have their places.
void Augmenter::find_planes(data::DataSet& set) {
  planes_.clear();
  const WantedInput& input = wanted_.inputs[input_];
  const auto features = set.tensors.find(input.tensor);
  require(features != set.tensors.end(), "a mini-batch without its pictures");
  if (features->second.dtype() != DType::kU8)
    refuse_numbers(input.tensor, features->second.dtype());
  const std::int64_t height = input.shape[0], width = input.shape[1];
  const auto add = [&](Tensor& tensor) {
    planes_.push_back({&tensor, first_of(tensor, height, width)});
  };
  add(features->second);
  for (const WantedOutput& output : wanted_.outputs) {
    if (output.target || output.places != tensor::Shape{height, width})
      continue;
    for (const std::string* name : {&output.tensor, &output.mask}) {
      const auto found = set.tensors.find(*name);
      if (found != set.tensors.end() && found->second.shape().rank() >= 3)
        add(found->second);
    }
  }
}

void Augmenter::change(std::size_t example, std::uint64_t name,
                       std::uint64_t epoch, Room& room) const {
  Sample& sample = room.sample;
  sample.pictures.clear();
  room.spare.resize(planes_.size());
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    Picture picture = planes_[i].first;
    picture.at += example * picture.bytes();
    sample.pictures.emplace_back(picture, room.spare[i]);
  }
  for (const auto& [step, chance, number] : steps_) {
    Philox drawn = random(epoch, name, number);
    if (chance < 1 && drawn.uniform() >= chance) continue;
    step->apply(sample, drawn, room);
  }
  for (Canvas& canvas : sample.pictures) canvas.finish();
}

void Augmenter::apply(data::DataSet& set, std::span<const std::uint64_t> names,
                      std::uint64_t epoch) {
  if (!any()) return;
  find_planes(set);
  const auto threads = static_cast<std::size_t>(team_->size());
  team_->run([&](int thread) {
    const auto own = static_cast<std::size_t>(thread);
    const std::size_t begin = names.size() * own / threads,
                      end = names.size() * (own + 1) / threads;
    for (std::size_t i = begin; i < end; ++i)
      change(i, names[i], epoch, rooms_[own]);
  });
  if (mixing_.empty()) return;
  soften_labels(set);
  for (const auto& drawn : mixing_) blend(set, drawn, names, epoch);
}

// Class numbers become probabilities, 1 for the class.
void Augmenter::soften_labels(data::DataSet& set) {
  for (const WantedOutput& output : wanted_.outputs) {
    const auto found = set.tensors.find(output.tensor);
    if (output.target || found == set.tensors.end()) continue;
    Tensor& labels = found->second;
    const std::int64_t n = labels.shape()[0], units = output.units;
    const bool classes =
        are_classes(labels.dtype(), labels.shape(), units, output.places);
    labels_.assign(static_cast<std::size_t>(n * units), 0);
    for (std::int64_t i = 0; i < labels.elements(); ++i) {
      const double value = labels.value(i);
      if (classes)
        labels_[static_cast<std::size_t>(i * units) +
                static_cast<std::size_t>(value)] = 1;
      else
        labels_[static_cast<std::size_t>(i)] = static_cast<float>(value);
    }
    labels.resize(DType::kF32, {n, units});
    std::ranges::copy(labels_, labels.as<float>().begin());
  }
}

// Each example with the one before it, the first with the last: as they are
// before any of them is changed.
void Augmenter::blend(data::DataSet& set, const Drawn<MixingStep>& drawn,
                      std::span<const std::uint64_t> names,
                      std::uint64_t epoch) {
  const std::size_t n = names.size();
  const Picture& first = planes_[0].first;
  const std::size_t bytes = first.bytes();
  const auto at = [&](std::size_t i) { return first.at + i * bytes; };
  last_.assign(at(n - 1), at(n - 1) + bytes);
  shares_.assign(n, 1);
  for (std::size_t i = n; i-- > 0;) {
    Philox random = this->random(epoch, names[i], drawn.number);
    if (drawn.chance < 1 && random.uniform() >= drawn.chance) continue;
    Picture picture = first;
    picture.at = at(i);
    shares_[i] =
        drawn.step->mix(picture, i > 0 ? at(i - 1) : last_.data(), random);
  }
  for (const WantedOutput& output : wanted_.outputs) {
    const auto found = set.tensors.find(output.tensor);
    if (output.target || found == set.tensors.end()) continue;
    const auto units = static_cast<std::size_t>(output.units);
    float* labels = found->second.as<float>().data();
    labels_.assign(labels + (n - 1) * units, labels + n * units);
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t u = 0; u < units; ++u) {
        const double other = i > 0 ? labels[(i - 1) * units + u] : labels_[u];
        float& own = labels[i * units + u];
        own = static_cast<float>(shares_[i] * own + (1 - shares_[i]) * other);
      }
  }
}

}  // namespace dl::nn
