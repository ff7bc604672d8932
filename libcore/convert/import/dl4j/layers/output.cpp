// Layers with a loss.

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers/dense.h"
#include "libcore/convert/import/dl4j/maps.h"

namespace dl::convert::dl4j {
namespace {

Json activation_or(const Site& site, const char* fallback) {
  const Json& given = member(site.json(), "activationFn");
  return given.is_null() ? Json{{"@class", fallback}} : given;
}

void aim(Site& site, const char* fallback) {
  Json loss = member(site.json(), "lossFn");
  if (loss.is_null()) loss = {{"@class", "LossMCXENT"}};
  site.set_aim(
      aim_of(site, loss, activation_of(activation_or(site, fallback))));
}

Flow output(Site& site) {
  aim(site, "ActivationSigmoid");
  return dense(site);
}

// A loss alone: graph_document.cpp makes one of the activation.
Flow loss(Site& site) {
  aim(site, "ActivationIdentity");
  const Json function = activation_or(site, "ActivationIdentity");
  const Json ours = activation_of(function);
  if (ours.is_null()) return activated(site, site.only(), function, "");
  return site.add("", {{"type", "activation"}, {"activation", ours}},
                  {site.in_order(site.only())});
}

Flow center_loss(Site& biased) {
  Json own = biased.json();
  own.erase("biasUpdater");  // which it does not heed
  Site site = biased.as(own, biased.in());
  const Flow value = dense_input(site);
  const std::int64_t inputs = Site::shape(value).elements();
  const std::int64_t units = site.integer("nout", 1, kMostUnits);
  const bool bias = site.flag("hasBias", true);
  const Json ours = activation_of(activation_or(site, "ActivationSigmoid"));
  aim(site, "ActivationSigmoid");
  const Aim& wanted = site.import().aims[site.vertex().name];
  Json node{{"type", "center_loss"},
            {"units", units},
            {"bias", bias},
            {"activation", ours.is_null() ? Json("softmax") : ours},
            {"loss", wanted.loss.is_null() ? Json("negative_log_likelihood")
                                           : wanted.loss},
            {"alpha", site.number("alpha", 0.05)},
            {"lambda", site.number("lambda", 2e-4)}};
  const Flow flow = site.add("", node, {value});
  site.fill("weight", site.take("W", inputs * units, Kind::kWeight),
            value.image.rank() > 0 ? columns_of(value.image) : as_is());
  if (bias) site.fill("bias", site.take("b", units, Kind::kBias), as_is());
  // [units, inputs] in C's order; no updater is theirs.
  site.fill("centers", site.take("cL", inputs * units, Kind::kStatistic),
            value.image.rank() > 0 ? columns_of(value.image) : as_is());
  site.note(
      "its centers are moved by its updater here; DL4J moves them by alpha "
      "alone");
  return flow;
}

}  // namespace

std::vector<Class> output_classes() {
  return {{"output", output},
          {"rnnoutput", output},
          {"loss", loss},
          {"rnnloss", loss},
          {"cnnloss", loss},
          {"cnn3dloss", loss},
          {"centerlossoutput", center_loss}};
}

}  // namespace dl::convert::dl4j
