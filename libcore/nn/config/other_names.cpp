// Suggestions for names that other programs use.

#include "libcore/nn/config/other_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {
namespace {

struct OtherName {
  std::string_view word, ours;  // the word as plain() leaves it
};

// Names of layers are in their types. A word may have several meanings: what is
// known where it stands decides.
constexpr auto kOtherNames = std::to_array<OtherName>({
    // losses
    {"mcxent", "negative_log_likelihood"},
    {"crossentropy", "negative_log_likelihood"},
    {"crossentropyloss", "negative_log_likelihood"},
    {"categoricalcrossentropy", "negative_log_likelihood"},
    {"sparsecategoricalcrossentropy", "negative_log_likelihood"},
    {"sparsemcxent", "negative_log_likelihood"},
    {"softmaxcrossentropy", "negative_log_likelihood"},
    {"nll", "negative_log_likelihood"},
    {"nllloss", "negative_log_likelihood"},
    {"xent", "binary_cross_entropy"},
    {"bce", "binary_cross_entropy"},
    {"bceloss", "binary_cross_entropy"},
    {"binaryxent", "binary_cross_entropy"},
    {"mse", "mean_squared_error"},
    {"mseloss", "mean_squared_error"},
    {"mae", "mean_absolute_error"},
    {"l1loss", "mean_absolute_error"},
    {"squaredloss", "mean_squared_error"},
    {"huberloss", "huber"},
    {"smoothl1", "huber"},
    {"smoothl1loss", "huber"},
    {"logcoshloss", "log_cosh"},
    {"mape", "mean_absolute_percentage_error"},
    {"msle", "mean_squared_logarithmic_error"},
    {"kld", "kl_divergence"},
    {"kldiv", "kl_divergence"},
    {"kldivloss", "kl_divergence"},
    {"kullbackleiblerdivergence", "kl_divergence"},
    {"reconstructioncrossentropy", "kl_divergence"},
    {"poissonnll", "poisson"},
    {"poissonnllloss", "poisson"},
    {"hingeloss", "hinge"},
    {"cosinesimilarity", "cosine_proximity"},
    {"cosineembeddingloss", "cosine_proximity"},
    {"wassersteinloss", "wasserstein"},
    {"focalloss", "focal"},
    {"categoricalfocalcrossentropy", "focal"},
    {"sigmoidfocalloss", "binary_focal"},
    {"binaryfocalcrossentropy", "binary_focal"},
    {"bcewithlogits", "binary_cross_entropy"},
    {"bcewithlogitsloss", "binary_cross_entropy"},
    // updaters
    {"optimizer", "updater"},
    {"optimiser", "updater"},
    {"nesterovs", "nesterov"},
    {"rho", "decay"},
    // schedules
    {"poly", "polynomial"},
    {"invdecay", "inverse"},
    {"inversetimedecay", "inverse"},
    {"cosineannealing", "cosine"},
    {"cosinedecay", "cosine"},
    {"1cycle", "cycle"},
    {"onecycle", "cycle"},
    {"piecewiseconstant", "map"},
    {"gamma", "decay"},
    // activations
    {"linear", "identity"},
    {"logistic", "sigmoid"},
    {"rectify", "relu"},
    {"rectifier", "relu"},
    {"lrelu", "leaky_relu"},
    {"silu", "swish"},
    {"exponential", "exp"},
    {"threshold", "thresholded_relu"},
    {"relumax", "capped_relu"},
    // weights
    {"glorot", "xavier"},
    {"glorotnormal", "xavier"},
    {"xaviernormal", "xavier"},
    {"glorotuniform", "xavier_uniform"},
    {"henormal", "he"},
    {"kaiming", "he"},
    {"kaimingnormal", "he"},
    {"lecunnormal", "lecun"},
    {"zeros", "zero"},
    {"one", "ones"},
    {"kaiminguniform", "he_uniform"},
    {"reluuniform", "he_uniform"},
    {"randomnormal", "normal"},
    {"randomuniform", "uniform"},
    {"truncnormal", "truncated_normal"},
    {"xavierfanin", "lecun"},
    {"eye", "identity"},
    // noise
    {"p", "rate"},
    {"probability", "rate"},
    {"droprate", "rate"},
    {"dropprob", "rate"},
    {"dropoutrate", "rate"},
    {"droppathrate", "rate"},
    {"stddev", "deviation"},
    {"std", "deviation"},
    {"sigma", "deviation"},
});

// Names whose value is 1 - "rate".
constexpr auto kKept = std::to_array<std::string_view>(
    {"keep", "keepprob", "keeprate", "keepprobability", "retain", "survival",
     "survivalprob", "survivalrate", "survivalprobability"});

// Letters and digits alone, in lower case.
std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string called_here(std::string_view word,
                        const std::vector<std::string>& known) {
  const std::string wanted = plain(word);
  if (wanted.empty()) return "";
  for (const std::string& name : known)
    if (plain(name) == wanted) return name;
  const auto is_known = [&](std::string_view name) {
    return std::ranges::find(known, name) != known.end();
  };
  for (const OtherName& other : kOtherNames)
    if (other.word == wanted && is_known(other.ours))
      return std::string(other.ours);
  if (is_share_kept(word) && is_known("rate")) return "rate";
  for (const AugmentType* type : augment_types())
    if (std::ranges::count(type->other_names, wanted) > 0 &&
        is_known(type->name))
      return std::string(type->name);
  for (const LayerType* type : layer_types())
    if (std::ranges::count(type->other_names, wanted) > 0 &&
        is_known(type->name))
      return std::string(type->name);
  return "";
}

bool is_share_kept(std::string_view word) {
  return std::ranges::count(kKept, plain(word)) > 0;
}

std::string_view key_in_place_of(std::string_view type) {
  const std::string wanted = plain(type);
  const bool noise = wanted == "dropconnect" || wanted == "weightnoise";
  return noise ? "weight_noise" : "";
}

}  // namespace dl::nn
