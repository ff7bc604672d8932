// The operators by which Keras 3 makes masks behind a Masking or Embedding:
// Any(NotEqual(x, value)) or NotEqual(x, 0), of what goes into these, and joins
// of such, which layers here make themselves.

#include <algorithm>
#include <map>
#include <set>

#include "libcore/convert/import/keras/spec.h"

namespace dl::convert::keras {
namespace {

bool same(const Ref& a, const Ref& b) {
  return a.layer == b.layer && a.call == b.call && a.output == b.output;
}

// The number that is padding in what goes into the layer; none of others.
std::optional<double> padding_of(const LayerSpec& layer) {
  const auto number = [&](const char* key) {
    const auto found = layer.config.find(key);
    return found != layer.config.end() && found->is_number()
               ? found->get<double>()
               : 0.0;
  };
  if (layer.class_name == "Masking") return number("mask_value");
  if (layer.class_name == "Embedding" && layer.config.is_object() &&
      layer.config.value("mask_zero", Json()) == Json(true))
    return 0;
  return std::nullopt;
}

// Whether a layer of the model has a mask of that value where it is not
// `number`.
bool masks(const ModelSpec& model, const Ref& value, double number) {
  return std::ranges::any_of(model.layers, [&](const LayerSpec& layer) {
    return padding_of(layer) == number &&
           std::ranges::any_of(layer.calls, [&](const CallSpec& call) {
             return call.from.size() == 1 && same(call.from[0], value);
           });
  });
}

// Whether Keras joins the masks of several inputs with this class.
bool joins(const std::string& class_name) {
  constexpr std::string_view kAll[] = {"Any",        "LogicalAnd",  "LogicalOr",
                                       "ExpandDims", "Concatenate", "Squeeze"};
  return std::ranges::find(kAll, class_name) != std::end(kAll);
}

// Whether a layer stands for the mask of an input without one, or makes another
// as wide.
bool is_like(const LayerSpec& layer) {
  return (layer.class_name == "OnesLike" || layer.class_name == "ZerosLike") &&
         layer.config.value("dtype", Json()) == Json("bool");
}

std::set<std::string> computed(const ModelSpec& model) {
  std::set<std::string> names;
  for (const LayerSpec& layer : model.layers)
    if (layer.class_name == "NotEqual" && !layer.calls.empty() &&
        std::ranges::all_of(layer.calls, [&](const CallSpec& call) {
          return call.from.size() == 1 && call.number &&
                 masks(model, call.from[0], *call.number);
        }))
      names.insert(layer.name);
  if (names.empty()) return names;
  for (const LayerSpec& layer : model.layers)
    if (is_like(layer)) names.insert(layer.name);
  // Repeats for names found in the last round: each round finds one more at the
  // least.
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for (const LayerSpec& layer : model.layers)
      if (joins(layer.class_name) && !layer.calls.empty() &&
          std::ranges::all_of(layer.calls, [&](const CallSpec& call) {
            return std::ranges::all_of(call.from, [&](const Ref& ref) {
              return names.count(ref.layer) > 0;
            });
          }))
        names.insert(layer.name);
  }
  return names;
}

}  // namespace

void drop_computed_masks(ModelSpec& model) {
  const std::set<std::string> names = computed(model);
  for (LayerSpec& layer : model.layers)
    for (CallSpec& call : layer.calls)
      if (!std::ranges::all_of(call.masks, [&](const Ref& ref) {
            return names.count(ref.layer) > 0;
          }))
        call.problem = "it is called with the argument 'mask'";
  std::erase_if(model.layers, [&](const LayerSpec& layer) {
    return names.count(layer.name) > 0;
  });
}

}  // namespace dl::convert::keras
