// Loss functions of DL4J.  Sums and means are the same here.

#include <array>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 27>
    kSameLosses{
        {{"mcxent", "negative_log_likelihood"},
         {"sparsemcxent", "negative_log_likelihood"},
         {"negativeloglikelihood", "negative_log_likelihood"},
         {"binaryxent", "binary_cross_entropy"},
         {"xent", "binary_cross_entropy"},
         {"mse", "mean_squared_error"},
         {"squaredloss", "l2"},
         {"mae", "mean_absolute_error"},
         {"meanabsoluteerror", "mean_absolute_error"},
         {"l1", "l1"},
         {"l2", "l2"},
         {"mape", "mean_absolute_percentage_error"},
         {"meanabsolutepercentageerror", "mean_absolute_percentage_error"},
         {"msle", "mean_squared_logarithmic_error"},
         {"meansquaredlogarithmicerror", "mean_squared_logarithmic_error"},
         {"kld", "kl_divergence"},
         {"kldivergence", "kl_divergence"},
         {"reconstructioncrossentropy", "kl_divergence"},
         {"poisson", "poisson"},
         {"expll", "poisson"},
         {"hinge", "hinge"},
         {"squaredhinge", "squared_hinge"},
         {"cosineproximity", "cosine_proximity"},
         {"wasserstein", "wasserstein"},
         {"multilabel", "multi_label"},
         {"binarycrossentropy", "binary_cross_entropy"},
         {"crossentropy", "negative_log_likelihood"}}};

// Weight of each output: a list, or {"shape", "data"}.
Json weights_of(const Json& loss) {
  const Json& given = member(loss, "weights");
  const Json& list = given.is_object() ? member(given, "data") : given;
  if (!list.is_array() || list.empty()) return {};
  for (const Json& one : list)
    if (!one.is_number()) return {};
  return list;
}

}  // namespace

Aim aim_of(Site& site, const Json& loss, const Json& activation) {
  Aim aim;
  std::string type;
  for (const auto& [theirs, ours] : kSameLosses)
    if (class_behind("loss", loss) == theirs) type = ours;
  const std::string shown = in_quotes(shown_class(loss));
  if (type.empty()) {
    site.note("its loss " + shown +
              " is none that networks here have, and is left out");
    return aim;
  }
  const bool softmax = activation == Json("softmax");
  const bool sigmoid = activation == Json("sigmoid");
  if ((type == "negative_log_likelihood" && !softmax) ||
      (type == "binary_cross_entropy" && !sigmoid)) {
    site.note("its loss " + shown + " goes with " +
              (type == "negative_log_likelihood" ? "softmax" : "sigmoid") +
              " alone here, and is left out: give it another before it is "
              "trained");
    return aim;
  }
  aim.loss = type;
  if (const Json weights = weights_of(loss); !weights.is_null())
    aim.keys["class_weights"] = weights;
  return aim;
}

}  // namespace dl::convert::dl4j
