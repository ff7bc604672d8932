#include "libcore/vectorize/analysis/propose_network.h"

#include <catch2/catch.hpp>
#include <map>

#include "libcore/base/error.h"

namespace dl::vectorize::propose_network_test {
namespace {

data::Metadata described(tensor::DType labels, tensor::Shape shape) {
  data::Metadata metadata;
  metadata.schema["features"] = {tensor::DType::kF32, {7}};
  metadata.schema["labels"] = {labels, shape};
  return metadata;
}

}  // namespace

TEST_CASE("a proposed network has the input and output that examples have") {
  data::Metadata classes = described(tensor::DType::kI32, {});
  classes.classes = {"a", "b", "c"};
  const Json network = propose_network(classes, 1000).network;
  CHECK(network["input"]["shape"] == Json::array({7}));
  CHECK(network["layers"].back()["units"] == 3);
  CHECK(network["layers"].back()["activation"] == "softmax");
  const Json numbers =
      propose_network(described(tensor::DType::kF32, {2}), 1000).network;
  CHECK(numbers["layers"].back()["units"] == 2);
  CHECK(numbers["layers"].back()["loss"] == "mean_squared_error");
}

TEST_CASE("many examples get fewer epochs of larger mini-batches") {
  const data::Metadata metadata = described(tensor::DType::kF32, {1});
  const ProposedNetwork few = propose_network(metadata, 100),
                        some = propose_network(metadata, 1000),
                        many = propose_network(metadata, 1'000'000);
  CHECK(few.epochs == 200);
  CHECK(few.batch == 32);
  CHECK(some.epochs == 64);
  CHECK(many.epochs == 40);
  CHECK(many.batch == 256);
  CHECK(many.network["updater"]["learning_rate"]["limit"] == 40);
}

TEST_CASE("examples that are no row of numbers, or lack labels, get none") {
  data::Metadata pictures = described(tensor::DType::kI32, {});
  pictures.schema["features"].shape = {8, 8, 3};
  CHECK_THROWS_AS(propose_network(pictures, 10), Error);
  data::Metadata alone = described(tensor::DType::kI32, {});
  alone.schema.erase("labels");
  CHECK_THROWS_AS(propose_network(alone, 10), Error);
}

namespace {

data::Metadata windows(Json series) {
  data::Metadata metadata;
  metadata.schema["features"] = {tensor::DType::kF32, {5, 3}};
  metadata.schema["labels"] = {tensor::DType::kF32, {4}};
  metadata.columns = {"other", "a", "b"};
  metadata.recipe = {
      {"series", std::move(series)},
      {"tensors", {{"labels", {{"type", "number"}, {"from", {"a", "b"}}}}}}};
  return metadata;
}

std::map<std::string, Json> nodes_of(const data::Metadata& metadata) {
  std::map<std::string, Json> nodes;
  const Json network = propose_network(metadata, 1000).network;
  for (const Json& node : network.at("nodes")) nodes[node.at("name")] = node;
  return nodes;
}

}  // namespace

TEST_CASE("a network for windows begins as the naive forecast") {
  auto nodes = nodes_of(windows({{"window", 5}, {"horizon", 2}}));
  CHECK(nodes.at("own")["begin"] == 1);
  CHECK(nodes.at("own")["end"] == 3);
  CHECK(nodes.at("held")["n"] == 2);
  CHECK(nodes.at("sum")["from"] == Json({"line", "curve", "naive"}));
  CHECK(nodes.at("line")["weight_init"] == "zero");
  CHECK(nodes.at("seen")["from"] == Json({"changes", "features-flat"}));
  CHECK(nodes.at("forecast")["units"] == 4);
}

TEST_CASE("differences, and targets that are no features, have no last one") {
  const auto difference =
      nodes_of(windows({{"window", 5}, {"horizon", 2}, {"difference", 1}}));
  CHECK(difference.at("sum")["from"] == Json({"line", "curve"}));
  CHECK(!difference.contains("own"));
  data::Metadata apart = windows({{"window", 5}, {"horizon", 2}});
  apart.columns = {"a", "other", "b"};
  CHECK(!nodes_of(apart).contains("own"));
}

TEST_CASE(
    "several inputs of windows are seen side by side, and classes known") {
  data::Metadata known = windows({{"window", 5}, {"horizon", 2}});
  known.schema["features/past"] = known.schema["features"];
  known.schema.erase("features");
  known.parts["past"].columns = known.columns;
  known.schema["features/static"] = {tensor::DType::kF32, {2}};
  CHECK(nodes_of(known).at("seen")["from"] ==
        Json({"changes", "past-flat", "static"}));
  data::Metadata classes = windows({{"window", 5}, {"horizon", 0}});
  classes.schema["labels"] = {tensor::DType::kI32, {}};
  classes.classes = {"up", "down"};
  classes.recipe["tensors"]["labels"] = {{"type", "category"}, {"from", "x"}};
  CHECK(nodes_of(classes).at("class")["units"] == 2);
}

}  // namespace dl::vectorize::propose_network_test
