// Images that grow or shrink.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "libcore/base/display.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

// How an axis changes, in single precision as runtimes compute it, and as it is
// meant.
struct Scale {
  std::int64_t from, to;
  float factor;
  double exact;
};

// Scales of all axes behind the channels.
std::vector<Scale> scales_of(Site& site, const Flow& flow) {
  const std::size_t rank = flow.axes.size();
  const bool old = site.node().op == "Upsample" || site.node().opset < 11;
  const std::size_t at = old ? 1 : 2;
  const Sizes shape = site.shape(flow);
  std::vector<Scale> scales;
  std::vector<double> given = site.node().numbers("scales");
  if (site.node().has("height_scale"))  // of opset 1
    given = {1, 1, site.node().number("height_scale", 1),
             site.node().number("width_scale", 1)};
  if (site.has(at)) {
    const Constant& known = site.known(at, "scales");
    for (std::int64_t i = 0; i < known.elements(); ++i)
      given.push_back(known.at(static_cast<std::size_t>(i)));
  }
  for (std::size_t k = 0; k < std::min(given.size(), rank); ++k) {
    const auto factor = static_cast<float>(given[k]);
    const double to = std::floor(static_cast<double>(shape[k]) * given[k]);
    if (!(to >= 1 && to <= 1e9))
      site.refuse("its scale is " + displayed(std::to_string(given[k])));
    scales.push_back({shape[k], static_cast<std::int64_t>(to), factor, factor});
  }
  if (given.empty() && !old) {
    const Sizes sizes = site.list(3, "sizes").value_or(Sizes{});
    for (std::size_t k = 0; k < std::min(sizes.size(), rank); ++k) {
      // A writer that knew a number of examples says it.
      const std::int64_t to = k == 0 && sizes[0] == 1 ? shape[0] : sizes[k];
      if (to < 1) site.refuse("its size is " + std::to_string(to));
      scales.push_back(
          {shape[k], to, static_cast<float>(to) / static_cast<float>(shape[k]),
           static_cast<double>(to) / static_cast<double>(shape[k])});
    }
  }
  if (site.node().text("keep_aspect_ratio_policy", "stretch") != "stretch")
    site.refuse(
        "it keeps the ratio of its sides; the policy stretch would be needed");
  if (scales.size() != rank || site.node().has("axes"))
    site.refuse("its scales are not one for each axis");
  if (scales[0].to != scales[0].from || scales[1].to != scales[1].from)
    site.refuse("it repeats examples or channels");
  return {scales.begin() + 2, scales.end()};
}

// Where a place of the result lies in the input.
struct Place {
  float (*rounded)(const Scale& scale, std::int64_t at);
  double (*exact)(const Scale& scale, std::int64_t at);
};

template <typename Real>
Real factor_of(const Scale& s) {
  return std::is_same_v<Real, float> ? static_cast<Real>(s.factor)
                                     : static_cast<Real>(s.exact);
}
template <typename Real>
Real half_pixel(const Scale& s, std::int64_t at) {
  constexpr Real kHalf = 0.5;
  return (static_cast<Real>(at) + kHalf) / factor_of<Real>(s) - kHalf;
}
template <typename Real>
Real pytorch_half_pixel(const Scale& s, std::int64_t at) {
  return s.to > 1 ? half_pixel<Real>(s, at) : 0;
}
template <typename Real>
Real asymmetric(const Scale& s, std::int64_t at) {
  return static_cast<Real>(at) / factor_of<Real>(s);
}
template <typename Real>
Real align_corners(const Scale& s, std::int64_t at) {
  return s.to > 1 ? static_cast<Real>(at) * static_cast<Real>(s.from - 1) /
                        static_cast<Real>(s.to - 1)
                  : 0;
}
Place place_of(const Site& site, const std::string& kind) {
  if (kind == "half_pixel") return {half_pixel<float>, half_pixel<double>};
  if (kind == "pytorch_half_pixel")
    return {pytorch_half_pixel<float>, pytorch_half_pixel<double>};
  if (kind == "asymmetric") return {asymmetric<float>, asymmetric<double>};
  if (kind == "align_corners")
    return {align_corners<float>, align_corners<double>};
  site.refuse("it finds places by " + in_quotes(kind) +
              "; half_pixel, pytorch_half_pixel, asymmetric or align_corners "
              "would be needed");
}

template <typename Real>
std::int64_t nearest_to(const Site& site, Real x, std::int64_t extent,
                        const std::string& rounding) {
  constexpr Real kHalf = 0.5;
  Real own = std::floor(x);
  if (rounding == "ceil")
    own = std::ceil(x);
  else if (rounding == "round_prefer_floor")
    own = std::ceil(x - kHalf);
  else if (rounding == "round_prefer_ceil")
    own = std::floor(x + kHalf);
  else if (rounding != "floor")
    site.refuse("its nearest_mode is " + in_quotes(rounding));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(own), 0,
                                  extent - 1);
}

Sizes nearest(const Site& site, const Scale& scale, const Place& place,
              const std::string& rounding) {
  Sizes places;
  for (std::int64_t at = 0; at < scale.to; ++at) {
    places.push_back(
        nearest_to(site, place.rounded(scale, at), scale.from, rounding));
    if (nearest_to(site, place.exact(scale, at), scale.from, rounding) !=
        places.back())
      site.refuse(
          "runtimes differ in how they round one of its places, which lies "
          "between two; another size or nearest_mode would be needed");
  }
  return places;
}

// Weights of the places from floor(x) - 1 on: two next to x, or four.
std::vector<float> weights_of(float x, bool cubic, float a) {
  const float t = x - std::floor(x);
  if (!cubic) return {0, 1 - t, t, 0};
  const auto near = [a](float d) {
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  };
  const auto far = [a](float d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Constant between(const Scale& scale, const Place& place, bool cubic, float a) {
  const auto to = static_cast<std::size_t>(scale.to),
             from = static_cast<std::size_t>(scale.from);
  std::vector<float> matrix(to * from, 0);
  for (std::size_t at = 0; at < to; ++at) {
    float x = place.rounded(scale, static_cast<std::int64_t>(at));
    if (!cubic) x = std::clamp(x, 0.0F, static_cast<float>(from - 1));
    const auto weights = weights_of(x, cubic, a);
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t own = static_cast<std::int64_t>(std::floor(x)) - 1 + i;
      const auto kept = static_cast<std::size_t>(
          std::clamp<std::int64_t>(own, 0, scale.from - 1));
      matrix[at * from + kept] += weights[static_cast<std::size_t>(i)];
    }
  }
  return Constant::of_reals({scale.to, scale.from}, std::move(matrix));
}

// Whole factors are a layer; none: they are not, or mean another thing.
std::optional<Json> upsampling(const std::vector<Scale>& scales,
                               const std::string& mode,
                               const std::string& places,
                               const std::string& rounding) {
  Sizes factors;
  for (const Scale& s : scales) {
    const std::int64_t whole = s.to / s.from;
    if (s.to % s.from != 0 || s.factor != static_cast<float>(whole) ||
        s.to > 65535)
      return std::nullopt;
    factors.push_back(whole);
  }
  const bool half = places == "half_pixel" || places == "pytorch_half_pixel";
  // For whole factors these are all the same: halves are never rounded.
  const bool repeats =
      mode == "nearest" && ((places == "asymmetric" && rounding == "floor") ||
                            (half && rounding.starts_with("round_prefer_")));
  if (factors.size() == 1 && repeats)
    return Json{{"type", "upsample1d"}, {"size", factors[0]}};
  if (factors.size() != 2 || !(repeats || (mode == "linear" && half)))
    return std::nullopt;
  return Json{{"type", "upsample2d"},
              {"size", factors},
              {"interpolation", repeats ? "nearest" : "bilinear"}};
}

void resize(Site& site) {
  const Node& node = site.node();
  const Flow& given = site.flow(0);
  if (given.axes.size() < 3 || given.axes.size() > 5)
    site.refuse("its input is no series, image or volume");
  const bool old = node.op == "Upsample" || node.opset < 11;
  const std::string mode = node.text("mode", "nearest");
  const std::string places = node.text("coordinate_transformation_mode",
                                       old ? "asymmetric" : "half_pixel");
  const std::string rounding =
      old ? "floor" : node.text("nearest_mode", "round_prefer_floor");
  const std::vector<Scale> scales = scales_of(site, given);
  Flow flow = site.image(given, scales.size());
  flow.linear = nullptr;
  if (const auto layer = upsampling(scales, mode, places, rounding)) {
    static_cast<Value&>(flow) = site.add("", *layer, {flow});
    return site.give(std::move(flow));
  }
  const bool cubic = mode == "cubic";
  if (mode != "nearest" && mode != "linear" && !cubic)
    site.refuse("it resizes with mode " + in_quotes(mode));
  if (node.integer("antialias", 0) != 0 ||
      node.integer("exclude_outside", 0) != 0)
    site.refuse(
        "it smooths, or weighs places anew at the edge; antialias and "
        "exclude_outside of 0 would be needed");
  const Place place = place_of(site, places);
  // Runtimes differ in which size they mean.
  if (places == "align_corners")
    for (const Scale& s : scales)
      if (std::abs(static_cast<double>(s.from) * s.factor -
                   static_cast<double>(s.to)) > 1e-4)
        site.refuse(
            "it aligns corners by a scale that makes no whole size; sizes "
            "would be needed");
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const Scale& s = scales[k];
    want_small(site, s.to, s.from);
    if (mode == "nearest") {
      flow = site.taken(flow, k + 2, nearest(site, s, place, rounding));
      continue;
    }
    if (s.to == s.from) continue;
    const bool positive = flow.positive && !cubic;
    const auto a = static_cast<float>(node.number("cubic_coeff_a", -0.75));
    flow = site.through(flow, k + 2, between(s, place, cubic, a));
    flow.positive = positive;
  }
  site.give(std::move(flow));
}

// [n, c, h, w], with the pixels of each block as channels: behind its own
// (CRD), or before them.
void space_to_depth(Site& site) {
  const std::string mode = site.node().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    site.refuse("its mode is " + in_quotes(mode));
  if (mode == "CRD") {
    const Flow& given = site.flow(0);
    const Sizes s = site.shape(given);
    const std::int64_t block = site.node().integer("blocksize", 2);
    if (s.size() != 4 || block < 1 || s[2] % block != 0 || s[3] % block != 0)
      site.refuse("its blocks do not divide its input");
    const Flow apart = site.regrouped(
        given, {s[0], s[1], s[2] / block, block, s[3] / block, block});
    Flow made = apart;
    made.axes = {apart.axes[0], apart.axes[1], apart.axes[2], apart.axes[4]};
    for (const std::size_t k : {std::size_t{3}, std::size_t{5}})
      made.axes[1].insert(made.axes[1].end(), apart.axes[k].begin(),
                          apart.axes[k].end());
    return site.give(std::move(made));
  }
  Flow flow = site.image(site.flow(0), 2);
  static_cast<Value&>(flow) =
      site.add("",
               {{"type", "space_to_depth"},
                {"block", site.node().integer("blocksize", 2)}},
               {flow});
  flow.linear = nullptr;
  site.give(std::move(flow));
}

// [n, c, h, w], c of block x block pixels: axes that lie otherwise.
void depth_to_space(Site& site) {
  const Flow& flow = site.flow(0);
  const Sizes s = site.shape(flow);
  const std::int64_t block = site.node().integer("blocksize", 2);
  if (s.size() != 4 || block < 1 || block > 65535 ||
      s[1] % (block * block) != 0)
    site.refuse("its blocks do not divide its channels");
  const std::int64_t rest = s[1] / (block * block);
  const std::string mode = site.node().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    site.refuse("its mode is " + in_quotes(mode));
  const bool columns = mode == "CRD";
  const Flow apart = site.regrouped(
      flow, columns ? Sizes{s[0], rest, block, block, s[2], s[3]}
                    : Sizes{s[0], block, block, rest, s[2], s[3]});
  const std::size_t depth = columns ? 1 : 3, row = columns ? 2 : 1;
  Flow made = apart;
  made.axes = {apart.axes[0], apart.axes[depth], apart.axes[4], apart.axes[5]};
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const Axis& inner = apart.axes[row + k];
    made.axes[2 + k].insert(made.axes[2 + k].end(), inner.begin(), inner.end());
  }
  site.give(std::move(made));
}

}  // namespace

std::vector<Operator> resize_operators() {
  return {{"Resize", resize},
          {"Upsample", resize},
          {"SpaceToDepth", space_to_depth},
          {"DepthToSpace", depth_to_space}};
}

}  // namespace dl::convert::onnx
