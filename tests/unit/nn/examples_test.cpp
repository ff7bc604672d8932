// The networks that are installed as examples.

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "tests/unit/nn/support.h"

namespace dl::nn::examples_test {
namespace {

std::set<std::string> example_networks() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(DL_SOURCE_DIR) + "/scripts/share/examples"))
    if (entry.path().extension() == ".json")
      names.insert(entry.path().filename().string());
  return names;
}

TEST_CASE("each example network learns a mini-batch by heart") {
  REQUIRE(example_networks().size() > 10);
  for (const std::string& name : example_networks()) {
    INFO(name);
    const NetworkConfig config = testing::example_network(name);
    Network network = testing::compile(config, 4, "cpu", 2);
    const data::DataSet set = testing::random_set(config, 4);
    const Batch batch = network.batch_of(set);
    const double first = testing::train(network, batch, 0);
    double least = first;
    for (int i = 1; i < 6; ++i)
      least = std::min(least, testing::train(network, batch, i));
    CHECK(std::isfinite(first));
    CHECK(least < first);
  }
}

}  // namespace
}  // namespace dl::nn::examples_test
