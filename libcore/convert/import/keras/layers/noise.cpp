// Layers of noise, which work in training alone.

#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

// One that drops all is of no use; Keras takes it.
double rate_of(const Site& site, Site::Keys keys = {"rate", "p"}) {
  const double rate = site.number(keys, 0.5);
  if (!(rate >= 0 && rate < 1)) site.refuse("its rate is not in [0, 1)");
  return rate;
}

Flow rated(Site& site, const char* type, const Flow& value) {
  return site.add("", {{"type", type}, {"rate", rate_of(site)}}, {value});
}

// The layer that drops together what noise_shape does, which is 1 along the
// axes that share a draw; null: there is none.
const char* dropping(const Site& site, const Flow& value) {
  const Json noise = site.view({"noise_shape"}).raw();
  const tensor::Shape shape = site.shape(value);
  const int rank = shape.rank();
  if (!noise.is_array() || noise.size() != std::size_t(rank) + 1)
    site.refuse("its noise_shape is not one of " + std::to_string(rank + 1) +
                " dimensions");
  bool each = true, channels = true, whole = true;
  for (int k = 0; k < rank; ++k) {
    const int axis = !value.moved ? k : k == 0 ? rank - 1 : k - 1;
    if (shape[axis] == 1) continue;
    const Json& own = noise[std::size_t(k) + 1];
    if (!own.is_null() && own != 1 && own != shape[axis])
      site.refuse("its noise_shape does not fit its input " +
                  shape.to_string());
    const bool shared = own == 1;
    each &= !shared;
    channels &= shared == (axis < rank - 1);
    whole &= shared;
  }
  if (noise[0] == 1) return nullptr;
  return each       ? "dropout"
         : channels ? "spatial_dropout"
         : whole    ? "stochastic_depth"
                    : nullptr;
}

Flow dropout(Site& site) {
  const Flow& value = site.only();
  if (!site.has({"noise_shape"})) return rated(site, "dropout", value);
  const char* type = dropping(site, value);
  if (!type)
    site.note("its noise_shape is left out: each number is dropped by itself");
  return rated(site, type ? type : "dropout", value);
}

Flow spatial_dropout(Site& site) {
  const Flow& value = site.only();
  const auto axes = static_cast<std::size_t>(site.shape(value).rank() - 1);
  const bool first = axes > 1 && site.channels_first(axes);
  return rated(site, "spatial_dropout",
               first ? site.channels_last(value) : site.as_keras(value));
}

Flow alpha_dropout(Site& site) {
  return rated(site, "alpha_dropout", site.only());
}

Flow gaussian_dropout(Site& site) {
  return rated(site, "gaussian_dropout", site.only());
}

Flow gaussian_noise(Site& site) {
  return site.add("",
                  {{"type", "gaussian_noise"},
                   {"deviation", site.number({"stddev", "sigma"}, 1)}},
                  {site.only()});
}

// A class of keras.applications.
Flow stochastic_depth(Site& site) {
  return site.add("",
                  {{"type", "stochastic_depth"},
                   {"rate", rate_of(site, {"drop_path_rate"})}},
                  {site.only()});
}

// l2 there is of the square, here of half of it.
Flow activity_regularization(Site& site) {
  const Flow& value = site.only();
  if (value.form.steps) {
    site.note("the cost of its activity is left out: its input is a sequence");
    return value;
  }
  return site.add("",
                  {{"type", "activity_regularization"},
                   {"l1", site.number({"l1"}, 0)},
                   {"l2", 2 * site.number({"l2"}, 0)}},
                  {value});
}

// A layer that is called with training=False does nothing here.
template <Make make>
Flow in_training(Site& site) {
  return site.still() ? site.only() : make(site);
}

}  // namespace

std::vector<Class> noise_classes() {
  return {{"Dropout", in_training<dropout>},
          {"SpatialDropout1D", in_training<spatial_dropout>},
          {"SpatialDropout2D", in_training<spatial_dropout>},
          {"SpatialDropout3D", in_training<spatial_dropout>},
          {"AlphaDropout", in_training<alpha_dropout>},
          {"GaussianDropout", in_training<gaussian_dropout>},
          {"GaussianNoise", in_training<gaussian_noise>},
          {"StochasticDepth", in_training<stochastic_depth>},
          {"ActivityRegularization", activity_regularization}};
}

}  // namespace dl::convert::keras
