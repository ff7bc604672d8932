// Layers of several inputs; and what Keras has no layer for.

#include <map>

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

template <const char* const& type>
void join(KerasLayer& l) {
  l.last(type, Json::object());
}
constexpr const char* kAdd = "Add";
constexpr const char* kSubtract = "Subtract";
constexpr const char* kMultiply = "Multiply";
constexpr const char* kAverage = "Average";
constexpr const char* kMaximum = "Maximum";
constexpr const char* kMinimum = "Minimum";

void merge(KerasLayer& l) {
  const std::int64_t axis = l.settings.integer("axis");
  const bool first = axis == 0 || axis == -l.input().shape.rank();
  if (first && l.masked())
    l.refuse("its inputs have padding, which Keras would leave out behind it");
  l.last("Concatenate", {{"axis", axis < 0 ? axis : axis + 1}});
}

void dot(KerasLayer& l) {
  if (l.input().shape.rank() != 1)
    l.refuse("Keras multiplies all steps with all; vectors it can say");
  l.last("Dot", {{"axes", -1}});
}

const std::map<std::string_view, std::string_view>& reasons() {
  static const std::map<std::string_view, std::string_view> all{
      {"pnorm_pool2d", "Keras has no pool of powers"},
      {"local_response_norm",
       "Keras has no layer that normalizes over neighboring channels"},
      {"positional_embedding",
       "Keras has no layer that adds a table to a sequence"},
      {"stack", "Keras joins nothing along the mini-batch"},
      {"unstack", "Keras cuts nothing out of the mini-batch"},
      {"repeat_like", "Keras has no layer that takes the steps of another"},
      {"l2_distance", "Keras has no layer of distances"},
      {"reverse", "Keras has no layer that turns a sequence round"},
      {"gaussian_latent", "Keras has no layer that draws a code"}};
  return all;
}

}  // namespace

std::span<const KerasRule> keras_combine() {
  static constexpr KerasRule kRules[] = {{"add", join<kAdd>, true},
                                         {"subtract", join<kSubtract>, true},
                                         {"multiply", join<kMultiply>, true},
                                         {"average", join<kAverage>, true},
                                         {"max", join<kMaximum>, true},
                                         {"min", join<kMinimum>, true},
                                         {"merge", merge, true},
                                         {"dot", dot}};
  return kRules;
}

const KerasRule* keras_rule(std::string_view type) {
  for (const auto family : {keras_dense(), keras_convolution(),
                            keras_recurrent(), keras_shapes(), keras_combine()})
    for (const KerasRule& rule : family)
      if (rule.type == type) return &rule;
  return nullptr;
}

std::string why_not_in_keras(std::string_view type) {
  const auto found = reasons().find(type);
  return found == reasons().end() ? "Keras has no such layer"
                                  : std::string(found->second);
}

}  // namespace dl::convert
