// Tests of libcore/convert/export/diagram.h.

#include "libcore/convert/export/diagram.h"

#include <catch2/catch.hpp>
#include <regex>

#include "tests/unit/nn/support.h"

namespace dl::convert::diagram_test {
namespace {

const char* const kNetwork = R"({
  "inputs": [{"name": "image", "shape": [8, 8, 3]}],
  "nodes": [
    {"name": "conv2d1", "type": "conv2d", "filters": 4, "kernel": [3, 3],
     "padding": "same", "bias": false, "activation": "relu"},
    {"name": "pool", "type": "max_pool2d"},
    {"name": "wide", "type": "upsample2d"},
    {"name": "sum", "type": "add", "from": ["wide", "conv2d1"]},
    {"name": "out", "type": "output", "units": 1000, "from": "sum",
     "loss": "negative_log_likelihood"}],
  "outputs": ["out"]})";

TEST_CASE("a box says what a layer does, gives and has") {
  const Diagram diagram = diagram_of(nn::parse_network(kNetwork, "network"));
  REQUIRE(diagram.boxes.size() == 6);
  CHECK(diagram.boxes[0].title == "image (input)");
  CHECK(diagram.boxes[0].input);
  CHECK(diagram.boxes[1].title == "conv2d1");
  CHECK(diagram.boxes[1].words ==
        "filters 4, kernel 3x3, padding same, no bias, relu");
  CHECK(diagram.boxes[1].size == "8x8x4, 108 parameters");
  CHECK(diagram.boxes[2].words == "kernel 2x2");
  CHECK(diagram.boxes[5].words ==
        "units 1000, softmax, negative_log_likelihood");
  CHECK(diagram.boxes[5].size == "1000, 257 000 parameters");
  CHECK(diagram.boxes[5].output);
  CHECK(diagram.arrows == std::vector<std::pair<std::size_t, std::size_t>>{
                              {0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 4}, {4, 5}});
}

TEST_CASE("a box says that its parameters are frozen") {
  const Diagram diagram = diagram_of(nn::parse_network(
      R"({"input": {"shape": [2]}, "layers": [
        {"type": "dense", "units": 3, "frozen": true},
        {"type": "activation", "activation": "relu"},
        {"type": "output", "units": 1, "loss": "mean_squared_error"}]})",
      "network"));
  CHECK(diagram.boxes[1].size == "3, 9 parameters, frozen");
  CHECK(diagram.boxes[2].size == "3");
  CHECK(diagram.boxes[3].size == "1, 4 parameters");
}

TEST_CASE("Graphviz gets a node for each box and its arrows") {
  const std::string dot =
      to_dot(diagram_of(nn::parse_network(kNetwork, "network")));
  CHECK(dot.starts_with("digraph network {\n"));
  CHECK(dot.find("n2 [label=\"pool (max_pool2d)\\nkernel 2x2\\n4x4x4\"];") !=
        std::string::npos);
  CHECK(dot.ends_with("  n1 -> n4;\n  n4 -> n5;\n}\n"));
}

struct Box {
  double x, y, width, height;
};

std::vector<Box> boxes_in(const std::string& svg) {
  static const std::regex kBox(
      "<rect x=\"([0-9.-]+)\" y=\"([0-9.-]+)\" width=\"([0-9.]+)\" "
      "height=\"([0-9.]+)\" rx");
  std::vector<Box> all;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kBox), end; it != end;
       ++it)
    all.push_back({std::stod((*it)[1]), std::stod((*it)[2]),
                   std::stod((*it)[3]), std::stod((*it)[4])});
  return all;
}

TEST_CASE("in a drawing arrows go down and no boxes lie over each other") {
  for (const char* name : {"lenet.json", "siamese.json", "multi-task.json",
                           "resnet20.json", "unet.json", "transformer.json"}) {
    INFO(name);
    const Diagram diagram = diagram_of(nn::testing::example_network(name));
    const auto boxes = boxes_in(to_svg(diagram));
    REQUIRE(boxes.size() == diagram.boxes.size());
    int over = 0, up = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        over += boxes[i].x < boxes[j].x + boxes[j].width &&
                boxes[j].x < boxes[i].x + boxes[i].width &&
                boxes[i].y < boxes[j].y + boxes[j].height &&
                boxes[j].y < boxes[i].y + boxes[i].height;
    for (const auto& [from, to] : diagram.arrows)
      up += boxes[to].y < boxes[from].y + boxes[from].height;
    CHECK(over == 0);
    CHECK(up == 0);
    CHECK(std::ranges::all_of(boxes, [](const Box& b) { return b.x >= 0; }));
  }
}

}  // namespace
}  // namespace dl::convert::diagram_test
