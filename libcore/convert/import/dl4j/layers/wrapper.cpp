// Layers that hold another one.

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

const Json& inner_of(const Site& site,
                     std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (member(site.json(), key).is_object()) return member(site.json(), key);
  site.refuse("it has no layer within it");
}

// It keeps its parameters, and computes as it does in a prediction.
Flow frozen(Site& site) {
  Site below = site.as(inner_of(site, {"layer", "insideLayer", "underlying"}),
                       site.in());
  below.freeze();
  return make_layer(below);
}

// A dense layer takes each step of a sequence anyway.
Flow time_distributed(Site& site) {
  Flow value = site.only();
  if (!value.form.steps || value.each)
    site.refuse("its input is " + value.shape().to_string() +
                "; a sequence would be needed");
  Site below = site.as(inner_of(site, {"underlying"}), {value});
  const std::string name = class_of(below.json(), "layer");
  if (name == "dense" || name == "output" || name == "activation")
    return make_layer(below);
  value.each = true;
  below = site.as(inner_of(site, {"underlying"}), {value});
  Flow flow = make_layer(below);
  flow.each = false;
  return flow;
}

Flow mask(Site& site) {
  site.note("it is left out: padding is 0 behind it in DL4J");
  return site.only();
}

}  // namespace

std::vector<Class> wrapper_classes() {
  return {{"frozen", frozen},
          {"frozenlayerwithbackprop", frozen},
          {"timedistributed", time_distributed},
          {"mask", mask}};
}

}  // namespace dl::convert::dl4j
