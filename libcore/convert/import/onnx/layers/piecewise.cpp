// Functions of a number that are sums of rectified lines, or known ones of a
// line: bounds, shrinking, and activations whose parameter is a scale.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

Flow activated(Site& site, const Flow& given, const std::string& part,
               const Json& activation) {
  Flow flow = site.real(given);
  static_cast<Value&>(flow) = site.add(
      part, {{"type", "activation"}, {"activation", activation}}, {flow});
  flow.linear = nullptr;
  flow.positive = is_positive(activation);
  return flow;
}

Flow of_two(Site& site, const char* type, const std::string& part,
            const Flow& a, const Flow& b) {
  Flow flow = a;
  static_cast<Value&>(flow) = site.add(part, {{"type", type}}, {a, b});
  flow.linear = nullptr;
  flow.positive = false;
  return flow;
}

void absolute(Site& site) { site.give(magnitude(site, site.flow(0))); }

// min(max(x, low), high), bounds being 0 x + bound: sums of rectified lines
// would lose a bound beside a large x.
Flow bounded(Site& site, const Flow& given, double low, double high) {
  constexpr double kOpen = 1e30;
  if (std::isnan(low) || std::isnan(high) || low > high)
    site.refuse("its bounds are none");
  Flow flow = site.real(given);
  const bool positive = flow.positive || low >= 0;
  const bool below = low > -kOpen, above = high < kOpen;
  Flow made = flow;
  if (below && low == 0)
    made = activated(site, made, above ? "below" : "", "relu");
  else if (below)
    made = of_two(site, "max", above ? "below" : "", made,
                  line(site, flow, 0, low));
  if (above) made = of_two(site, "min", "", made, line(site, flow, 0, high));
  made.positive = positive;
  return made;
}

double bound(const Site& site, std::size_t i, const char* key, double open) {
  if (!site.has(i)) return site.node().number(key, open);
  const Constant& known = site.known(i, key);
  if (known.elements() != 1) site.refuse("its bounds are several");
  return known.at(0);
}

void clip(Site& site) {
  const auto usual = activation_of(site.import(), site.node());
  if (usual) return site.give(activated(site, site.flow(0), "", *usual));
  site.give(bounded(site, site.flow(0), bound(site, 1, "min", -INFINITY),
                    bound(site, 2, "max", INFINITY)));
}

// A line between 0 and 1.
void hard_sigmoid(Site& site) {
  const Node& node = site.node();
  if (const auto usual = activation_of(site.import(), node))
    return site.give(activated(site, site.flow(0), "", *usual));
  site.give(bounded(site,
                    line(site, site.flow(0), node.number("alpha", 0.2),
                         node.number("beta", 0.5)),
                    0, 1));
}

// The part of x beyond threshold on either side, moved to 0 by `bias`: all or
// none of the way.
void shrink(Site& site) {
  const double threshold = site.node().number("lambd", 0.5),
               bias = site.node().has("soft") ? threshold
                                              : site.node().number("bias", 0);
  if (threshold < 0 || (bias != 0 && bias != threshold) ||
      site.node().number("low", -threshold) != -threshold)
    site.refuse("its bias is neither 0 nor its lambd");
  const Flow flow = site.real(site.flow(0));
  const auto side = [&](double factor, const std::string& part) {
    return bias == 0
               ? activated(site, line(site, flow, factor, 0), part,
                           {{"type", "thresholded_relu"}, {"theta", threshold}})
               : activated(site, line(site, flow, factor, -threshold), part,
                           "relu");
  };
  const Flow over = side(1, "over");
  site.give(of_two(site, "subtract", "", over, side(-1, "under")));
}

// x where it is above a threshold, else a number.
void threshold(Site& site) {
  const double least = site.node().number("threshold", 0),
               value = site.node().number("value", 0);
  if (least - value < 0)
    site.refuse(
        "its value is above its threshold; one up to it would be "
        "needed");
  const Json cut{{"type", "thresholded_relu"}, {"theta", least - value}};
  const Flow flow =
      activated(site, line(site, site.flow(0), 1, -value), "", cut);
  Flow made = line(site, flow, 1, value);
  made.positive = value >= 0 && least >= 0;
  site.give(std::move(made));
}

// f(x factor) / factor
Flow scaled(Site& site, double factor, const Json& activation) {
  if (factor == 0 || !std::isfinite(factor))
    site.refuse("its scale is 0 or not finite");
  const Flow within = line(site, site.flow(0), factor, 0);
  return line(site, activated(site, within, "scaled", activation), 1 / factor,
              0);
}

void celu(Site& site) {
  const double alpha = site.node().number("alpha", 1);
  if (alpha == 1) return site.give(activated(site, site.flow(0), "", "elu"));
  site.give(scaled(site, 1 / alpha, "elu"));
}

// Where it is nearly a line, PyTorch takes the line.
void scaled_softplus(Site& site) {
  if (site.node().number("threshold", 20) < 10)
    site.refuse("it is a line from a threshold below 10 on");
  Flow made = scaled(site, site.node().number("beta", 1), "softplus");
  made.positive = site.node().number("beta", 1) > 0;
  site.give(std::move(made));
}

void log_sigmoid(Site& site) { site.give(scaled(site, -1, "softplus")); }

}  // namespace

Flow magnitude(Site& site, const Flow& given) {
  Flow flow = site.real(given);
  if (flow.positive) return flow;
  Flow made = of_two(site, "max", "", flow, line(site, flow, -1, 0));
  made.positive = true;
  return made;
}

std::optional<Flow> bounded_by(Site& site, bool largest) {
  if (site.node().in.size() != 2) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const Constant* given = site.constant(i);
        given != nullptr && given->elements() > 0 && given->uniform()) {
      const double bound = *given->uniform();
      const Flow& flow = site.flow(1 - i);
      if (given->shape().size() > flow.axes.size()) return std::nullopt;
      if (largest && bound == 0) return activated(site, flow, "", "relu");
      return largest ? bounded(site, flow, bound, INFINITY)
                     : bounded(site, flow, -INFINITY, bound);
    }
  return std::nullopt;
}

std::vector<Operator> piecewise_operators() {
  return {{"Abs", absolute},
          {"Clip", clip},
          {"HardSigmoid", hard_sigmoid},
          {"Shrink", shrink},
          {"Threshold", threshold},
          {"Celu", celu},
          {"ScaledSoftplus", scaled_softplus},
          {"LogSigmoid", log_sigmoid}};
}

}  // namespace dl::convert::onnx
