// Our side of scripts/peers augment: pictures of bytes on standard input, what
// becomes of them on standard output.
//
// peer-augment CHANGE VALUE HEIGHT WIDTH CHANNELS  - a change by a value
// peer-augment speed STEP HEIGHT WIDTH CHANNELS    - a step of dl-network(5),
// as
//   JSON; prints pictures a second of processor time

#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include "libcore/nn/augment/augmenter.h"
#include "libcore/nn/augment/blur.h"
#include "libcore/nn/augment/tones.h"
#include "libcore/nn/augment/warp.h"

namespace {

using dl::nn::Picture;
using dl::nn::Sample;
namespace augment = dl::nn::augment;

using Change = std::function<void(Sample&, double)>;

Change tone(void (*change)(const Picture&)) {
  return [change](Sample& sample, double) { change(sample.picture()); };
}

Change tone(void (*change)(const Picture&, double)) {
  return [change](Sample& sample, double value) {
    change(sample.picture(), value);
  };
}

Change moved(bool bilinear,
             std::function<augment::Affinity(double)> affinity_of) {
  return [bilinear, affinity_of](Sample& sample, double value) {
    static dl::nn::Room room;
    augment::Sampling sampling;
    sampling.bilinear = bilinear;
    augment::warp(sample,
                  augment::matrix_of(affinity_of(value), sample.picture()),
                  sampling, room);
  };
}

std::map<std::string, Change> changes() {
  std::map<std::string, Change> all = {
      {"brightness", tone(augment::adjust_brightness)},
      {"contrast", tone(augment::adjust_contrast)},
      {"saturation", tone(augment::adjust_saturation)},
      {"hue", tone(augment::adjust_hue)},
      {"grey", tone(augment::make_grey)},
      {"invert", tone(augment::invert_values)},
      {"autocontrast", tone(augment::stretch_contrast)},
      {"equalize", tone(augment::spread_values)},
      {"solarize", tone(augment::invert_from)},
      {"posterize",
       [](Sample& sample, double value) {
         augment::keep_bits(sample.picture(), static_cast<int>(value));
       }},
      {"sharpness",
       [](Sample& sample, double value) {
         augment::adjust_sharpness(sample.pictures[0], value);
       }},
      {"blur", [](Sample& sample, double value) {
         static dl::nn::Room room;
         augment::blur(sample.pictures[0], augment::bell(9, value), room);
       }}};
  for (const bool bilinear : {false, true}) {
    const std::string kind = bilinear ? "-bilinear" : "-nearest";
    all["rotate" + kind] = moved(bilinear, [](double value) {
      return augment::Affinity{.angle = value};
    });
    all["scale" + kind] = moved(bilinear, [](double value) {
      return augment::Affinity{.scale = value};
    });
    all["shear" + kind] = moved(bilinear, [](double value) {
      return augment::Affinity{.shear_x = value};
    });
  }
  return all;
}

void change(const Change& change, double value, Picture shape) {
  std::vector<std::uint8_t> pixels(std::istreambuf_iterator<char>(std::cin),
                                   {});
  std::vector<std::uint8_t> spare;
  for (std::size_t at = 0; at + shape.bytes() <= pixels.size();
       at += shape.bytes()) {
    Picture picture = shape;
    picture.at = pixels.data() + at;
    Sample sample;
    sample.pictures.emplace_back(picture, spare);
    change(sample, value);
    sample.pictures[0].finish();
  }
  std::cout.write(reinterpret_cast<const char*>(pixels.data()),
                  static_cast<std::streamsize>(pixels.size()));
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void measure(const std::string& step, const Picture& shape) {
  constexpr std::int64_t kCount = 64;
  constexpr double kSeconds = 0.5;
  const std::string sides = std::to_string(shape.height) + ", " +
                            std::to_string(shape.width) + ", " +
                            std::to_string(shape.channels);
  dl::nn::Augmenter augmenter(dl::nn::parse_network(
      R"({"input": {"shape": [)" + sides + R"(]}, "augment": [)" + step +
          R"(], "layers": [{"type": "output", "units": 10,
           "activation": "softmax", "loss": "negative_log_likelihood"}]})",
      "the step"));
  dl::data::DataSet set;
  set.tensors.emplace(
      "features",
      dl::tensor::Tensor(dl::tensor::DType::kU8,
                         {kCount, shape.height, shape.width, shape.channels}));
  dl::Philox random(1, 1);
  for (auto& value : set.tensors["features"].as<std::uint8_t>())
    value = static_cast<std::uint8_t>(random());
  std::vector<std::uint64_t> names(kCount);
  std::iota(names.begin(), names.end(), 0u);
  const double begin = processor_seconds();
  std::int64_t pictures = 0;
  for (std::uint64_t epoch = 0; processor_seconds() < begin + kSeconds;
       ++epoch) {
    augmenter.apply(set, names, epoch);
    pictures += kCount;
  }
  std::cout << static_cast<double>(pictures) / (processor_seconds() - begin)
            << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 64;
  const std::string what = arguments[1];
  Picture shape;
  shape.height = std::atol(arguments[3]);
  shape.width = std::atol(arguments[4]);
  shape.channels = std::atol(arguments[5]);
  if (what == "speed") {
    measure(arguments[2], shape);
    return 0;
  }
  const auto all = changes();
  if (!all.contains(what)) return 64;
  change(all.at(what), std::atof(arguments[2]), shape);
  return std::cout.flush() ? 0 : 74;
}
