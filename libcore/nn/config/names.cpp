// The spellings of enumerators, in the order of their declarations.

#include "libcore/nn/config/config.h"

namespace dl::nn {
namespace {

constexpr std::string_view kWeightInits[] = {"xavier",
                                             "xavier_uniform",
                                             "he",
                                             "lecun",
                                             "normal",
                                             "zero",
                                             "constant",
                                             "he_uniform",
                                             "lecun_uniform",
                                             "truncated_normal",
                                             "uniform",
                                             "log_normal",
                                             "variance_scaling",
                                             "orthogonal",
                                             "identity",
                                             "ones"};
constexpr std::string_view kFanModes[] = {"fan_in", "fan_out", "fan_avg"};
constexpr std::string_view kScaledDistributions[] = {"truncated_normal",
                                                     "normal", "uniform"};
constexpr std::string_view kGradientNormalizations[] = {
    "none",
    "renormalize_l2_per_layer",
    "renormalize_l2_per_parameter",
    "clip_elementwise",
    "clip_l2_per_layer",
    "clip_l2_per_parameter"};
constexpr std::string_view kSchedules[] = {
    "fixed",   "step",   "exponential", "polynomial", "inverse",
    "sigmoid", "cosine", "cycle",       "map"};
constexpr std::string_view kActivations[] = {
    "identity",       "relu",         "leaky_relu",  "elu",
    "gelu",           "sigmoid",      "tanh",        "softplus",
    "softmax",        "relu6",        "capped_relu", "thresholded_relu",
    "selu",           "swish",        "mish",        "softsign",
    "cube",           "hard_sigmoid", "hard_tanh",   "rational_tanh",
    "rectified_tanh", "exp",          "log_softmax"};
constexpr std::string_view kLosses[] = {"negative_log_likelihood",
                                        "binary_cross_entropy",
                                        "mean_squared_error",
                                        "mean_absolute_error",
                                        "l1",
                                        "l2",
                                        "huber",
                                        "log_cosh",
                                        "mean_absolute_percentage_error",
                                        "mean_squared_logarithmic_error",
                                        "kl_divergence",
                                        "poisson",
                                        "hinge",
                                        "squared_hinge",
                                        "categorical_hinge",
                                        "cosine_proximity",
                                        "wasserstein",
                                        "focal",
                                        "binary_focal",
                                        "multi_label",
                                        "gaussian",
                                        "exponential"};
constexpr std::string_view kUpdaters[] = {
    "none",    "sgd",       "nesterov", "momentum", "adam",
    "adagrad", "rmsprop",   "adamw",    "amsgrad",  "adamax",
    "nadam",   "adabelief", "adadelta"};
constexpr std::string_view kEpsilonAts[] = {"root", "square", "corrected"};

}  // namespace

template <>
std::span<const std::string_view> names_of<WeightInit>() {
  return kWeightInits;
}
template <>
std::span<const std::string_view> names_of<FanMode>() {
  return kFanModes;
}
template <>
std::span<const std::string_view> names_of<ScaledDistribution>() {
  return kScaledDistributions;
}
template <>
std::span<const std::string_view> names_of<GradientNormalization>() {
  return kGradientNormalizations;
}
template <>
std::span<const std::string_view> names_of<Schedule::Kind>() {
  return kSchedules;
}
template <>
std::span<const std::string_view> names_of<device::Activation>() {
  return kActivations;
}
template <>
std::span<const std::string_view> names_of<device::Loss>() {
  return kLosses;
}
template <>
std::span<const std::string_view> names_of<device::Updater>() {
  return kUpdaters;
}
template <>
std::span<const std::string_view> names_of<device::EpsilonAt>() {
  return kEpsilonAts;
}

std::string_view name_of(device::Loss loss) { return spell(loss); }
std::string_view name_of(device::Activation activation) {
  return spell(activation);
}

}  // namespace dl::nn
