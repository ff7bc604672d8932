#include "libcore/vectorize/analysis/propose_network.h"

#include <catch2/catch.hpp>

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

}  // namespace dl::vectorize::propose_network_test
