// Two eras are alike enough to be read in one way, key by key: wrapper objects
// and per-layer updater names up to 1.0.0-alpha, "@class" with l1, l2 and
// weightInit up to 1.0.0-beta3.

#include "libcore/convert/import/dl4j/legacy.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "libcore/convert/import/dl4j/conf.h"

namespace dl::convert::dl4j {
namespace {

bool lacks(const Json& layer, const char* key) {
  return member(layer, key).is_null();
}

Json named(const Json& text) {
  Json object = Json::object();
  object["@class"] = text;
  return object;
}

// A map of iterations, which holds from the first on.
Json map_of(Json values, double start) {
  if (!values.contains("0")) values["0"] = start;
  return {{"@class", "MapSchedule"},
          {"scheduleType", "ITERATION"},
          {"values", std::move(values)}};
}

// A learning rate that changes, of the policy of its configuration.
Json schedule(const Json& layer, const Json& conf, double rate) {
  const Json& map = member(layer, "learningRateSchedule");
  if (map.is_object() && !map.empty()) return map_of(map, rate);
  const Json& policy = member(conf, "learningRatePolicy");
  if (!policy.is_string() || policy == "None") return {};
  const double decay = number_in(conf, "lrPolicyDecayRate", 0);
  const double power = number_in(conf, "lrPolicyPower", 1);
  const double steps = number_in(conf, "lrPolicySteps", 1);
  Json made{{"scheduleType", "ITERATION"}, {"initialValue", rate}};
  if (policy == "Exponential") {
    made["@class"] = "ExponentialSchedule";
    made["gamma"] = decay;
  } else if (policy == "Inverse") {
    made["@class"] = "InverseSchedule";
    made["gamma"] = decay;
    made["power"] = power;
  } else if (policy == "Step") {
    made["@class"] = "StepSchedule";
    made["decayRate"] = decay;
    made["step"] = steps;
  } else if (policy == "Poly") {
    made["@class"] = "PolySchedule";
    made["power"] = power;
    made["maxIter"] = number_in(conf, "numIterations", 1);
  } else if (policy == "Sigmoid") {
    made["@class"] = "SigmoidSchedule";
    made["gamma"] = decay;
    made["stepSize"] = steps;
  } else {  // "TorchStep", "Score": of no other name
    made["@class"] = policy;
  }
  return made;
}

// In place of its rate, which says where that starts.
void put_schedules(Json& updater, const Json& layer, const Json& conf,
                   double rate) {
  if (const Json changing = schedule(layer, conf, rate); !changing.is_null())
    updater["learningRateSchedule"] = changing;
  const Json own = updater;
  for (const Json* from : {&layer, &own}) {
    const Json& momenta = member(*from, "momentumSchedule");
    if (momenta.is_object() && !momenta.empty() && !momenta.contains("@class"))
      updater["momentumISchedule"] =
          map_of(momenta, number_in(updater, "momentum", 0.9));
  }
}

void put(Json& updater, const char* key, const Json& layer, const char* from) {
  const double value = number_in(layer, from, NAN);
  if (std::isfinite(value)) updater[key] = value;
}

Json updater(const Json& layer, const Json& conf, double rate) {
  const Json& name = member(layer, "updater");
  if (!name.is_string()) return {};
  Json made = named(name);
  if (name == "CUSTOM") return {};
  if (name == "NONE") return named("NoOp");
  made["learningRate"] = rate;
  put(made, "momentum", layer, "momentum");
  put_schedules(made, layer, conf, rate);
  put(made, "rho", layer, "rho");
  put(made, "rmsDecay", layer, "rmsDecay");
  put(made, "beta1", layer, "adamMeanDecay");
  put(made, "beta2", layer, "adamVarDecay");
  put(made, "epsilon", layer, "epsilon");
  if (number_in(made, "epsilon", 1) <= 0) made.erase("epsilon");
  return made;
}

// An updater object beside the rates of its layer, which count.
Json with_rate(Json updater, const Json& layer, const Json& conf, double rate) {
  if (!updater.is_object()) return updater;
  updater["learningRate"] = rate;
  put_schedules(updater, layer, conf, rate);
  return updater;
}

// Their l2 came after the updater, and was not multiplied by the learning rate.
Json regularization(const Json& layer, const char* l1, const char* l2) {
  Json list = Json::array();
  if (const double cost = number_in(layer, l1, 0); cost > 0)
    list.push_back({{"@class", "L1Regularization"}, {"l1", cost}});
  if (const double cost = number_in(layer, l2, 0); cost > 0)
    list.push_back(
        {{"@class", "WeightDecay"}, {"coeff", cost}, {"applyLR", false}});
  return list;
}

Json weight_init(const Json& layer) {
  const Json& name = member(layer, "weightInit");
  if (!name.is_string()) return {};
  Json made = named(name);
  if (!lacks(layer, "dist")) made["distribution"] = unwrapped(layer["dist"]);
  return made;
}

void drop(Json& layer, const Json& conf) {
  const double retain = number_in(layer, "dropOut", 0);
  if (!(retain > 0 && retain < 1)) return;
  if (member(conf, "useDropConnect") == Json(true))
    layer["weightNoise"] = {{"@class", "DropConnect"},
                            {"weightRetainProb", retain}};
  else
    layer["idropout"] = {{"@class", "Dropout"}, {"p", retain}};
}

}  // namespace

Json unwrapped(const Json& json) {
  if (!json.is_object() || json.contains("@class") || json.contains("type"))
    return json;
  if (json.size() != 1) return json;
  const auto only = json.begin();
  if (!only.value().is_object() && !only.value().is_null()) return json;
  Json inner = only.value().is_object() ? only.value() : Json::object();
  inner["@class"] = only.key();
  return inner;
}

Json modern_layer(const Json& given, const Json& conf) {
  Json layer = unwrapped(given);
  if (!layer.is_object()) return layer;
  // Layers within others.
  for (const char* key : {"fwd", "bwd", "underlying", "layer", "insideLayer"})
    if (member(layer, key).is_object())
      layer[key] = modern_layer(layer[key], conf);
  for (const char* key :
       {"activationFn", "gateActivationFn", "lossFn", "lossFunction",
        "iupdater", "biasUpdater", "idropout", "weightNoise", "weightInitFn",
        "pzxActivationFn", "outputDistribution"})
    if (!lacks(layer, key)) layer[key] = unwrapped(layer[key]);
  if (lacks(layer, "activationFn") && !lacks(layer, "activationFunction"))
    layer["activationFn"] = named(layer["activationFunction"]);
  if (lacks(layer, "lossFn") && member(layer, "lossFunction").is_string())
    layer["lossFn"] = named(layer["lossFunction"]);
  const double rate = number_in(layer, "learningRate", 0.1);
  const double bias = number_in(layer, "biasLearningRate", rate);
  if (member(layer, "updater").is_object())  // of layers of SameDiff
    layer["iupdater"] = layer["updater"];
  if (lacks(layer, "iupdater")) {
    layer["iupdater"] = updater(layer, conf, rate);
    if (bias != rate) layer["biasUpdater"] = updater(layer, conf, bias);
  } else if (member(layer, "learningRate").is_number()) {  // of 0.9
    if (bias != rate)
      layer["biasUpdater"] = with_rate(layer["iupdater"], layer, conf, bias);
    layer["iupdater"] = with_rate(layer["iupdater"], layer, conf, rate);
  }
  if (lacks(layer, "regularization") &&
      member(conf, "useRegularization") != Json(false)) {
    layer["regularization"] = regularization(layer, "l1", "l2");
    layer["regularizationBias"] =
        regularization(layer, layer.contains("l1Bias") ? "l1Bias" : "biasL1",
                       layer.contains("l2Bias") ? "l2Bias" : "biasL2");
  }
  if (lacks(layer, "weightInitFn")) layer["weightInitFn"] = weight_init(layer);
  if (lacks(layer, "idropout")) drop(layer, conf);
  return layer;
}

}  // namespace dl::convert::dl4j
