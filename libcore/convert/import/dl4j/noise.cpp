// Noise and dropout of the input of a layer in training.

#include <algorithm>
#include <set>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

// Layers that have what is set for all, and do nothing of it; those within
// others have it themselves.
bool heeds_noise(Site& site) {
  static const std::set<std::string_view> none{"convolution1d",
                                               "convolution3d",
                                               "subsampling",
                                               "pooling2d",
                                               "subsampling1d",
                                               "pooling1d",
                                               "globalpooling",
                                               "zeropadding",
                                               "zeropadding1d",
                                               "zeropadding3d",
                                               "cropping1d",
                                               "cropping2d",
                                               "cropping3d",
                                               "upsampling1d",
                                               "batchnormalization",
                                               "localresponsenormalization",
                                               "activation",
                                               "autoencoder",
                                               "variationalautoencoder",
                                               "gravesbidirectionallstm",
                                               "selfattention",
                                               "loss",
                                               "rnnloss",
                                               "cnnloss",
                                               "cnn3dloss",
                                               "yolo2output"};
  static const std::set<std::string_view> others{
      "bidirectional", "lasttimestep",
      "laststep",      "maskzero",
      "mask",          "timedistributed",
      "frozen",        "frozenlayerwithbackprop"};
  const std::string name = class_of(site.json(), "layer");
  if (none.count(name) > 0)
    site.note("the noise on its input is left out, which DL4J does not make");
  return none.count(name) == 0 && others.count(name) == 0;
}

}  // namespace

// Their numbers say what is kept.
Flow disturbed(Site& site, const Flow& value) {
  const Json& given = member(site.json(), "idropout");
  if (given.is_null() || site.frozen() || !heeds_noise(site)) return value;
  const std::string name = class_of(given);
  if (value.form.tokens) {
    site.note("the dropout of its input, numbers of rows, is left out");
    return value;
  }
  Json node;
  const double retain = number_in(given, "p", 0);
  if (name == "dropout" || name == "spatialdropout" || name == "alphadropout") {
    if (member(given, "pSchedule").is_object())
      site.note("the schedule of its dropout is left out");
    if (!(retain > 0 && retain < 1)) return value;
    node = {{"type", name == "dropout"          ? "dropout"
                     : name == "spatialdropout" ? "spatial_dropout"
                                                : "alpha_dropout"},
            {"rate", 1 - retain}};
  } else if (name == "gaussiandropout") {
    const double rate = number_in(given, "rate", 0);
    if (!(rate > 0 && rate < 1)) return value;
    node = {{"type", "gaussian_dropout"}, {"rate", rate}};
  } else if (name == "gaussiannoise") {
    node = {{"type", "gaussian_noise"},
            {"deviation", std::max(number_in(given, "stddev", 0), 0.0)}};
  } else {
    site.note("the noise " + in_quotes(shown_class(given)) +
              " on its input is left out");
    return value;
  }
  return site.add("dropout", node, {value});
}

}  // namespace dl::convert::dl4j
