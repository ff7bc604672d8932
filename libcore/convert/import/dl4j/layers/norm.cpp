// Normalizations, and slopes that are learnt.

#include <algorithm>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers/dense.h"
#include "libcore/convert/import/dl4j/maps.h"
#include "libcore/convert/import/dl4j/window.h"

namespace dl::convert::dl4j {
namespace {

using tensor::Shape;

// The file's variables say how the variance is kept, else its configuration.
bool as_logarithm(const Site& site) {
  const auto& names = site.vertex().variables;
  const auto has = [&](const char* name) {
    return std::ranges::any_of(names, [&](const std::string& one) {
      return one == name || one.ends_with(std::string("_") + name);
    });
  };
  if (has("log10stdev")) return true;
  if (has("var")) return false;
  return site.flag("useLogStd", false);
}

Flow batch_norm(Site& site) {
  const Flow value = site.in_order(site.only());
  const std::int64_t count = Site::shape(value).back();
  const bool locked = site.flag("lockGammaBeta", false);
  Json node{{"type", "batch_norm"},
            {"decay", std::clamp(site.number("decay", 0.9), 0.0, 0.999999)},
            {"epsilon", std::max(site.number("eps", 1e-5), 1e-30)}};
  // Locked parameters take steps of 0.
  if (locked) node["updater"] = {{"type", "sgd"}, {"learning_rate", 0.0}};
  const Flow flow = site.add("", node, {value});
  if (locked) {
    site.fill_with("gamma", static_cast<float>(site.number("gamma", 1)));
    site.fill_with("beta", static_cast<float>(site.number("beta", 0)));
  } else {
    site.fill("gamma", site.take("gamma", count, Kind::kWeight), as_is());
    site.fill("beta", site.take("beta", count, Kind::kWeight), as_is());
  }
  site.fill("running_mean", site.take("mean", count, Kind::kStatistic),
            as_is());
  if (!as_logarithm(site)) {
    site.fill("running_variance", site.take("var", count, Kind::kStatistic),
              as_is());
    return flow;
  }
  site.fill("running_variance",
            site.take("log10stdev", count, Kind::kStatistic),
            [](std::span<const float> from, std::span<float> to) {
              for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<float>(
                    std::pow(10.0, 2.0 * static_cast<double>(from[i])));
            });
  return flow;
}

Flow local_response(Site& site) {
  const double n = site.number("n", 5);
  if (!(n >= 1 && n < 130))
    site.refuse("its n is " + dump_json(member(site.json(), "n")) +
                "; one up to 129 would be needed");
  // As many channels at either side.
  const std::int64_t window = static_cast<std::int64_t>(n) / 2 * 2 + 1;
  return site.add("",
                  {{"type", "local_response_norm"},
                   {"window", window},
                   {"k", site.number("k", 2)},
                   {"alpha", site.number("alpha", 1e-4)},
                   {"beta", site.number("beta", 0.75)}},
                  {window_input(site, 2)});
}

// Slopes are for each number of an example, but for the axes that share them;
// they lie in Fortran's order, their axes with the channels first.
Flow prelu(Site& site) {
  const Flow value = site.in_order(site.only());
  const Shape shape = Site::shape(value);
  const int rank = shape.rank();
  std::vector<std::int64_t> own;  // as theirs, whose channels may be first
  if (!value.last) own.push_back(shape.back());
  for (int k = 0; k + (value.last ? 0 : 1) < rank; ++k) own.push_back(shape[k]);
  const std::size_t channels = value.last ? own.size() - 1 : 0;
  const Json& shared = member(site.json(), "sharedAxes");
  if (shared.is_array())
    for (const Json& axis : shared) {
      const std::int64_t at =
          axis.is_number_integer() ? axis.get<std::int64_t>() - 1 : -1;
      if (at < 0 || at >= rank) site.refuse("its sharedAxes are none");
      own[static_cast<std::size_t>(at)] = 1;
    }
  std::int64_t count = 1;
  bool channel = true;
  for (std::size_t k = 0; k < own.size(); ++k) {
    count *= own[k];
    channel &= own[k] == (k == channels ? shape.back() : 1);
  }
  const Flow flow = site.add(
      "", {{"type", "prelu"}, {"slopes", channel ? "channel" : "element"}},
      {value});
  site.fill("slope", site.take("W", count, Kind::kWeight),
            [own, shape, last = value.last](std::span<const float> from,
                                            std::span<float> to) {
              for (std::size_t i = 0; i < to.size(); ++i) {
                std::size_t rest = i;
                std::vector<std::size_t> at(own.size());
                for (int k = shape.rank(); k-- > 0;) {
                  const auto extent = static_cast<std::size_t>(shape[k]);
                  const auto axis = static_cast<std::size_t>(k);
                  at[last                    ? axis
                     : k + 1 == shape.rank() ? 0
                                             : axis + 1] = rest % extent;
                  rest /= extent;
                }
                std::size_t place = 0, step = 1;
                for (std::size_t k = 0; k < own.size(); ++k) {
                  if (own[k] > 1) place += at[k] * step;
                  step *= static_cast<std::size_t>(own[k]);
                }
                to[i] = from[place];
              }
            });
  return flow;
}

}  // namespace

std::vector<Class> norm_classes() {
  return {{"batchnormalization", batch_norm},
          {"localresponsenormalization", local_response},
          {"prelu", prelu}};
}

}  // namespace dl::convert::dl4j
