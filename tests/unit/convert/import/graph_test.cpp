// Tests of libcore/convert/import/graph.h.

#include "libcore/convert/import/graph.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/nn/config/config.h"

namespace dl::convert::graph_test {
namespace {

TEST_CASE("names of any text become names of nodes") {
  Graph graph(false, {});
  const Value x = graph.input("a/b:0", {4}, false);
  CHECK(x.node == "a_b_0");
  CHECK(graph.fresh_name("a/b:0") == "a_b_0_2");
  CHECK(graph.fresh_name("updater") == "updater_2");
  CHECK(graph.fresh_name("") == "layer");
}

TEST_CASE("names are numbered on, and what is not taken is given again") {
  Graph graph(false, {});
  Value x = graph.input("x", {4}, false);
  for (const char* name : {"d", "d_2", "d_3", "d_4"}) {
    CHECK(graph.fresh_name("d") == name);
    CHECK(graph.fresh_name("d") == name);
    x = graph.add({{"type", "activation"},
                   {"name", graph.fresh_name("d")},
                   {"activation", "relu"}},
                  {x});
  }
}

TEST_CASE("a network has only so many layers") {
  Graph graph(false, {});
  Value x = graph.input("x", {4}, false);
  const auto add = [&] {
    x = graph.add({{"type", "activation"},
                   {"name", graph.fresh_name("d")},
                   {"activation", "relu"}},
                  {x});
  };
  for (std::size_t i = 0; i < Graph::kMaxNodes; ++i) add();
  CHECK_THROWS_WITH(add(), Catch::StartsWith("the network has more than the "));
}

TEST_CASE("a graph knows the shapes as it goes") {
  Graph graph(false, {});
  const Value x = graph.input("x", {9, 8, 3}, false);
  const Value y = graph.add({{"type", "conv2d"},
                             {"name", "c"},
                             {"filters", 5},
                             {"kernel", {3, 3}},
                             {"stride", {2, 2}},
                             {"padding", "same"}},
                            {x});
  CHECK(y.shape() == tensor::Shape{5, 4, 5});
  CHECK_THROWS_WITH(
      graph.add({{"type", "conv2d"},
                 {"name", "d"},
                 {"filters", 5},
                 {"kernel", {7, 7}}},
                {y}),
      Catch::Contains("kernel 7x7 is larger than its input 5x4x5"));
  CHECK_THROWS_WITH(
      graph.add({{"type", "dense"}, {"name", "e"}, {"units", 0}}, {y}),
      Catch::Contains("units: want integer 1..2147483647"));
}

TEST_CASE("the last layer of a chain becomes its output") {
  Graph graph(false, {});
  const Value x = graph.input("x", {4}, false);
  const Value y = graph.add({{"type", "dense"},
                             {"name", "d"},
                             {"units", 3},
                             {"activation", "softmax"}},
                            {x});
  const Json document = graph.document({y}, {Aim{}});
  CHECK(document["layers"].size() == 1);
  CHECK(document["layers"][0]["type"] == "output");
  CHECK(document["layers"][0]["loss"] == "negative_log_likelihood");
  CHECK_NOTHROW(nn::parse_network(document.dump(), "made"));
}

TEST_CASE("what others read as well gets a loss behind it") {
  Graph graph(false, {});
  const Value x = graph.input("x", {4}, false);
  const Value y =
      graph.add({{"type", "dense"}, {"name", "d"}, {"units", 3}}, {x});
  const Value z =
      graph.add({{"type", "dense"}, {"name", "e"}, {"units", 2}}, {y});
  const Json document = graph.document({y, z}, {Aim{}, Aim{"l1", 0.5}});
  CHECK(document["outputs"] == Json({"d.loss", "e"}));
  const auto config = nn::parse_network(document.dump(), "made");
  CHECK(config.outputs.size() == 2);
}

TEST_CASE("nodes that share say no more than whose parameters they have") {
  Graph graph(false, {});
  const Value a = graph.input("a", {4}, false),
              b = graph.input("b", {4}, false);
  const Json node{{"type", "dense"}, {"name", "d"}, {"units", 3}};
  const Value c = graph.add(node, {a});
  Json again = node;
  again["name"] = "d_2";
  const Value d = graph.add(again, {b}, "d");
  const Value e = graph.add({{"type", "add"}, {"name", "e"}}, {c, d});
  const Json document = graph.document({e}, {Aim{}});
  CHECK(document["nodes"][1] == Json({{"type", "dense"},
                                      {"name", "d_2"},
                                      {"shares", "d"},
                                      {"from", {"b"}}}));
  CHECK_NOTHROW(nn::parse_network(document.dump(), "made"));
}

}  // namespace
}  // namespace dl::convert::graph_test
