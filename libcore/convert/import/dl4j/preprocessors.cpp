// Preprocessors: what DL4J does between layers of different kinds.
//
// A sequence stays one here: where DL4J has its steps as rows of a batch (row
// t N + n), layers take each step.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/legacy.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

using tensor::Shape;
// The image or volume that a preprocessor is told of, channels last.
Sizes image_of(const Site& site, const Json& preprocessor, bool volume) {
  Sizes sizes;
  const auto add = [&](const char* key) {
    const Json& value = member(preprocessor, key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1)
      site.refuse("its preprocessor lacks '" + std::string(key) + "'");
    sizes.push_back(JsonView(value, Code::kData, key).integer(1, 2147483647));
  };
  if (volume) add("inputDepth");
  add("inputHeight");
  add("inputWidth");
  add("numChannels");
  return sizes;
}

// A vector as an image: numbers that were one lie as they did.
Flow as_image(Site& site, const Json& preprocessor, const Flow& value,
              bool volume) {
  const Sizes wanted = image_of(site, preprocessor, volume);
  const Shape shape{std::span<const std::int64_t>(wanted)};
  const Shape own = Site::shape(value);
  const bool last = channels_last_in(preprocessor) == true;
  if (own == shape) return value;
  if (own.elements() != shape.elements() || own.rank() != 1)
    site.refuse("its preprocessor wants " + shape.to_string() + " and gets " +
                own.to_string());
  Flow flow = value;
  flow.image = {};
  flow.last = last;
  if (value.image == shape || shape.back() == 1 ||
      (last && value.image.rank() == 0))
    return site.add("image", {{"type", "reshape"}, {"shape", wanted}}, {flow});
  flow = site.in_order(value, "before");
  if (last) {
    flow.last = true;
    return site.add("image", {{"type", "reshape"}, {"shape", wanted}}, {flow});
  }
  Sizes first = {wanted.back()};
  first.insert(first.end(), wanted.begin(), wanted.end() - 1);
  flow = site.add("planes", {{"type", "reshape"}, {"shape", first}}, {flow});
  return site.channels_last(flow, "image");
}

// A value that is not a sequence becomes one of a single step, as the batch is
// its rows.
Flow one_step(Site& site, const Json& preprocessor, const Flow& value) {
  Flow flow = value;
  flow.last = channels_last_in(preprocessor) == true;
  if (value.form.steps) return flow;
  flow = site.in_order(site.vector(value));
  flow.last = channels_last_in(preprocessor) == true;
  return site.add("step", {{"type", "repeat"}, {"n", 1}}, {flow});
}

Flow each_as_image(Site& site, const Json& preprocessor, const Flow& value) {
  if (!value.form.steps)
    site.refuse("its preprocessor wants a sequence and gets " +
                value.shape().to_string());
  Flow flow = value;
  flow.each = true;
  flow.last = false;
  // Its format is that of the sequence.
  Json image = preprocessor;
  image.erase("rnnDataFormat");
  return as_image(site, image, flow, false);
}

Flow steps_of_images(Site& site, const Json& preprocessor, const Flow& value) {
  if (!value.each) return one_step(site, preprocessor, value);
  Flow flow = site.in_order(site.vector(value));
  flow.each = false;
  flow.last = channels_last_in(preprocessor) == true;
  return flow;
}

// [n, ...] in DL4J's order to another shape, whose channels are last there, or
// first.
Flow reshaped(Site& site, const Flow& value, const Json& shape,
              std::size_t first, bool last) {
  Sizes wanted;
  std::int64_t known = 1;
  if (shape.is_array())
    for (std::size_t i = first; i < shape.size(); ++i) {
      if (!shape[i].is_number_integer()) site.refuse("its shape is damaged");
      wanted.push_back(shape[i].get<std::int64_t>());
      if (wanted.back() > Site::shape(value).elements() / known)
        site.refuse("its shape has more numbers than its input");
      if (wanted.back() > 0) known *= wanted.back();
    }
  for (std::int64_t& extent : wanted)
    if (extent == -1) extent = Site::shape(value).elements() / known;
  if (wanted.empty() || wanted.size() > 4 ||
      std::ranges::any_of(wanted, [](std::int64_t e) { return e < 1; }))
    site.refuse("its shape is " + dump_json(shape) +
                "; one of an example of up to 4 dimensions would be needed");
  Flow flow = site.channels_first(value, "order");
  flow = site.add("reshaped", {{"type", "reshape"}, {"shape", wanted}}, {flow});
  flow.last = last;
  return last ? flow : site.channels_last(flow, "channels");
}

// Axes of an example, counted from 1, or from 0 with that of the examples.
Flow permuted_flow(Site& site, const Flow& value, const Json& indices) {
  std::vector<std::int64_t> axes;
  if (indices.is_array())
    for (const Json& one : indices)
      if (one.is_number_integer() && one != 0)
        axes.push_back(one.get<std::int64_t>() - 1);
  const auto rank = static_cast<std::size_t>(Site::shape(value).rank());
  std::vector<std::int64_t> sorted = axes;
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    if (sorted.size() != rank || sorted[k] != static_cast<std::int64_t>(k))
      site.refuse("its permutationIndices are none of an input " +
                  Site::shape(value).to_string());
  if (rank < 2) return value;
  const Flow flow = site.add("permuted", {{"type", "permute"}, {"axes", axes}},
                             {site.channels_first(value, "order")});
  return value.last ? flow : site.channels_last(flow, "channels");
}

}  // namespace

Flow preprocessed(Site& site, const Json& preprocessor, const Flow& value) {
  const Json given = unwrapped(preprocessor);
  const std::string name = class_of(given, "preprocessor");
  if (name == "feedforwardtocnn") return as_image(site, given, value, false);
  if (name == "feedforwardtocnn3d") return as_image(site, given, value, true);
  if (name == "cnntofeedforward" || name == "cnn3dtofeedforward")
    return site.vector(value);
  if (name == "tensorflowcnntofeedforward") {
    Flow flow = site.vector(value);
    flow.image = {};  // it has the channels last, too
    return flow;
  }
  // Steps of a sequence of images end with them.
  if (name == "feedforwardtornn") {
    Flow flow = site.in_order(value);
    flow.each = false;
    return one_step(site, given, flow);
  }
  if (name == "rnntofeedforward") return value;
  if (name == "rnntocnn") return each_as_image(site, given, value);
  if (name == "cnntornn") return steps_of_images(site, given, value);
  if (name == "reshape")
    return reshaped(site, value, member(given, "targetShape"),
                    member(given, "hasMiniBatchDimension") == Json(true),
                    channels_last_in(given).value_or(value.last));
  if (name == "permute")
    return permuted_flow(site, value, member(given, "permutationIndices"));
  if (name == "kerasflattenrnn") return site.vector(value);
  if (name == "composableinput" || name == "composableinputpreprocessor") {
    Flow flow = value;
    const Json& list = member(given, "inputPreProcessors");
    if (list.is_array())
      for (const Json& one : list) flow = preprocessed(site, one, flow);
    return flow;
  }
  site.refuse("its preprocessor is " + in_quotes(shown_class(given)) +
              "; one between dense, recurrent and convolutional layers would "
              "be needed");
}

Flow reshape_vertex(Site& site) {
  if (const std::string order = site.text("reshapeOrder", "c"); order != "c")
    site.refuse("its reshapeOrder is " + in_quotes(order) +
                "; 'c' would be needed");
  return reshaped(site, site.only(), member(site.json(), "newShape"), 1,
                  site.only().last);
}

}  // namespace dl::convert::dl4j
