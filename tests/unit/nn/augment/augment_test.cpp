// Steps of augmentation: what each does to small pictures, and that what is
// drawn follows from seed, epoch and example alone.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/augmenter.h"
#include "libcore/nn/augment/blur.h"
#include "libcore/nn/augment/tones.h"
#include "libcore/nn/augment/warp.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::augment_test {

using tensor::DType;
using tensor::Shape;
using testing::Tensor;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr const char* kClasses =
    R"({"type": "output", "units": 3, "activation": "softmax",
        "loss": "negative_log_likelihood"})";
constexpr const char* kPlaces =
    R"({"type": "conv2d", "filters": 3, "kernel": [1, 1]},
       {"type": "loss", "units": 3, "activation": "softmax",
        "loss": "negative_log_likelihood"})";

NetworkConfig network(const std::string& steps, const Shape& shape,
                      const char* layers = kClasses) {
  return testing::sequence(shape.to_string(), layers,
                           R"(, "augment": [)" + steps + "]");
}

std::string refusal(const std::string& steps, const char* layers = kClasses,
                    const Shape& shape = {8, 8, 3}) {
  try {
    network(steps, shape, layers);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kConfig);
    return e.what();
  }
  return "";
}

// n pictures of numbers that differ, and labels i % 3.
data::DataSet pictures(std::int64_t n, const Shape& shape) {
  data::DataSet set;
  Tensor features(DType::kU8, shape.with_first(n)), labels(DType::kI32, {n});
  Philox random(5, 5);
  for (std::uint8_t& value : features.as<std::uint8_t>())
    value = static_cast<std::uint8_t>(random());
  for (std::int64_t i = 0; i < n; ++i)
    labels.as<std::int32_t>()[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(i % 3);
  set.tensors.emplace("features", std::move(features));
  set.tensors.emplace("labels", std::move(labels));
  return set;
}

Bytes bytes_of(const data::DataSet& set, const char* name = "features") {
  const auto bytes = set.get(name).as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint64_t> names(std::int64_t n) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 100u);
  return all;
}

// The pictures of an epoch.
data::DataSet augmented(const NetworkConfig& config, data::DataSet set,
                        std::uint64_t epoch = 0, int threads = 1) {
  Augmenter augmenter(config);
  augmenter.use_threads(threads);
  augmenter.apply(set, names(set.examples()), epoch);
  return set;
}

// One picture after one step.
Bytes changed(const std::string& step, const Shape& shape, const Bytes& from,
              std::uint64_t epoch = 0) {
  data::DataSet set;
  Tensor features(DType::kU8, shape.with_first(1));
  std::ranges::copy(from, features.as<std::uint8_t>().begin());
  set.tensors.emplace("features", std::move(features));
  return bytes_of(augmented(network(step, shape), std::move(set), epoch));
}

constexpr const char* kAll[] = {
    R"({"type": "flip"})",
    R"({"type": "flip", "direction": "vertical"})",
    R"({"type": "crop", "padding": 3, "padding_mode": "reflect"})",
    R"({"type": "resized_crop"})",
    R"({"type": "rotate", "degrees": 30, "interpolation": "bilinear"})",
    R"({"type": "affine", "degrees": 10, "translate": [0.2, 0.1],
        "scale": [0.8, 1.2], "shear": 10})",
    R"({"type": "perspective"})",
    R"({"type": "color_jitter", "brightness": 0.4, "contrast": 0.4,
        "saturation": 0.4, "hue": 0.1})",
    R"({"type": "grayscale"})",
    R"({"type": "invert"})",
    R"({"type": "autocontrast"})",
    R"({"type": "equalize"})",
    R"({"type": "posterize"})",
    R"({"type": "solarize"})",
    R"({"type": "sharpness"})",
    R"({"type": "gaussian_blur"})",
    R"({"type": "gaussian_noise"})",
    R"({"type": "erase"})",
    R"({"type": "erase", "filling": "random"})",
    R"({"type": "cutout", "size": 4})",
    R"({"type": "rand_augment"})",
    R"({"type": "trivial_augment"})",
    R"({"type": "mixup"})",
    R"({"type": "cutmix"})"};

}  // namespace

TEST_CASE("every type of steps is tried here") {
  for (const AugmentType* type : augment_types()) {
    INFO(type->name);
    CHECK(std::ranges::any_of(kAll, [&](std::string_view step) {
      return step.find("\"" + std::string(type->name) + "\"") !=
             std::string_view::npos;
    }));
    CHECK((type->make != nullptr) != (type->make_mixing != nullptr));
    CHECK_FALSE(type->words.empty());
  }
}

TEST_CASE("augmentation is the same for any number of threads") {
  const std::string step =
      GENERATE(from_range(std::begin(kAll), std::end(kAll)));
  const Shape shape = GENERATE(Shape{17, 19, 3}, Shape{19, 17, 1});
  INFO(step << shape.to_string());
  const NetworkConfig config = network(step, shape);
  const data::DataSet set = pictures(40, shape);
  const Bytes once = bytes_of(augmented(config, set));
  CHECK(bytes_of(augmented(config, set, 0, 2)) == once);
  CHECK(bytes_of(augmented(config, set, 0, 3)) == once);
  if (config.augment[0].type->name == std::string("grayscale") &&
      shape[2] == 1) {
    CHECK(once == bytes_of(set));
    return;
  }
  CHECK(once != bytes_of(set));
  CHECK(bytes_of(augmented(config, set, 1)) != once);
}

TEST_CASE("an example is drawn for by its name, wherever it stands") {
  const std::string step =
      GENERATE(from_range(std::begin(kAll), std::end(kAll) - 2));
  const Shape shape{8, 8, 3};
  const NetworkConfig config = network(step, shape);
  const data::DataSet set = pictures(10, shape);
  data::DataSet turned = set;
  for (std::int64_t i = 0; i < 10; ++i)
    data::copy_example(turned, 9 - i, set, i);
  auto backwards = names(10);
  std::ranges::reverse(backwards);
  Augmenter(config).apply(turned, backwards, 3);
  const data::DataSet ahead = augmented(config, set, 3);
  data::DataSet again = ahead;
  for (std::int64_t i = 0; i < 10; ++i)
    data::copy_example(again, 9 - i, turned, i);
  CHECK(bytes_of(again) == bytes_of(ahead));
}

TEST_CASE("steps that are never applied change nothing") {
  for (const char* step : kAll) {
    std::string never = step;
    never.insert(never.size() - 1, R"(, "p": 0)");
    const data::DataSet set = pictures(6, {8, 8, 3});
    CHECK(bytes_of(augmented(network(never, {8, 8, 3}), set)) == bytes_of(set));
  }
}

TEST_CASE("parameters that ask for nothing change nothing") {
  const char* step = GENERATE(
      R"({"type": "resized_crop", "scale": [1, 1], "ratio": [1, 1]})",
      R"({"type": "rotate", "degrees": 0})",
      R"({"type": "rotate", "degrees": 0, "interpolation": "bilinear"})",
      R"({"type": "affine"})",
      R"({"type": "affine", "interpolation": "bilinear"})",
      R"({"type": "perspective", "distortion_scale": 0, "p": 1})",
      R"({"type": "color_jitter"})",
      R"({"type": "posterize", "bits": 8, "p": 1})",
      R"({"type": "solarize", "threshold": 256, "p": 1})",
      R"({"type": "sharpness", "sharpness_factor": 1, "p": 1})",
      R"({"type": "gaussian_blur", "kernel_size": 1})",
      R"({"type": "gaussian_noise", "sigma": 0})",
      R"({"type": "rand_augment", "num_ops": 0})");
  INFO(step);
  const data::DataSet set = pictures(20, {8, 8, 3});
  CHECK(bytes_of(augmented(network(step, {8, 8, 3}), set)) == bytes_of(set));
}

TEST_CASE("p is the share of examples that a step changes") {
  const double p = GENERATE(0.1, 0.5, 0.9);
  constexpr std::int64_t kCount = 4000;
  const data::DataSet set = pictures(kCount, {1, 2, 1});
  const data::DataSet after =
      augmented(network(R"({"type": "invert", "p": )" + std::to_string(p) + "}",
                        {1, 2, 1}),
                set);
  const Bytes a = bytes_of(set), b = bytes_of(after);
  std::int64_t inverted = 0;
  for (std::size_t i = 0; i < a.size(); i += 2) inverted += a[i] != b[i];
  // Within four standard deviations.
  CHECK(static_cast<double>(inverted) / kCount ==
        Approx(p).margin(4 * std::sqrt(p * (1 - p) / kCount)));
}

TEST_CASE("flip mirrors columns or rows") {
  const Bytes from = {1, 2, 3, 4, 5, 6};
  CHECK(changed(R"({"type": "flip", "p": 1})", {2, 3, 1}, from) ==
        Bytes{3, 2, 1, 6, 5, 4});
  CHECK(changed(R"({"type": "flip", "p": 1})", {1, 2, 3}, from) ==
        Bytes{4, 5, 6, 1, 2, 3});
  CHECK(changed(R"({"type": "flip", "p": 1, "direction": "vertical"})",
                {3, 2, 1}, from) == Bytes{5, 6, 3, 4, 1, 2});
}

TEST_CASE("crop shows each place of the padded picture as often") {
  const Bytes from = {1, 2, 3, 4};
  const auto counts = [&](const std::string& mode) {
    std::map<Bytes, int> seen;
    for (std::uint64_t epoch = 0; epoch < 900; ++epoch)
      ++seen[changed(R"({"type": "crop", "padding": 1, "padding_mode": ")" +
                         mode + R"(", "fill": 9})",
                     {2, 2, 1}, from, epoch)];
    return seen;
  };
  const auto constant = counts("constant");
  CHECK(constant.size() == 9);
  for (const auto& [picture, count] : constant) {
    CHECK(count > 60);
    CHECK(count < 140);
  }
  CHECK(constant.contains(Bytes{9, 9, 9, 1}));
  CHECK(constant.contains(Bytes{9, 1, 9, 3}));
  CHECK(constant.contains(Bytes{4, 9, 9, 9}));
  CHECK(counts("edge").contains(Bytes{1, 1, 1, 1}));
  CHECK(counts("reflect").contains(Bytes{4, 3, 2, 1}));
  CHECK(counts("symmetric").contains(Bytes{1, 1, 1, 1}));
}

TEST_CASE("rotations of a quarter are exact") {
  std::vector<std::vector<std::uint8_t>> spare(1);
  Bytes from = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  Room room;
  Sample sample;
  sample.pictures.emplace_back(Picture{from.data(), 3, 3, 1}, spare[0]);
  augment::Sampling sampling;
  sampling.bilinear = GENERATE(false, true);
  augment::warp(sample, augment::matrix_of({.angle = 90}, sample.picture()),
                sampling, room);
  sample.pictures[0].finish();
  CHECK(from == Bytes{7, 4, 1, 8, 5, 2, 9, 6, 3});
}

TEST_CASE("a picture that moves leaves the fill behind") {
  std::vector<std::vector<std::uint8_t>> spare(1);
  Bytes from = {1, 2, 3, 4, 5, 6};
  Room room;
  Sample sample;
  sample.pictures.emplace_back(Picture{from.data(), 2, 3, 1}, spare[0]);
  augment::Sampling sampling;
  sampling.fill = 7;
  augment::warp(sample,
                augment::matrix_of({.right = 1, .down = 1}, sample.picture()),
                sampling, room);
  sample.pictures[0].finish();
  CHECK(from == Bytes{7, 7, 7, 7, 1, 2});
}

TEST_CASE("tones of one value") {
  const auto toned = [](Bytes values, std::int64_t channels,
                        const auto& change) {
    change(Picture{values.data(), 1,
                   static_cast<std::int64_t>(values.size()) / channels,
                   channels});
    return values;
  };
  CHECK(toned({10, 100, 200}, 1, [](const Picture& p) {
          augment::adjust_brightness(p, 1.5);
        }) == Bytes{15, 150, 255});
  CHECK(toned({0, 100, 200}, 1, [](const Picture& p) {
          augment::adjust_contrast(p, 0.5);
        }) == Bytes{50, 100, 150});
  CHECK(toned({255, 0, 0}, 3, [](const Picture& p) {
          augment::adjust_hue(p, 1.0 / 3);
        }) == Bytes{0, 255, 0});
  CHECK(toned({255, 0, 0}, 3, augment::make_grey) == Bytes{76, 76, 76});
  CHECK(toned({200, 100, 0}, 3, [](const Picture& p) {
          augment::adjust_saturation(p, 0);
        }) == Bytes{118, 118, 118});
  CHECK(toned({0x7F, 0xFF}, 1, [](const Picture& p) {
          augment::keep_bits(p, 4);
        }) == Bytes{0x70, 0xF0});
  CHECK(toned({100, 128}, 1, [](const Picture& p) {
          augment::invert_from(p, 128);
        }) == Bytes{100, 127});
  CHECK(toned({50, 60, 101}, 1, augment::stretch_contrast) ==
        Bytes{0, 50, 255});
}

TEST_CASE("a curve keeps the sum, and blurs a dot evenly") {
  for (const std::int64_t size : {3, 5, 9})
    for (const double sigma : {0.1, 0.8, 2.0, 20.0}) {
      const auto curve = augment::bell(size, sigma);
      CHECK(std::accumulate(curve.weights.begin(), curve.weights.end(), 0) ==
            256);
    }
  const Bytes flat(48, 77);
  CHECK(changed(R"({"type": "gaussian_blur", "kernel_size": 5})", {4, 4, 3},
                flat) == flat);
  Bytes dot(25, 0);
  dot[12] = 160;
  const Bytes blurred =
      changed(R"({"type": "gaussian_blur", "kernel_size": 3, "sigma": [5, 5]})",
              {5, 5, 1}, dot);
  CHECK(blurred[12] == Approx(160 / 9.0).margin(1.5));
  CHECK(blurred[6] == blurred[18]);
  CHECK(blurred[0] == 0);
}

TEST_CASE("noise has the deviation that is asked for") {
  const Bytes after = changed(R"({"type": "gaussian_noise", "sigma": 0.1})",
                              {100, 100, 1}, Bytes(10000, 128));
  double sum = 0, squares = 0;
  for (const std::uint8_t value : after) {
    sum += value - 128;
    squares += (value - 128) * (value - 128);
  }
  CHECK(sum / 10000 == Approx(0).margin(1));
  CHECK(std::sqrt(squares / 10000) == Approx(25.5).epsilon(0.04));
}

TEST_CASE("erase covers a share of the picture, cutout a square") {
  const auto covered = [](const Bytes& picture) {
    return std::ranges::count(picture, 9);
  };
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const auto erased =
        covered(changed(R"({"type": "erase", "value": 9, "p": 1})", {40, 40, 1},
                        Bytes(1600, 0), epoch));
    CHECK(erased > 0.01 * 1600);
    CHECK(erased < 0.36 * 1600);
    const auto cut = covered(changed(R"({"type": "cutout", "value": 9})",
                                     {40, 40, 1}, Bytes(1600, 0), epoch));
    CHECK(cut >= 64);
    CHECK(cut <= 256);
  }
}

TEST_CASE("mixed labels are shares of classes, those of the pictures") {
  const char* step = GENERATE(R"({"type": "mixup"})", R"({"type": "cutmix"})");
  const Shape shape{16, 16, 1};
  data::DataSet set = pictures(6, shape);
  // Example i is of 40 i alone.
  for (std::size_t i = 0; i < 6; ++i)
    std::fill_n(set.tensors.at("features").as<std::uint8_t>().begin() +
                    static_cast<std::ptrdiff_t>(256 * i),
                256, static_cast<std::uint8_t>(40 * i));
  const data::DataSet after = augmented(network(step, shape), set);
  const Tensor& labels = after.get("labels");
  REQUIRE(labels.dtype() == DType::kF32);
  REQUIRE(labels.shape() == Shape{6, 3});
  for (std::size_t i = 0; i < 6; ++i) {
    const auto own = labels.as<float>().subspan(3 * i, 3);
    CHECK(own[0] + own[1] + own[2] == Approx(1));
    const std::size_t before = (i + 5) % 6;
    const double share = own[i % 3];
    CHECK(own[before % 3] == Approx(1 - share).margin(1e-6));
    const auto pixels =
        after.get("features").as<std::uint8_t>().subspan(256 * i, 256);
    const double mean =
        std::accumulate(pixels.begin(), pixels.end(), 0.0) / 256;
    CHECK(mean == Approx(share * 40 * static_cast<double>(i) +
                         (1 - share) * 40 * static_cast<double>(before))
                      .margin(0.51));
  }
}

TEST_CASE("a mini-batch of one example is mixed with itself") {
  const data::DataSet set = pictures(1, {4, 4, 3});
  const data::DataSet after =
      augmented(network(R"({"type": "mixup"})", {4, 4, 3}), set);
  CHECK(bytes_of(after) == bytes_of(set));
  CHECK(after.get("labels").as<float>()[0] == Approx(1));
}

TEST_CASE("labels of each place move along, and their mask") {
  const Shape shape{4, 6, 1};
  data::DataSet set = pictures(20, shape);
  Tensor labels(DType::kI32, {20, 4, 6}), mask(DType::kF32, {20, 4, 6});
  // Labels are the pictures, cut to three classes.
  const auto pixels = set.get("features").as<std::uint8_t>();
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    labels.as<std::int32_t>()[i] = pixels[i] % 3;
    mask.as<float>()[i] = 1;
  }
  set.tensors["labels"] = std::move(labels);
  set.tensors["labels_mask"] = std::move(mask);
  for (const char* step :
       {R"({"type": "flip"})", R"({"type": "crop", "padding": 2})",
        R"({"type": "rotate", "degrees": 90})",
        R"({"type": "affine", "translate": [0.5, 0.5]})",
        R"({"type": "resized_crop", "interpolation": "nearest"})"}) {
    INFO(step);
    const data::DataSet after = augmented(network(step, shape, kPlaces), set);
    const auto moved = after.get("features").as<std::uint8_t>();
    CHECK(bytes_of(after) != bytes_of(set));
    bool alike = true;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const bool counts = after.get("labels_mask").as<float>()[i] == 1;
      const auto label = after.get("labels").as<std::int32_t>()[i];
      alike = alike &&
              (counts ? label == moved[i] % 3 : label == 0 && moved[i] == 0);
    }
    CHECK(alike);
  }
}

TEST_CASE("steps that make no sense are refused by name") {
  CHECK(refusal(R"({"type": "flop"})") ==
        "'test.json': augment[0].type: want " +
            dl::nn::tag_of("augment")->wanted() +
            ", got \"flop\"; did you mean 'flip'?");
  CHECK(refusal(R"({"type": "RandomHorizontalFlip"})")
            .ends_with("; here it is called 'flip'"));
  CHECK(refusal(R"({"type": "crop", "pad": 4})")
            .starts_with("'test.json': augment[0].pad: "));
  CHECK(refusal(R"({"type": "flip", "p": 1.5})") ==
        "'test.json': augment[0].p: want number in [0, 1], got 1.5");
  CHECK(refusal(R"({"type": "resized_crop", "scale": [1, 0.5]})") ==
        "'test.json': augment[0].scale: want the smaller number first, got "
        "[1,0.5]");
  CHECK(refusal(R"({"type": "resized_crop", "scale": 0.5})") ==
        "'test.json': augment[0].scale: want [low, high], numbers in (0, 1], "
        "got 0.5");
  CHECK(refusal(R"({"type": "crop", "padding": 9})") ==
        "'test.json': augment[0].padding: is more than the picture [8, 8, 3] "
        "measures");
  CHECK(refusal(R"({"type": "gaussian_blur", "kernel_size": 4})") ==
        "'test.json': augment[0].kernel_size: want an odd number, got 4");
  CHECK(refusal(R"({"type": "rand_augment", "magnitude": 31})")
            .starts_with("'test.json': augment[0].magnitude: want 0..30"));
  CHECK(refusal(R"({"type": "mixup"}, {"type": "flip"})") ==
        "'test.json': augment[1]: 'flip': stands behind a step that mixes "
        "examples; want those last");
  CHECK(refusal(R"({"type": "mixup"})", kPlaces)
            .starts_with("'test.json': augment[0]: 'mixup': it mixes labels"));
  CHECK(refusal(R"({"type": "mixup"})",
                R"({"type": "output", "units": 3, "loss": "hinge"})")
            .starts_with("'test.json': augment[0]: 'mixup': 'hinge' cannot"));
  CHECK(refusal(R"({"type": "flip"})", kClasses, {12}) ==
        "'test.json': augment: wants one input that is a picture, [height, "
        "width, channels]");
  CHECK(refusal(R"("flip")") ==
        "'test.json': augment[0]: want augment object, as {\"type\": "
        "\"flip\"}, got \"flip\"");
}

TEST_CASE("pictures of other numbers than bytes are refused") {
  const NetworkConfig config = network(R"({"type": "flip"})", {2, 2, 1});
  data::DataSet set;
  set.tensors.emplace("features", Tensor(DType::kF32, {1, 2, 2, 1}));
  data::Metadata metadata;
  metadata.schema = data::Metadata::schema_of(set);
  const std::string want =
      R"('features' is F32, and "augment" wants pictures of bytes, U8)";
  CHECK_THROWS_WITH(check_augmented(config, metadata), want);
  CHECK_THROWS_WITH(Augmenter(config).apply(set, names(1), 0), want);
}

TEST_CASE("the resolved network has the steps with all defaults") {
  const NetworkConfig config =
      network(R"({"type": "flip"}, {"type": "crop"})", {8, 8, 3});
  const Json json = to_json(config);
  CHECK(json["augment"][0] ==
        Json({{"type", "flip"}, {"direction", "horizontal"}, {"p", 0.5}}));
  CHECK(json["augment"][1]["padding"] == 4);
  CHECK(to_json(parse_network(dump_json(json), "'again'")) == json);
}

}  // namespace dl::nn::augment_test
