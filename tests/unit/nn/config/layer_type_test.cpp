// Rules for every type of layers, and the facts that each states in one place
// alone.

#include "libcore/nn/config/layer_type.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "libcore/nn/model/initialise.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::layer_type_test {
namespace {

// A value that a key without a default may have.
Json some_value(const Key& key) {
  switch (key.kind) {
    case Kind::kInteger:
      return 2;
    case Kind::kShape:
      return key.name == "axes" ? Json{1, 0} : Json::array({12});
    case Kind::kTuple:
      return Json(std::vector<int>(key.places(), 2));
    case Kind::kNumber:
      return 0.5;
    case Kind::kOneOf:
      return key.values.back();
    case Kind::kTagOrObject:
      return tag_of(key.of)->values.front();
    default:
      FAIL("no value for " << key.name);
      return {};
  }
}

// A layer that says no more than it must.
Json least_of(const LayerType& type) {
  Json layer{{"type", type.name}};
  for (const Key& key : type.keys)
    if (key.required()) layer[std::string(key.name)] = some_value(key);
  return layer;
}

// A shape that layers of the type take.
std::string shape_for(const LayerType& type) {
  if (type.tokens != nullptr) return "[4]";
  if (type.output != nullptr) return "[4, 2]";
  if (type.name.ends_with("3d")) return "[3, 4, 4, 2]";
  const bool images = type.name.find("2d") != std::string_view::npos ||
                      type.name == "space_to_depth";
  return images ? "[4, 4, 3]" : "[4, 3]";
}

// A network with it, and what it needs: the input as often as it takes it, of
// types that repeat a vector first, and an output.
NetworkConfig network_with(const LayerType& type) {
  std::vector<std::string> from(std::max<std::size_t>(type.inputs.least, 1),
                                "in");
  Json inputs = Json::array();
  if (type.name.starts_with("repeat")) {
    from[0] = "vector";
    inputs.push_back({{"name", "vector"}, {"shape", {4}}});
  }
  if (from.back() == "in")
    inputs.push_back({{"name", "in"}, {"shape", Json::parse(shape_for(type))}});
  Json layer = least_of(type);
  layer["name"] = "it";
  layer["from"] = from;
  Json nodes = Json::array({layer});
  Json outputs = Json::array();
  if (type.output != nullptr) outputs.push_back("it");
  if (type.output == nullptr || type.trains == Trains::kNothing) {
    outputs.push_back("end");
    nodes.push_back({{"type", "output"},
                     {"name", "end"},
                     {"units", 2},
                     {"from", type.output == nullptr ? "it" : from.back()},
                     {"loss", "mean_squared_error"}});
  }
  const Json document{
      {"seed", 7}, {"inputs", inputs}, {"nodes", nodes}, {"outputs", outputs}};
  return parse_network(document.dump(), "'test.json'");
}

}  // namespace

TEST_CASE("a type of layers is whole") {
  std::set<std::string_view> names;
  for (const LayerType* type : layer_types()) {
    CAPTURE(type->name);
    CHECK(names.insert(type->name).second);
    CHECK(&layer_type(type->name) == type);
    CHECK(type->infer != nullptr);
    std::set<std::string_view> keys;
    for (const Key& key : type->keys) {
      CAPTURE(key.name);
      CHECK(key.object == "layer");
      CHECK(keys.insert(key.name).second);
      // type, name and those of training are not the type's.
      std::size_t found = 0;
      for (const Key* known : keys_of("layer", type->name))
        found += known->name == key.name;
      CHECK(found == 1);
    }
  }
  CHECK_THROWS_AS(layer_type("no such type"), Error);
}

TEST_CASE("a layer has a setting for each key of its type") {
  const std::set<std::string_view> kLeftOut{"(none)", "(false)",
                                            R"(("counted"))"};
  for (const LayerType* type : layer_types()) {
    CAPTURE(type->name);
    const LayerConfig layer = network_with(*type).layers.front();
    for (const Key& key : type->keys)
      CHECK(layer.settings.has(key.name) == !kLeftOut.contains(key.fallback));
  }
}

TEST_CASE("a layer's tensors are learnt as its keys of training say") {
  for (const LayerType* type : layer_types()) {
    CAPTURE(type->name);
    const Layout layout = layout_of(network_with(*type));
    const LayerLayout& layer = layout.layers.front();
    CHECK((layer.parameters_end > layer.parameters_begin) ==
          (type->trains > Trains::kNothing));
    for (std::size_t i = layer.parameters_begin; i < layer.parameters_end;
         ++i) {
      const Segment& segment = layout.parameters[i];
      CAPTURE(segment.name);
      CHECK(segment.role != Role::kStatistic);
      if (segment.role == Role::kWeight) {
        CHECK(type->trains >= Trains::kWeights);
        CHECK(segment.fan_in > 0);
        CHECK(segment.fan_out > 0);
      }
      if (segment.recurrent) CHECK(type->trains == Trains::kRecurrentWeights);
    }
    for (std::size_t i = layer.statistics_begin; i < layer.statistics_end; ++i)
      CHECK(layout.statistics[i].role == Role::kStatistic);
  }
}

TEST_CASE(
    "a layer of any type learns on the cpu what it does on the reference") {
  for (const LayerType* type : layer_types()) {
    const NetworkConfig config = network_with(*type);
    const data::DataSet set = testing::random_set(config, 5);
    const auto run = [&](const char* device) {
      Network network = testing::compile(config, 5, device, 2);
      const Batch batch = network.batch_of(set);
      for (int i = 0; i < 3; ++i) testing::train(network, batch, i);
      std::vector<Prediction> outputs;
      network.predict(batch.inputs, outputs);
      const auto all = outputs.at(0).values.as<float>();
      return std::vector<double>(all.begin(), all.end());
    };
    CAPTURE(type->name);
    CHECK(testing::distance(run("cpu"), run("reference")) < 1e-5);
  }
}

// It is what parts of sequences rely on.
TEST_CASE("layers that go step by step say of a part what they say of it") {
  constexpr std::int64_t kSteps = 4, kCut = 1;
  std::set<std::string_view> apart, carrying;
  for (const LayerType* type : layer_types()) {
    CAPTURE(type->name);
    NetworkConfig config = network_with(*type);
    if (type->tokens == nullptr)
      for (InputConfig& input : config.inputs)
        input.steps = input.shape[0] == kSteps && input.shape.rank() > 1;
    Layout layout;
    try {
      layout = layout_of(config);
    } catch (const Error&) {
      continue;  // it does not take sequences
    }
    const LayerLayout& layer = layout.layers.front();
    const bool sequence = std::ranges::any_of(layer.inputs, &ValueSpec::steps);
    if (!layer.carried.empty()) carrying.insert(type->name);
    if (!sequence || !layer.step_by_step) continue;
    apart.insert(type->name);
    const data::DataSet all = testing::random_set(config, 5);
    const auto predict = [&](std::int64_t begin, std::int64_t end) {
      NetworkConfig own = config;
      data::DataSet set;
      for (std::size_t i = 0; i < config.inputs.size(); ++i) {
        const std::string name = config.inputs.size() > 1
                                     ? "features/" + config.inputs[i].name
                                     : "features";
        tensor::Tensor& x = set.tensors[name] = all.get(name);
        if (!layout.inputs[i].steps) continue;
        tensor::Shape& shape = own.inputs[i].shape;
        shape = shape.without_first().with_first(end - begin);
        x = testing::steps_of(x, begin, end);
      }
      Network network(own, data::Normalizers{}, 5, device::open_lanes("cpu", 1),
                      false);
      network.device().upload(network.parameters(),
                              initial_parameters(own, layout_of(own)));
      std::vector<Prediction> said;
      network.predict(network.batch_of(set).inputs, said);
      return std::move(said[0].values);
    };
    const tensor::Tensor whole = predict(0, kSteps);
    for (const auto& [begin, end] :
         {std::pair{std::int64_t{0}, kCut}, std::pair{kCut, kSteps}}) {
      const tensor::Tensor part = predict(begin, end),
                           want = testing::steps_of(whole, begin, end);
      REQUIRE(part.shape() == want.shape());
      CHECK(std::ranges::equal(part.as<float>(), want.as<float>()));
    }
  }
  CHECK(carrying == std::set<std::string_view>{"lstm", "gru", "simple_rnn"});
  for (const char* name : {"dense", "add", "dropout", "masking", "layer_norm"})
    CHECK(apart.contains(name));
}

// So that a type is added, changed and removed in its file.
TEST_CASE("types of layers are named in their own files alone") {
  namespace fs = std::filesystem;
  // Words that the rest of the code has other uses for.
  const std::set<std::string_view> kCommon{"activation", "output", "max",
                                           "min",        "scale",  "loss"};
  const fs::path root = fs::path(DL_SOURCE_DIR) / "libcore/nn";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    // Fusions know the layers that they join; steps of augmentation have names
    // of their own.
    if (!entry.is_regular_file() || path.parent_path() == root / "layers" ||
        path.parent_path() == root / "layers/parts" ||
        path.parent_path() == root / "augment" ||
        path.parent_path() == root / "fusions")
      continue;
    std::ifstream file(path);
    std::string code;
    for (std::string line; std::getline(file, line);)
      code += line.substr(0, line.find("//")) + "\n";
    for (const LayerType* type : layer_types()) {
      if (kCommon.contains(type->name)) continue;
      INFO(path.filename().string() << " knows " << type->name);
      CHECK(code.find("\"" + std::string(type->name) + "\"") ==
            std::string::npos);
    }
  }
}

}  // namespace dl::nn::layer_type_test
