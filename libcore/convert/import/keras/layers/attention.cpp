// Attention of several heads.
//
// Keras's projections are [width, heads, size], and [heads, size, width] of the
// output; here they are matrices [outputs, inputs].  Its value comes before the
// key.

#include <algorithm>

#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

bool same(const Flow& a, const Flow& b) { return a.node == b.node; }

// [width, heads, size] as [heads size, width]
Fill projection(const Array& kernel) { return permuted(kernel, {1, 2, 0}); }

// Only heads of one size, and an output of the query's width, can be imported.
void check(const Site& site, std::int64_t size, std::int64_t width) {
  if (site.integer({"value_dim"}, 1, kMostExtent, size) != size)
    site.refuse(
        "its values have another size than its keys; one would be "
        "needed");
  if (site.has({"attention_axes"})) {
    const Json& axes = site.view({"attention_axes"}).raw();
    if (axes != Json(1) && axes != Json::array({1}))
      site.refuse("its attention_axes are " + dump_json(axes) +
                  "; that of time, 1, would be needed");
  }
  if (site.has({"output_shape"})) {
    const JsonView shape = site.view({"output_shape"});
    const std::int64_t given =
        (shape.raw().is_array() ? shape.at(std::size_t{0}) : shape)
            .integer(1, 2147483647);
    if ((shape.raw().is_array() && shape.size() != 1) || given != width)
      site.refuse(
          "its output has another width than its query; the same "
          "would be needed");
  }
  if (site.number({"dropout", "dropout_rate"}, 0) > 0)
    site.note("the dropout of what it attends to is left out");
}

Flow multi_head_attention(Site& site) {
  if (site.in().size() < 2 || site.in().size() > 3 || site.each_step())
    site.refuse("it takes " + std::to_string(site.in().size()) +
                " inputs; a query, a value and perhaps a key would be needed");
  const Flow& query = site.in()[0];
  const Flow& value = site.in()[1];
  if (!same(site.in().back(), value))
    site.refuse("its keys are not its values; the same would be needed");
  if (query.shape().rank() != 2 || value.shape().rank() != 2)
    site.refuse(
        "it is over several axes; sequences [steps, features] would be "
        "needed");
  const std::int64_t heads = site.integer({"num_heads"}, 1, kMostExtent);
  const std::int64_t size = site.integer({"key_dim"}, 1, kMostExtent);
  const std::int64_t width = query.shape().back();
  const bool bias = site.flag({"use_bias"}, true);
  check(site, size, width);
  Json node{{"type", "multi_head_attention"},
            {"heads", heads},
            {"head_size", size},
            {"causal", site.call().causal},
            {"bias", bias}};
  site.add_training(node, "kernel");
  const Flow flow =
      site.add("", std::move(node),
               same(query, value) ? std::vector<Flow>{query}
                                  : std::vector<Flow>{query, value});
  const auto fill = [&](const std::string& name, const std::string& below,
                        std::vector<Shape> shapes, bool output) {
    if (!bias) shapes.pop_back();
    const auto arrays = site.take(below, shapes);
    site.fill(name + "_weight",
              output ? permuted(arrays[0], {2, 0, 1}) : projection(arrays[0]));
    if (bias) site.fill(name + "_bias", as_is(arrays[1]));
  };
  const std::int64_t own = value.shape().back();
  fill("query", "query_dense", {{width, heads, size}, {heads, size}}, false);
  fill("key", "key_dense", {{own, heads, size}, {heads, size}}, false);
  fill("value", "value_dense", {{own, heads, size}, {heads, size}}, false);
  fill("output", "output_dense", {{heads, size, width}, {width}}, true);
  return flow;
}

}  // namespace

std::vector<Class> attention_classes() {
  return {{"MultiHeadAttention", multi_head_attention}};
}

}  // namespace dl::convert::keras
