// Attention of a sequence to itself.
//
// Theirs has no biases; W of queries, keys and values are [heads, size,
// features], that of the output [heads size, units], in C's order.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/dl4j/maps.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

// A matrix of which nothing is made.
void identity(std::span<const float>, std::span<float> to) {
  const auto width = static_cast<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(to.size()))));
  std::ranges::fill(to, 0.0F);
  for (std::size_t i = 0; i < width; ++i) to[i * width + i] = 1;
}

Flow self_attention(Site& site) {
  const Flow& value = site.only();
  if (value.each || value.shape().rank() != 2)
    site.refuse("its input is " + value.shape().to_string() +
                "; a sequence [steps, features] would be needed");
  const std::int64_t width = value.shape().back();
  const bool projects = site.flag("projectInput", false);
  const std::int64_t units = site.integer("nout", 0, 2147483647, width);
  if (projects && units != width)
    site.refuse("it makes " + std::to_string(units) + " numbers of " +
                std::to_string(width) +
                "; as many as its input has would be needed");
  const std::int64_t heads =
      projects ? site.integer("nheads", 1, kMostExtent, 1) : 1;
  const std::int64_t size =
      projects ? site.integer("headSize", 1, kMostExtent) : width;
  Json node{{"type", "multi_head_attention"},
            {"heads", heads},
            {"head_size", size},
            {"bias", false}};
  if (!projects) node["frozen"] = true;
  const Flow flow = site.add("", std::move(node), {value});
  for (const std::string name : {"query", "key", "value"})
    if (projects)
      site.fill(name + "_weight",
                site.take("W" + name.substr(0, 1), heads * size * width,
                          Kind::kWeight),
                as_is());
    else
      site.fill(name + "_weight", kNoVariable, identity);
  if (projects)
    site.fill("output_weight",
              site.take("Wo", heads * size * width, Kind::kWeight),
              permuted({heads * size, width}, {1, 0}));
  else
    site.fill("output_weight", kNoVariable, identity);
  return flow;
}

}  // namespace

std::vector<Class> attention_classes() {
  return {{"selfattention", self_attention}};
}

}  // namespace dl::convert::dl4j
