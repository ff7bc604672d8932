// Dense layers, embeddings, and what is made of them.

#include "libcore/convert/import/dl4j/layers/dense.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/legacy.h"
#include "libcore/convert/import/dl4j/maps.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kMostInDecoder = std::int64_t{1} << 20;  // units

// Rows of a table; a bias is the same for all rows, and is added to them.
Flow rows(Site& site, const Flow& value, bool biased) {
  if (!value.form.tokens)
    site.refuse(
        "it reads what is no input of the network; one of whole numbers would "
        "be needed");
  const std::int64_t count = site.integer("nin", 1, kMostUnits);
  const std::int64_t units = site.integer("nout", 1, kMostUnits);
  const Flow flow = site.add(
      "", {{"type", "embedding"}, {"rows", count}, {"units", units}}, {value});
  const std::size_t table = site.take("W", count * units, Kind::kWeight);
  // [rows, units] in Fortran's order
  const Map map = permuted({units, count}, {1, 0});
  if (!site.flag("hasBias", biased)) {
    site.fill("weight", table, map);
    return flow;
  }
  const std::size_t bias = site.take("b", units, Kind::kBias);
  site.note("its bias is added to the rows of its table");
  site.import().sources[site.main_node() + "/weight"] = {
      table, map, bias, [](std::span<const float> b, std::span<float> to) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += b[i % b.size()];
      }};
  return flow;
}

// Up to 0.9.1 it has a bias, and does not say so.
Flow embedding(Site& site) {
  const Flow flow = rows(site, site.only(), true);
  // Each step of a sequence has a row.
  const Json& before = site.vertex().preprocessor;
  const bool steps = class_of(before, "preprocessor") == "rnntofeedforward";
  const Flow one =
      steps ? flow : site.add("one", {{"type", "flatten"}}, {flow});
  return activated(site, one, member(site.json(), "activationFn"),
                   "activation");
}

Flow embedding_sequence(Site& site) {
  Flow flow = rows(site, site.only(), false);
  flow.last = site.text("outputFormat", "NCW") == "NWC";
  return activated(site, flow, member(site.json(), "activationFn"),
                   "activation");
}

// Imports the supervised part of such a network alone: the rest is a dense
// layer.
Flow autoencoder(Site& site) {
  const Flow value = dense_input(site);
  const std::int64_t inputs = Site::shape(value).elements();
  const std::int64_t units = site.integer("nout", 1, kMostUnits);
  Json node{{"type", "autoencoder"},
            {"units", units},
            {"corruption",
             std::clamp(site.number("corruptionLevel", 0.3), 0.0, 0.999)}};
  const std::string loss = class_of(member(site.json(), "lossFn"));
  if (loss.ends_with("mse") || loss.ends_with("squaredloss"))
    node["loss"] = "mean_squared_error";
  if (const double start = site.number("visibleBiasInit", 0); start != 0)
    node["visible_bias_init"] = start;
  const Json ours = activation_of(member(site.json(), "activationFn"));
  node["activation"] = ours.is_null() ? Json("sigmoid") : ours;
  const Flow flow = site.add("", node, {value});
  const std::size_t weight = site.take("W", inputs * units, Kind::kWeight);
  site.fill("weight", weight,
            value.image.rank() > 0 ? columns_of(value.image) : as_is());
  const std::size_t bias = site.take("b", units, Kind::kBias);
  site.fill("bias", bias, as_is());
  site.take("vb", inputs, Kind::kPretrainingBias);
  site.note("its visible bias is left out, which pretraining alone has");
  return flow;
}

std::vector<std::int64_t> sizes(const Site& site, const char* key) {
  const Json& given = member(site.json(), key);
  if (!given.is_array()) return {100};
  return JsonView(given, Code::kData, key).integers(1, kMostInDecoder);
}

// How many numbers a decoder says of as many inputs.
std::int64_t said_by(const Site& site, const Json& distribution,
                     std::int64_t inputs) {
  const std::string kind = class_of(distribution);
  if (kind.starts_with("gaussian")) return 2 * inputs;
  if (!kind.starts_with("composite")) return inputs;
  const Json& parts = member(distribution, "reconstructionDistributions");
  const Json& sizes = member(distribution, "distributionSizes");
  if (!parts.is_array() || !sizes.is_array() || parts.size() != sizes.size())
    site.refuse("the parts of its outputDistribution are none");
  const auto counts =
      JsonView(sizes, Code::kData, "distributionSizes").integers(1, kMostUnits);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all += said_by(site, unwrapped(parts[i]), counts[i]);
  return all;
}

// Its output for later layers is the mean of its code.
Flow variational(Site& site) {
  Flow value = dense_input(site);
  const Json function = member(site.json(), "activationFn");
  const std::int64_t code = site.integer("nout", 1, kMostUnits);
  const std::int64_t inputs = Site::shape(value).elements();
  std::int64_t last = inputs;
  int at = 0;
  for (const std::int64_t units : sizes(site, "encoderLayerSizes")) {
    const std::string name = "e" + std::to_string(at++);
    value = linear(site, value, units, true, name, {name + "W", name + "b", ""},
                   Kind::kWeight);
    value = activated(site, value, function, name + ".activation");
    last = units;
  }
  value = linear(site, value, code, true, "", {"pZXMeanW", "pZXMeanb", ""},
                 Kind::kWeight);
  site.take("pZXLogStd2W", last * code, Kind::kPretraining);
  site.take("pZXLogStd2b", code, Kind::kPretrainingBias);
  std::int64_t before = code;
  at = 0;
  for (const std::int64_t units : sizes(site, "decoderLayerSizes")) {
    const std::string name = "d" + std::to_string(at++);
    site.take(name + "W", before * units, Kind::kPretraining);
    site.take(name + "b", units, Kind::kPretrainingBias);
    before = units;
  }
  const std::int64_t said =
      said_by(site, member(site.json(), "outputDistribution"), inputs);
  site.take("pXZW", before * said, Kind::kPretraining);
  site.take("pXZb", said, Kind::kPretrainingBias);
  site.note(
      "its decoder and its variances are left out: it says the means of its "
      "code, as to layers behind it");
  return activated(site, value, member(site.json(), "pzxActivationFn"),
                   "activation");
}

Flow element_multiplication(Site& site) {
  const Flow value = site.in_order(dense_input(site));
  const std::int64_t count = Site::shape(value).back();
  Flow flow = site.add("", {{"type", "element_multiply"}}, {value});
  site.fill("weight", site.take("W", count, Kind::kWeight), as_is());
  site.fill("bias", site.take("b", count, Kind::kBias), as_is());
  return activated(site, flow, member(site.json(), "activationFn"),
                   "activation");
}

}  // namespace

Flow dense_input(Site& site) {
  const Flow& value = site.only();
  return value.form.steps && !value.each ? value : site.vector(value);
}

Flow linear(Site& site, const Flow& value, std::int64_t units, bool bias,
            const std::string& part, const Names& names, Kind kind,
            const Json& activation) {
  const std::int64_t inputs = value.form.steps && !value.each
                                  ? value.shape().back()
                                  : Site::shape(value).elements();
  Json node{{"type", "dense"}, {"units", units}, {"bias", bias}};
  if (activation != Json("identity")) node["activation"] = activation;
  if (value.form.steps && !value.each && site.import().each_step)
    node["time_distributed"] = true;
  const Flow flow = site.add(part, node, {value});
  const std::size_t weight = site.take(names.weight, inputs * units, kind);
  site.fill(flow.node, "weight", weight,
            value.image.rank() > 0 ? columns_of(value.image) : as_is());
  if (!bias) return flow;
  site.fill(
      flow.node, "bias",
      site.take(names.bias, units, kind == Kind::kWeight ? Kind::kBias : kind),
      as_is());
  return flow;
}

Flow dense(Site& site) {
  const Flow value = dense_input(site);
  const std::int64_t units = site.integer("nout", 1, kMostUnits);
  const std::int64_t inputs = value.form.steps && !value.each
                                  ? value.shape().back()
                                  : Site::shape(value).elements();
  if (const std::int64_t wanted = site.integer("nin", 0, kMostUnits, 0);
      wanted > 0 && wanted != inputs)
    site.refuse("it wants " + std::to_string(wanted) + " inputs, and gets " +
                std::to_string(inputs));
  const bool bias = site.flag("hasBias", true);
  Json function = member(site.json(), "activationFn");
  if (function.is_null()) function = {{"@class", "ActivationSigmoid"}};
  if (!site.flag("hasLayerNorm", false)) {
    const Json ours = activation_of(function);
    const bool own = !ours.is_null() && class_of(function) != "activationgelu";
    const Flow flow = linear(site, value, units, bias, "", {}, Kind::kWeight,
                             own ? ours : Json("identity"));
    return own ? flow : activated(site, flow, function, "activation");
  }
  // W x, normalized, times the gain, and then the bias.
  const Flow flow = linear(site, value, units, false, "", {}, Kind::kWeight);
  const Flow normal =
      site.add("norm", {{"type", "layer_norm"}, {"epsilon", 1e-12}}, {flow});
  const std::size_t b = bias ? site.take("b", units, Kind::kBias) : kNoVariable;
  const std::size_t gain = site.take("g", units, Kind::kWeight);
  site.fill(normal.node, "gamma", gain, as_is());
  site.fill(
      normal.node, "beta", b,
      bias ? as_is() : [](std::span<const float>, std::span<float> to) {
        std::ranges::fill(to, 0.0F);
      });
  return activated(site, normal, function, "activation");
}

std::vector<Class> dense_classes() {
  return {{"dense", dense},
          {"embedding", embedding},
          {"embeddingsequence", embedding_sequence},
          {"autoencoder", autoencoder},
          {"variationalautoencoder", variational},
          {"elementwisemultiplication", element_multiplication},
          {"elementwisemult", element_multiplication}};
}

}  // namespace dl::convert::dl4j
