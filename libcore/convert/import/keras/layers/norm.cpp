// Normalization, and fixed factors and offsets.

#include <cmath>
#include <memory>
#include <optional>

#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;
using Reals = std::vector<double>;

// The only axis that is normalized, Keras's number of it: the batch is axis 0.
std::int64_t axis_in(const Site& site) {
  if (!site.has({"axis"})) return -1;
  const JsonView given = site.view({"axis"});
  if (!given.raw().is_array()) return given.integer(-8, 8);
  if (given.size() != 1)
    site.refuse("it normalizes several axes; one would be needed");
  return given.at(std::size_t{0}).integer(-8, 8);
}

// Here all have both, and train them where the layer is not frozen.
void note_added(const Site& site, bool scale, bool center) {
  if (!scale || !center)
    site.note(std::string("it has no ") +
              (scale    ? "beta"
               : center ? "gamma"
                        : "gamma and beta") +
              ": here these are trained as well");
}

Fill variances(const Site& site, const Array& kept, double epsilon) {
  if (!site.dialect().variance(1, epsilon))
    site.refuse(
        "it is of Keras 1.0.6, which divides by a deviation or by a variance, "
        "depending on what computed it; a file of a later version would be "
        "needed");
  return [kept, epsilon, dialect = site.dialect()](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(*dialect.variance(kept.values[i], epsilon));
  };
}

Flow batch_norm_of(Site& site, const Flow& value) {
  const Shape channels{site.shape(value).back()};
  const bool scale = site.flag({"scale"}, true);
  const bool center = site.flag({"center"}, true);
  note_added(site, scale, center);
  const std::size_t count = 2 + (scale ? 1U : 0U) + (center ? 1U : 0U);
  const auto arrays = site.take("", std::vector<Shape>(count, channels));
  const double epsilon =
      site.number({"epsilon"}, site.dialect().batch_norm_epsilon());
  Json node{{"type", "batch_norm"},
            {"epsilon", epsilon},
            {"decay", site.number({"momentum"}, 0.99)}};
  // It works on all steps at once, whatever is around it.
  const bool each_step = site.each_step();
  site.set_each_step(false);
  const Flow flow = site.add("", std::move(node), {value});
  site.set_each_step(each_step);
  std::size_t at = 0;
  site.fill("gamma", scale ? as_is(arrays[at]) : all_of(1));
  at += scale ? 1 : 0;
  site.fill("beta", center ? as_is(arrays[at]) : all_of(0));
  at += center ? 1 : 0;
  site.fill("running_mean", as_is(arrays[at]));
  site.fill("running_variance", variances(site, arrays[at + 1], epsilon));
  return flow;
}

Flow batch_norm(Site& site) {
  if (site.integer({"mode"}, 0, 2, 0) != 0)
    site.refuse("its mode is not 0, that of running statistics by channel");
  return site.along(axis_in(site), true, [&](const Flow& value) {
    return batch_norm_of(site, value);
  });
}

// gamma and beta as both layer_norm and group_norm have them; kept: the shape
// that these have in the file, of as many numbers.
Flow scaled_and_centred(Site& site, Json node, const Flow& value,
                        const std::optional<Shape>& kept = std::nullopt) {
  const Shape channels = kept.value_or(Shape{site.shape(value).back()});
  const bool scale = site.flag({"scale"}, true);
  const bool center = site.flag({"center"}, true);
  const auto arrays = site.take(
      "", std::vector<Shape>((scale ? 1U : 0U) + (center ? 1U : 0U), channels));
  node["epsilon"] = site.number({"epsilon"}, 1e-3);
  if (!scale && !center)
    node["frozen"] = true;
  else
    note_added(site, scale, center);
  const Flow flow = site.add("", std::move(node), {value});
  site.fill("gamma", scale ? as_is(arrays[0]) : all_of(1));
  site.fill("beta", center ? as_is(arrays[scale ? 1 : 0]) : all_of(0));
  return flow;
}

// Behind the others and as one, the axes are the last one.
Flow norm_of_several(Site& site, const JsonView& axes) {
  const Flow value = site.as_keras(site.only());
  const Shape shape = site.shape(value);
  if (value.masked && !site.each_step())
    site.refuse(
        "it normalizes several axes of a sequence with a mask; one would be "
        "needed");
  std::vector<bool> over(static_cast<std::size_t>(shape.rank()), false);
  std::vector<std::int64_t> kept;  // of gamma and beta
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int at = site.axis_of(axes.at(i).integer(-8, 8), value);
    if (over[static_cast<std::size_t>(at)])
      site.refuse("it normalizes an axis twice");
    over[static_cast<std::size_t>(at)] = true;
    kept.push_back(shape[at]);
  }
  Sizes there, turned, joined, back(over.size());
  std::int64_t count = 1;
  for (const bool of_norm : {false, true})
    for (int k = 0; k < shape.rank(); ++k) {
      if (over[static_cast<std::size_t>(k)] != of_norm) continue;
      back[static_cast<std::size_t>(k)] = std::ssize(there);
      there.push_back(k);
      turned.push_back(shape[k]);
      if (of_norm)
        count *= shape[k];
      else
        joined.push_back(shape[k]);
    }
  joined.push_back(count);
  const bool moves = !std::ranges::is_sorted(there);
  const auto as = [&](const std::string& part, const char* type,
                      const char* key, const Sizes& numbers, const Flow& from) {
    return site.add(part, {{"type", type}, {key, numbers}}, {from});
  };
  Flow flow = moves ? as("axes_last", "permute", "axes", there, value) : value;
  flow = as("joined", "reshape", "shape", joined, flow);
  flow = scaled_and_centred(site, {{"type", "layer_norm"}}, flow, Shape(kept));
  flow = as("apart", "reshape", "shape", turned, flow);
  return moves ? as("axes_back", "permute", "axes", back, flow) : flow;
}

Flow layer_norm(Site& site) {
  if (site.flag({"rms_scaling"}, false))
    site.refuse(
        "it has rms_scaling; a layer that divides by the root of the "
        "mean square would be needed");
  if (site.has({"axis"}))
    if (const JsonView axes = site.view({"axis"});
        axes.raw().is_array() && axes.size() > 1)
      return norm_of_several(site, axes);
  return site.along(axis_in(site), false, [&](const Flow& value) {
    return scaled_and_centred(site, {{"type", "layer_norm"}}, value);
  });
}

// Here a sequence is normalized step by step, there as a whole.
Flow group_norm_of(Site& site, Flow value) {
  const Shape shape = site.shape(value);
  const std::int64_t channels = shape.back();
  std::int64_t groups = site.integer({"groups"}, -1, 65535, 32);
  if (groups == -1) groups = channels;
  if (groups == 0) site.refuse("it has no groups");
  const bool series =
      shape.rank() < 3 || (value.form.steps && !site.each_step());
  if (series)
    value = site.add("column",
                     {{"type", "reshape"},
                      {"shape", {1, shape.elements() / channels, channels}}},
                     {value});
  Flow flow = scaled_and_centred(
      site, {{"type", "group_norm"}, {"groups", groups}}, value);
  if (series)
    flow = site.add("series", {{"type", "reshape"}, {"shape", sizes_of(shape)}},
                    {flow});
  return flow;
}

Flow group_norm(Site& site) {
  return site.along(axis_in(site), true, [&](const Flow& value) {
    return group_norm_of(site, value);
  });
}

Flow unit_norm(Site& site) {
  return site.along(axis_in(site), false, [&](const Flow& value) {
    return site.add("", {{"type", "l2_normalize"}, {"epsilon", 1e-12}},
                    {value});
  });
}

// x / sqrt(mean of x^2 + epsilon), times what is learnt: with n numbers, that
// is sqrt(n) x / sqrt(sum of x^2 + n epsilon).
Flow rms_norm_of(Site& site, const Flow& seen) {
  const std::int64_t width = site.shape(seen).back();
  const auto n = static_cast<double>(width);
  const Array scale = site.take("", {{width}})[0];
  Flow flow = site.add("unit",
                       {{"type", "l2_normalize"},
                        {"epsilon", n * site.number({"epsilon"}, 1e-6)}},
                       {seen});
  flow =
      site.add("root", {{"type", "scale"}, {"factor", std::sqrt(n)}}, {flow});
  flow = site.add("", {{"type", "element_multiply"}}, {flow});
  site.fill("weight", as_is(scale));
  site.fill("bias", all_of(0));
  return flow;
}

// Keras multiplies by what is learnt along the last axis, whatever it divides.
Flow rms_norm(Site& site) {
  const Flow value = site.as_keras(site.only());
  const std::int64_t axis = axis_in(site);
  if (site.axis_of(axis, value) != site.shape(value).rank() - 1)
    site.refuse("it normalizes axis " + std::to_string(axis) +
                "; the last one would be needed");
  return rms_norm_of(site, value);
}

// y = factor x + offset by channel, which nothing changes.
Flow affine(Site& site, const Flow& value, const Reals& factor,
            const Reals& offset) {
  const auto channels = static_cast<std::size_t>(site.shape(value).back());
  for (const Reals* all : {&factor, &offset})
    if (all->size() != 1 && all->size() != channels)
      site.refuse("it has " + std::to_string(all->size()) + " numbers for " +
                  std::to_string(channels) + " channels");
  if (factor.size() == 1 && offset.size() == 1) {
    Flow flow = site.add(offset[0] == 0 ? "" : "factor",
                         {{"type", "scale"}, {"factor", factor[0]}}, {value});
    if (offset[0] == 0) return flow;
    return site.add("", {{"type", "shift"}, {"amount", offset[0]}}, {flow});
  }
  const Flow flow =
      site.add("", {{"type", "element_multiply"}, {"frozen", true}}, {value});
  const auto spread = [](const Reals& from) -> Fill {
    return [from](std::span<float> to) {
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(from[from.size() == 1 ? 0 : i]);
    };
  };
  site.fill("weight", spread(factor));
  site.fill("bias", spread(offset));
  return flow;
}

Reals reals(const Site& site, const char* key, double fallback) {
  if (!site.has({key})) return {fallback};
  const Json* given = &site.view({key}).raw();
  while (given->is_array() && given->size() == 1) given = &(*given)[0];
  if (given->is_number()) return {given->get<double>()};
  return JsonView(*given, Code::kData, std::string("its ") + key).numbers();
}

Flow rescaling(Site& site) {
  const Flow& value = site.only();
  const Reals factor = reals(site, "scale", 1),
              offset = reals(site, "offset", 0);
  const bool by_channel = factor.size() > 1 || offset.size() > 1;
  return affine(site, by_channel ? site.as_keras(value) : value, factor,
                offset);
}

// A class of keras.applications: a learnt factor for each channel.
Flow layer_scale(Site& site) {
  const Flow value = site.as_keras(site.only());
  const Array gamma = site.take("", {{site.shape(value).back()}})[0];
  const Flow flow = site.add("", {{"type", "element_multiply"}}, {value});
  site.fill("weight", as_is(gamma));
  site.fill("bias", all_of(0));
  return flow;
}

// (x - mean) / max(sqrt(variance), epsilon): what adapt() found, or given.
Flow normalization_of(Site& site, const Flow& value) {
  if (site.flag({"invert"}, false))
    site.refuse(
        "it is inverted; a layer that multiplies by deviations would "
        "be needed");
  Reals mean = reals(site, "mean", 0), variance = reals(site, "variance", 1);
  if (!site.has({"mean"})) {
    if (!site.weighted())
      site.refuse("its statistics are in the weights, which are not there");
    const Shape channels{site.shape(value).back()};
    const auto arrays = site.take("", {channels, channels, {}});
    if (site.first_call()) {
      mean.assign(arrays[0].values.begin(), arrays[0].values.end());
      variance.assign(arrays[1].values.begin(), arrays[1].values.end());
    }
  }
  if (mean.size() != variance.size())
    site.refuse("it has not as many means as variances");
  Reals factor, offset;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    factor.push_back(1 / std::max(std::sqrt(variance[i]), 1e-7));
    offset.push_back(-mean[i] * factor[i]);
  }
  return affine(site, value, factor, offset);
}

Flow normalization(Site& site) {
  return site.along(axis_in(site), false, [&](const Flow& value) {
    return normalization_of(site, value);
  });
}

}  // namespace

std::vector<Class> norm_classes() {
  return {{"BatchNormalization", batch_norm},
          {"BatchNormalizationV1", batch_norm},
          {"SyncBatchNormalization", batch_norm},
          {"LayerNormalization", layer_norm},
          {"GroupNormalization", group_norm},
          {"UnitNormalization", unit_norm},
          {"RMSNormalization", rms_norm},
          {"LayerScale", layer_scale},
          {"Rescaling", rescaling},
          {"Normalization", normalization}};
}

}  // namespace dl::convert::keras
