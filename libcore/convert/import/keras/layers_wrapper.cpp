// Layers that hold another one.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

// Does to each row of a matrix what it does to a vector.
bool takes_rows(const std::string& class_name) {
  constexpr std::string_view kClasses[] = {
      "Activation", "BatchNormalization", "Dense", "Dropout",
      "ELU",        "LayerNormalization", "ReLU",  "LeakyReLU",
      "Softmax"};
  return std::ranges::count(kClasses, class_name) > 0;
}

// A recurrent layer reads its steps itself, and masks are for whole sequences.
Flow time_distributed(Site& site) {
  LayerSpec inner = layer_spec(site.view({"layer"}));
  const Make make = find_class(inner.class_name);
  Site each = site.as(inner);
  if (make == nullptr) {
    const std::string why = why_not(inner.class_name);
    each.refuse(why.empty() ? "it is no class of Keras that is known" : why);
  }
  if (site.each_step() || each.layer().class_name == "Bidirectional")
    site.refuse(
        "it is nested in another; one dimension of time would be "
        "needed");
  // Time comes first in Keras, and so does it here.
  each.set_only(site.as_keras(site.only()));
  if (each.only().shape().rank() < 2)
    site.refuse("its input is " + each.only().shape().to_string() +
                ", no sequence");
  const bool sequence =
      each.only().form.steps || site.import().graph->is_input(each.only().node);
  if (!sequence && !takes_rows(each.layer().class_name))
    site.refuse(
        "what it reads is no sequence here; a layer that takes all "
        "steps at once would be needed");
  // Which a row shares, but not all rows.
  if (!sequence && each.has({"noise_shape"})) {
    each.note("its noise_shape is left out: each number is dropped by itself");
    inner.config.erase("noise_shape");
  }
  each.set_each_step(sequence);
  each.set_all_steps(!sequence);
  each.set_below("layer");
  const Flow flow = make(each);
  each.check_all_read();
  return each.as_keras(flow, "step_order");
}

}  // namespace

std::vector<Class> wrapper_classes() {
  return {{"TimeDistributed", time_distributed}};
}

}  // namespace dl::convert::keras
